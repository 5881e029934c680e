"""One line: its mark and name, its premise, its outcome and its worth."""
