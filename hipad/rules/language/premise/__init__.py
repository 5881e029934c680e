"""Conditions joined by and, or, not, unless and at least k of."""
