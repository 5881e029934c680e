"""What rules say of data and of models: counts, conflicts, worst cases, pull, advice."""
