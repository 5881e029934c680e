"""Figures of parts of the rows: those of a value of a column, or of one patient.

    by_subgroup(rows, cut_column(X[:, age], 3), ["accuracy", "roc_auc"])

Small parts have wide intervals, and of many parts some look good or bad by chance: each says how
many rows it has.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.exceptions import DataError
from hipad.utils import number

MOST_VALUES: Final = 12  # of a column that is taken as it is: with more, numbers are cut in parts


@dataclass(frozen=True)
class Subgroup:
    """Some rows: what they have in common, how many they are, how many are positive, figures."""

    label: str
    n: int
    n_positive: int
    figures: dict[str, Estimate]


def by_subgroup(
    rows: ScoredRows,
    values: npt.ArrayLike,
    names: Sequence[str] = ("accuracy", "sensitivity", "specificity", "roc_auc"),
    *,
    level: float = 0.95,
) -> tuple[Subgroup, ...]:
    """The metrics of the rows of each value, values in order; groups stay together in each.

    Examples
    --------
    >>> truth, sex = np.array([0, 1, 0, 1], dtype=bool), ["f", "f", "m", "m"]
    >>> rows = ScoredRows(truth, np.array([-1.0, 1.0, 1.0, 1.0]))
    >>> [(one.label, one.figures["accuracy"].value) for one in by_subgroup(rows, sex)]
    [('f', 1.0), ('m', 0.5)]
    """
    own = np.asarray(values)
    if own.shape != rows.positive.shape:
        raise DataError(f"expected a value for each of {len(rows):,} rows, got {own.size:,}")
    usable = [name for name in names if METRICS[name].needs != "risks" or rows.has_risks]
    found = []
    for value in np.unique(own):
        part = rows.take(np.flatnonzero(own == value))
        figures = {name: part.measure(name, level=level) for name in usable}
        found.append(Subgroup(str(value), len(part), int(part.positive.sum()), figures))
    return tuple(found)


def by_patient(rows: ScoredRows) -> tuple[Subgroup, ...]:
    """The share of right answers of each group: whom the model gets wrong on the whole."""
    if rows.groups is None:
        raise DataError("expected rows with groups, got none: every row is a patient of its own")
    labels = rows.groups
    found = []
    for value in np.unique(labels):
        at = np.flatnonzero(labels == value)
        part = ScoredRows(
            rows.positive[at],
            rows.scores[at],
            None if rows.risks is None else rows.risks[at],
            threshold=rows.threshold,
        )
        figures = {"accuracy": part.measure("accuracy")}
        found.append(Subgroup(str(value), len(part), int(part.positive.sum()), figures))
    return tuple(found)


def cut_column(values: npt.ArrayLike, n_parts: int = 3) -> np.ndarray:
    """Name the part of each row: few values as they are, numbers cut in parts of as many rows.

    >>> cut_column(np.arange(100.0), 2)[[0, 99]].tolist()
    ['1: below 50', '2: 50 and more']
    >>> cut_column([1.0, 2.0, np.nan]).tolist()
    ['1', '2', 'no value']
    """
    column = np.asarray(values)
    if column.dtype.kind not in "iufb":
        return column.astype(str)
    numbers = column.astype(float)
    known = np.isfinite(numbers)
    different = np.unique(numbers[known])
    found = np.full(column.size, "no value", dtype=object)
    if different.size <= MOST_VALUES:
        found[known] = [number(value) for value in numbers[known].tolist()]
        return found.astype(str)
    if n_parts < 2:
        raise DataError(f"expected 2 parts or more, got {n_parts}")
    cuts = np.quantile(numbers[known], np.arange(1, n_parts) / n_parts)
    cuts = np.unique([different[np.searchsorted(different, cut)] for cut in cuts])
    told = [number(cut) for cut in cuts.tolist()]
    pairs = enumerate(itertools.pairwise(told), start=2)
    middles = [f"{k}: {low} to below {high}" for k, (low, high) in pairs]
    names = np.array([f"1: below {told[0]}", *middles, f"{len(told) + 1}: {told[-1]} and more"])
    found[known] = names[np.searchsorted(cuts, numbers[known], side="right")]
    return found.astype(str)
