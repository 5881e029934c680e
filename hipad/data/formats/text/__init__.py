"""Text tables: lines, cells, numbers and the columns made of them."""
