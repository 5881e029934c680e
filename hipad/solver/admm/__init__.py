"""Phase 1: the two-block ADMM, and the ways to hold its features."""
