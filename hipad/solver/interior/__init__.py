"""The primal-dual interior point, and its Newton steps."""
