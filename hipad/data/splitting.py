"""Test rows: held back from the same table, or taken from a second one with the same columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hipad.arrays import IntArray
from hipad.data.classes import Classes, check_known, labels_of
from hipad.data.preparation_options import Options, PreparationStep
from hipad.data.preparing import Prepared, labelled_rows, prepare_rows
from hipad.data.table import Matrix, Table, Text
from hipad.errors import DataError
from hipad.wording import count


@dataclass(frozen=True)
class Matched:
    """Rows in the columns of the training data; y is None where the labels are not known."""

    X: Matrix
    y: Text | None
    rows: IntArray
    steps: tuple[PreparationStep, ...] = ()


@dataclass(frozen=True)
class Split:
    """Training rows, prepared by themselves, and test rows brought into the same columns."""

    train: Prepared
    test: Matched


def split(
    table: Table,
    options: Options,
    test_fraction: float = 0.25,
    seed: int = 0,
    *,
    outcome: str = "",
) -> Split:
    """Hold back a fraction of each class for testing, and prepare the other rows as asked.

    Medians, levels and constant columns are learned from the training rows alone. The draw is by
    label, so that it does not depend on which class is positive. `outcome` is as for `prepare`.
    """
    if not 0 < test_fraction < 1:
        raise DataError(f"expected a test fraction between 0 and 1, got {test_fraction}")
    rng = np.random.default_rng(seed)
    rows, labels, classes = labelled_rows(table, options, outcome)
    y = classes.apply(labels)
    for name in (classes.negative, classes.positive):
        members = np.flatnonzero(y == name)
        if len(members) < 2:
            raise DataError(
                f"expected two rows or more of class {name!r}, to train on and to test on, "
                f"got {count(len(members), 'row')}: give a test file instead"
            )
    held_back = np.zeros(len(y), dtype=bool)
    for members in _strata(labels):
        n_test = int(np.clip(round(test_fraction * len(members)), 1, len(members) - 1))
        held_back[rng.choice(members, n_test, replace=False)] = True
    train = prepare_rows(table, options, rows[~held_back], classes=classes)
    return Split(train, _bring(train, table, rows[held_back]))


def _strata(labels: Text) -> list[IntArray]:
    """The rows of each label, and together those whose label comes once."""
    names, codes, times = np.unique(labels, return_inverse=True, return_counts=True)
    strata = [np.flatnonzero(codes == code) for code in range(len(names) - 1, -1, -1)]
    single = np.flatnonzero(times[codes] == 1)
    return [*(rows for rows in strata if len(rows) > 1), *([single] if len(single) > 1 else [])]


def match_test(prepared: Prepared, table: Table) -> Matched:
    """Bring a second table into the columns of the first; columns it has beside them are left."""
    return _bring(prepared, table, np.arange(table.n_rows))


def _bring(train: Prepared, table: Table, rows: IntArray) -> Matched:
    label = train.options.label
    X, left = train.recipe.matrix(table, rows)
    steps = []
    if len(left) < len(rows):
        steps.append(
            PreparationStep("test rows with gaps dropped", len(rows) - len(left), (), "missing")
        )
    if not len(left):
        raise DataError("expected test rows, none is left without gaps: fill the gaps instead")
    if label not in table.names:
        return Matched(X, None, left, tuple(steps))
    negative, positive = train.classes
    classes = {positive, *(train.merged or {negative})}
    labels = labels_of(table, label, sorted(classes))[left]
    check_known(labels, classes, label)
    known = labels != ""
    if not known.all():
        lost = int((~known).sum())
        steps.append(PreparationStep("test rows without a label dropped", lost, (), "label"))
    y = Classes(negative, positive, tuple(train.merged)).apply(labels[known])
    return Matched(X if known.all() else X[known], y, left[known], tuple(steps))
