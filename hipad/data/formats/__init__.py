"""One module per file format; each turns bytes or text into a `Table`, within limits."""
