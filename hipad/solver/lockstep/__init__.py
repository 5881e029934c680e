"""Many like problems, solved side by side to the accuracy that a choice between them needs."""
