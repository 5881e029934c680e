"""Units that do not fit: of data that were scaled before they came here, or of a written number.

A StandardScaler before the classifier changes what `Glucose >= 126` means: 126 is then counted in
standard deviations, and no patient meets it. Columns that a scaler made are easy to know: their
mean is zero and their deviation one, or they go from zero to one. A number in a unit that the
column may not have is told too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hipad.designs.base import FloatArray
from hipad.rules import CompiledRule
from hipad.rules.compiling.settling.measures import UNSURE

ROUNDING = 1e-6


def foreign_units(X: Any, rules: tuple[CompiledRule, ...]) -> Iterator[str]:
    """A sentence for each rule in doubtful units, or beyond data that a scaler made."""
    for rule in rules:
        yield from (f"{rule.label}: {told}" for told in rule.remarks if UNSURE in told)
        columns = np.unique(rule.B.indices)
        values = X[:, columns]
        values = np.asarray(values.toarray() if issparse(values) else values, dtype=float)
        if values.size and scaler_of(values) and _out_of_range(rule, columns, values):
            yield (
                f"the rule {str(rule.rule)!r} has a threshold far beyond all patients, and its "
                f"columns look as if {scaler_of(values)} came before the classifier: rules are in "
                "the units of the data that they are given, so leave the scaler out "
                "(standardize=True scales inside)"
            )


def scaler_of(values: FloatArray) -> str:
    """The scaler that makes such columns, or nothing.

    >>> scaler_of(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    'a StandardScaler'
    >>> scaler_of(np.array([[1.0], [5.0]]))
    ''
    """
    low, high = values.min(axis=0), values.max(axis=0)
    if (np.abs(low) < ROUNDING).all() and (np.abs(high - 1.0) < ROUNDING).all():
        return "a MinMaxScaler"
    centred = np.abs(values.mean(axis=0)) < ROUNDING
    one = np.abs(values.std(axis=0) - 1.0) < ROUNDING
    scaled = (centred & (one | (low == high))).all() and one.any()
    return "a StandardScaler" if scaled else ""


def _out_of_range(rule: CompiledRule, columns: np.ndarray, values: FloatArray) -> bool:
    """Whether a threshold is farther from the values seen than these are from each other."""
    B, low, high = rule.B[:, columns].toarray(), values.min(axis=0), values.max(axis=0)
    least = np.where(B > 0, B * low, B * high).sum(axis=1)
    most = np.where(B > 0, B * high, B * low).sum(axis=1)
    beyond = np.maximum(least - rule.d, rule.d - most)
    return bool((beyond > most - least).any())
