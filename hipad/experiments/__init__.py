"""Experiments: many independent, seeded fits, on one core, on many, or on a cluster."""
