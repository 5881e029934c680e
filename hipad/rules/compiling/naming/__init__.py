"""Names of features and blocks, and the columns they stand for."""
