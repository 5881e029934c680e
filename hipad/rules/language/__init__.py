"""Text to rules and back: the grammar, the words, and help where a text cannot be read."""
