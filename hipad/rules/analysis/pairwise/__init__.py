"""Pairs of rules in the box of plausible values: which meet, and which lie in each other."""
