"""Conditions as written, made linear with what the data say."""
