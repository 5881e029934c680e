"""Tables of genes: one row per gene turned into one per patient, and symbols for their probes."""
