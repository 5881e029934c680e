"""The classifier that people import: from data, rules and settings to a fitted model in a file."""
