"""HIPAD Workbench: sparse classification with few labels, many features and expert rules."""

__version__ = "0.1.0"

from hipad.classifier import HIPADClassifier
from hipad.rules import parse_rules
from hipad.storage import load_model

__all__ = ["HIPADClassifier", "load_model", "parse_rules"]
