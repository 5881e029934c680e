"""Rules to numbers: names become columns, conditions become rows of B and d."""
