"""HIPAD Workbench: sparse classification with few labels, many features and expert rules.

The names below are imported when they are first asked for: a process that only reads a table
(`hipad.data.apart`) does not wait for the classifier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hipad.classifier import HIPADClassifier
    from hipad.rules import parse_rules
    from hipad.storage import load_model

__version__ = "0.1.0"

__all__ = ["HIPADClassifier", "load_model", "parse_rules"]

_HOMES = {
    "HIPADClassifier": "hipad.classifier",
    "load_model": "hipad.storage",
    "parse_rules": "hipad.rules",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
