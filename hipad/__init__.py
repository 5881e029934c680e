"""HIPAD Workbench: sparse classification with few labels, many features and expert rules.

The names below are imported when they are first asked for: a process that only reads a table
(`hipad.data.sandbox`) does not wait for the classifier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hipad.data import prepare, read_table
    from hipad.datasets import load_sample, make_ksvm_s
    from hipad.estimator.classifier import HIPADClassifier
    from hipad.estimator.grid_search import HIPADClassifierCV
    from hipad.estimator.model_io import load_model
    from hipad.estimator.settings import RuleSettings, SelectionSettings, SolverSettings
    from hipad.exceptions import DataError, HipadError, RuleError
    from hipad.rules import (
        CompiledRule,
        Rule,
        RuleSet,
        check_rules,
        compile_rules,
        parse_rules,
        suggest_blocks,
    )

__version__ = "0.1.0"

__all__ = [
    "CompiledRule",
    "DataError",
    "HIPADClassifier",
    "HIPADClassifierCV",
    "HipadError",
    "Rule",
    "RuleError",
    "RuleSet",
    "RuleSettings",
    "SelectionSettings",
    "SolverSettings",
    "check_rules",
    "compile_rules",
    "load_model",
    "load_sample",
    "make_ksvm_s",
    "parse_rules",
    "prepare",
    "read_table",
    "suggest_blocks",
]

_HOMES = {
    "CompiledRule": "hipad.rules",
    "DataError": "hipad.exceptions",
    "HIPADClassifier": "hipad.estimator.classifier",
    "HIPADClassifierCV": "hipad.estimator.grid_search",
    "HipadError": "hipad.exceptions",
    "Rule": "hipad.rules",
    "RuleError": "hipad.exceptions",
    "RuleSet": "hipad.rules",
    "RuleSettings": "hipad.estimator.settings",
    "SelectionSettings": "hipad.estimator.settings",
    "SolverSettings": "hipad.estimator.settings",
    "check_rules": "hipad.rules",
    "compile_rules": "hipad.rules",
    "load_model": "hipad.estimator.model_io",
    "load_sample": "hipad.datasets",
    "make_ksvm_s": "hipad.datasets",
    "parse_rules": "hipad.rules",
    "prepare": "hipad.data",
    "read_table": "hipad.data",
    "suggest_blocks": "hipad.rules",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
