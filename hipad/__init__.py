"""HIPAD Workbench: sparse classification with few labels, many features and expert rules.

The names below are imported when they are first asked for: a process that only reads a table
(`hipad.data.process.apart`) does not wait for the classifier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hipad.estimator.classifier import HIPADClassifier
    from hipad.estimator.files.model_file import load_model
    from hipad.estimator.searching.search import HIPADClassifierCV
    from hipad.rules import parse_rules

__version__ = "0.1.0"

__all__ = ["HIPADClassifier", "HIPADClassifierCV", "load_model", "parse_rules"]

_HOMES = {
    "HIPADClassifier": "hipad.estimator.classifier",
    "HIPADClassifierCV": "hipad.estimator.searching.search",
    "load_model": "hipad.estimator.files.model_file",
    "parse_rules": "hipad.rules",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
