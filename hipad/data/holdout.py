"""Test rows: held back from the same table, or taken from a second one with the same columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hipad.data.preprocessing import (
    UNLABELLED,
    MissingValues,
    Options,
    PreparationStep,
    Prepared,
    labelled_rows,
    prepare_rows,
    roles_for,
)
from hipad.data.roles import Classes, check_known, group_column, labels_of, row_groups
from hipad.data.table import Matrix, Table
from hipad.data.written_numbers import Text
from hipad.exceptions import DataError
from hipad.utils import IntArray, count


@dataclass(frozen=True)
class TestRows:
    """Rows in the columns of the training data; y is None where the labels are not known."""

    X: Matrix
    y: Text | None
    rows: IntArray
    steps: tuple[PreparationStep, ...] = ()
    groups: IntArray | None = None  # equal where rows belong together, if a column tells it
    gaps: MissingValues | None = None  # cells of X without a value in the table


@dataclass(frozen=True)
class Split:
    """Training rows, prepared by themselves, and test rows brought into the same columns."""

    train: Prepared
    test: TestRows


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
    Where a column is the group, all rows of a group are held back, or none.
    """
    if not 0 < test_fraction < 1:
        raise DataError(f"expected a test fraction between 0 and 1, got {test_fraction}")
    rng = np.random.default_rng(seed)
    rows, labels, classes = labelled_rows(table, options, outcome)
    y = classes.apply(labels)
    group = group_column(roles_for(table, options))
    everyone = row_groups(table, group) if group else np.arange(table.n_rows)
    groups = everyone[rows]
    for name in (classes.negative, classes.positive):
        members = np.unique(groups[y == name])
        if len(members) < 2:
            what, of = ("group", f" of {group!r}") if group else ("row", "")
            raise DataError(
                f"expected two {what}s{of} or more of class {name!r}, to train on and to test on, "
                f"got {count(len(members), what)}: give a test file instead"
            )
    held_back = np.zeros(len(y), dtype=bool)
    for members in _strata(labels, groups):
        n_test = int(np.clip(round(test_fraction * len(members)), 1, len(members) - 1))
        held_back[np.isin(groups, rng.choice(members, n_test, replace=False))] = True
    if len(np.unique(y[~held_back])) < 2:
        raise DataError(
            f"expected rows of both classes to train on, the groups of {group!r} leave one: "
            "take another seed, or give a test file"
        )
    missing = np.flatnonzero(labels_of(table, options.label) == "")
    missing = missing[~np.isin(everyone[missing], groups[held_back])]
    learnt = np.sort(np.concatenate([rows[~held_back], missing]))
    train = prepare_rows(table, options, learnt, classes=classes)
    return Split(train, _bring(train, table, rows[held_back]))


def _strata(labels: Text, groups: IntArray) -> list[IntArray]:
    """Return the groups of each label, or of each mixture, and together those whose label comes
    once.
    """
    members, of_row = np.unique(groups, return_inverse=True)
    names, codes = np.unique(labels, return_inverse=True)
    has = np.zeros((len(members), len(names)), dtype=bool)
    has[of_row, codes] = True
    _, kinds, times = np.unique(has, axis=0, return_inverse=True, return_counts=True)
    kinds = kinds.ravel()
    strata = [members[kinds == kind] for kind in range(len(times))]
    single = members[times[kinds] == 1]
    return [*(own for own in strata if len(own) > 1), *([single] if len(single) > 1 else [])]


def match_test(prepared: Prepared, table: Table) -> TestRows:
    """Bring a second table into the columns of the first; columns it has beside them are left."""
    return _bring(prepared, table, np.arange(table.n_rows))


def match_unlabelled(prepared: Prepared, table: Table) -> TestRows:
    """Bring a table of rows without labels into the columns of the first.

    A label column that it has all the same is not read.
    """
    X, left, gaps = prepared.recipe.measured(table, np.arange(table.n_rows))
    steps = [PreparationStep(f"{UNLABELLED}, from a second file", len(left), (), "use_unlabelled")]
    if lost := table.n_rows - len(left):
        what = "unlabelled rows with gaps dropped"
        steps.append(PreparationStep(what, lost, (), "missing"))
    label = prepared.options.label
    if label in table.names:
        known = int((labels_of(table, label) != "").sum())
        what = "labels of the unlabelled rows, not read"
        steps += [PreparationStep(what, known, (label,), "use_unlabelled")] if known else []
    if not len(left):
        raise DataError(
            "expected rows without a label, none is left without gaps: fill the gaps instead"
        )
    return TestRows(X, None, left, tuple(steps), gaps=gaps)


def learning_rows(X: Matrix, y: Text, *unlabelled: Matrix | None) -> tuple[Matrix, Text]:
    """Return all rows that a fit takes: those with a label, then those without, whose label is
    None.

    >>> X, y = learning_rows(np.zeros((2, 1)), np.array(["ill", "well"]), np.ones((1, 1)), None)
    >>> X.shape, y.tolist()
    ((3, 1), ['ill', 'well', None])
    """
    others = [part for part in unlabelled if part is not None and part.shape[0]]
    if not others:
        return X, y
    parts = [X, *others]
    if any(map(sp.issparse, parts)):
        rows = sp.vstack([sp.csr_array(part) for part in parts], format="csr")
    else:
        rows = np.vstack(parts)
    labels = np.full(rows.shape[0], None, dtype=object)
    labels[: len(y)] = y
    return rows, labels


def learning_gaps(train: Prepared, more: TestRows | None = None) -> MissingValues:
    """Return the gaps of all rows that a fit takes, in the order of `learning_rows`."""
    parts = [(train.gaps, len(train.y))]
    if train.unlabelled is not None:
        parts.append((train.unlabelled_gaps, train.unlabelled.shape[0]))
    if more is not None:
        parts.append((more.gaps, more.X.shape[0]))
    return MissingValues.stacked(parts)


def learning_groups(train: Prepared, n_rows: int) -> IntArray | None:
    """Return the groups of all rows that a fit takes; rows of another file are of other groups."""
    groups = train.groups
    if groups is None or n_rows == len(groups):
        return groups
    return np.r_[groups, groups.max() + 1 + np.arange(n_rows - len(groups))]


def _bring(train: Prepared, table: Table, rows: IntArray) -> TestRows:
    label = train.options.label
    X, left, gaps = train.recipe.measured(table, rows)
    steps = []
    if len(left) < len(rows):
        steps.append(
            PreparationStep("test rows with gaps dropped", len(rows) - len(left), (), "missing")
        )
    if not len(left):
        raise DataError("expected test rows, none is left without gaps: fill the gaps instead")
    has_group = bool(train.group) and train.group in table.names
    groups = row_groups(table, train.group) if has_group else None
    if label not in table.names:
        own = None if groups is None else groups[left]
        return TestRows(X, None, left, tuple(steps), own, gaps)
    negative, positive = train.classes
    classes = {positive, *(train.merged or {negative})}
    labels = labels_of(table, label, sorted(classes))[left]
    check_known(labels, classes, label)
    known = labels != ""
    if not known.all():
        lost = int((~known).sum())
        steps.append(PreparationStep("test rows without a label dropped", lost, (), "label"))
    y = Classes(negative, positive, tuple(train.merged)).apply(labels[known])
    own = None if groups is None else groups[left[known]]
    kept = X if known.all() else X[known]
    return TestRows(kept, y, left[known], tuple(steps), own, gaps.take(known))
