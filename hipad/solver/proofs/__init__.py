"""Proofs: what holds at the optimum, told from a point that need not be it."""
