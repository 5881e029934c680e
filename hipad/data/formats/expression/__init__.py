"""Formats of gene expression: values of genes, with what is known of genes and of samples."""
