"""How commands talk: a bar while they work, and errors as sentences."""
