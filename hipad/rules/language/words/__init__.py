"""A line as words: cut apart, walked over, and the numbers among them."""
