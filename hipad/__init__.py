"""HIPAD Workbench: what an expert knows, turned into a classifier they can check."""

__version__ = "0.1.0"
