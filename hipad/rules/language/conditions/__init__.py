"""One condition: its operands, and every way in which people compare them."""
