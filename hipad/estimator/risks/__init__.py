"""Risks: from a decision value to the probability of the positive class."""
