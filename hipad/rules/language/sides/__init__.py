"""One side of a condition: names, functions of names, and sums of them."""
