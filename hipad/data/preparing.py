"""From a table to numbers and two classes, with an account of every step.

Each step is governed by one option; to undo it, prepare the same table again with another value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, get_args

import numpy as np
import scipy.sparse as sp

from hipad.arrays import IntArray
from hipad.data import encoding
from hipad.data.classes import (
    Classes,
    DecidedBy,
    class_word,
    find_classes,
    labels_of,
    positive_line,
)
from hipad.data.encoding import ColumnRecipe
from hipad.data.gaps import Gaps
from hipad.data.moments import column_statistics
from hipad.data.preparation_options import Missing, Options, PreparationStep, Steps
from hipad.data.roles import (
    ColumnRole,
    Role,
    column_roles,
    group_column,
    not_features,
    row_groups,
)
from hipad.data.summary import duplicates, medians
from hipad.data.table import Matrix, Table, Text
from hipad.errors import DataError
from hipad.wording import some

MAX_LEVELS: Final = 20
UNLABELLED: Final = "rows without a label, used for what the rules say, never for judging"


@dataclass(frozen=True)
class Prepared:
    """A numeric matrix with labels, and how it came about; `rows` are the table's rows in it.

    `unlabelled` are rows of the table without a label, in the same columns, where there are any.
    """

    X: Matrix
    y: Text
    feature_names: tuple[str, ...]
    classes: tuple[str, str]  # negative, positive
    steps: tuple[PreparationStep, ...]
    rows: IntArray
    table: Table
    options: Options
    recipe: ColumnRecipe
    merged: frozenset[str]  # labels taken together as the negative class
    decided_by: DecidedBy = "choice"  # why the positive class is the positive one
    unlabelled: Matrix | None = None
    unlabelled_rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    roles: dict[str, ColumnRole] = field(default_factory=dict)  # of columns that are no features
    gaps: Gaps | None = None  # cells of X without a value in the table
    unlabelled_gaps: Gaps | None = None

    @property
    def group(self) -> str:
        """The column whose rows belong together; "" where there is none."""
        return group_column(self.roles)

    @property
    def groups(self) -> IntArray | None:
        """Numbers that are equal where rows belong together: rows with a label, then the others."""
        if not self.group:
            return None
        return row_groups(self.table, self.group)[np.r_[self.rows, self.unlabelled_rows]]

    @property
    def n_patients(self) -> int:
        """How many patients the rows with a label are of."""
        return len(self.y) if self.groups is None else np.unique(self.groups[: len(self.y)]).size

    @property
    def positive_line(self) -> str:
        """Which class is positive, and why."""
        return positive_line(self.classes, self.decided_by)

    @property
    def class_counts(self) -> dict[str, int]:
        """How many rows each class has."""
        return {name: int((self.y == name).sum()) for name in self.classes}


def prepare(
    table: Table,
    *,
    label: str,
    positive: str | None = None,
    missing: Missing = "median",
    one_hot: bool = True,
    drop_constant: bool = True,
    drop_duplicates: bool = False,
    exclude: Sequence[str] = (),
    use_unlabelled: bool = True,
    roles: Mapping[str, Role | str] | None = None,
    outcome: str = "",
) -> Prepared:
    """Make numbers of a table: fill gaps, encode text, drop columns that say nothing.

    `positive` names the positive class; with more than two classes the others become one. Without
    it `find_classes` decides, for which `outcome` is what the first rule says.
    `missing` fills gaps with the column's median, mean or zero, or drops rows with gaps.
    `exclude` names columns that are not to be features, and `roles` those that have another role
    than is guessed (hipad.data.roles). Rows without a label are kept beside the
    others, unless `use_unlabelled` is False; nothing of the preparation is learnt from them.
    """
    options = Options(
        label,
        positive,
        missing,
        one_hot,
        drop_constant,
        drop_duplicates,
        tuple(exclude),
        use_unlabelled,
        {name: Role(role) for name, role in (roles or {}).items()},
    )
    return prepare_rows(table, options, np.arange(table.n_rows), outcome=outcome)


def roles_for(table: Table, options: Options, *, questions: bool = False) -> dict[str, ColumnRole]:
    """Return the roles of the columns as a preparation takes them."""
    if unknown := sorted(set(options.exclude) - set(table.names)):
        raise DataError(f"expected columns of the table to exclude, got {some(unknown)}")
    return column_roles(
        table, options.label, options.decided, positive=options.positive, questions=questions
    )


def labelled_rows(
    table: Table, options: Options, outcome: str = ""
) -> tuple[IntArray, Text, Classes]:
    """The rows that `prepare` would use, and their labels, without preparing any column."""
    labels, rows, _ = _labelled(table, options, np.arange(table.n_rows))
    classes = find_classes(labels[rows], options.label, options.positive, outcome)
    if options.missing == "drop rows":
        recipe, _ = _choose_columns(table, options, rows, roles_for(table, options))
        rows = rows[~encoding.has_gap(table, rows, recipe.number_names, recipe.levels)]
        _still_two(classes, labels[rows], options.label)
    return rows, labels[rows], classes


def prepare_rows(
    table: Table,
    options: Options,
    rows: IntArray,
    *,
    outcome: str = "",
    classes: Classes | None = None,
) -> Prepared:
    """Prepare some rows of a table; nothing is learned from the others.

    `classes` are those of the whole table, where these rows are a part of it.
    """
    given = rows
    labels, rows, steps = _labelled(table, options, rows)
    if classes is None:
        classes = find_classes(labels[rows], options.label, options.positive, outcome)
    if classes.merged:
        steps.append(
            PreparationStep(
                f"labels taken as {classes.negative!r}",
                len(classes.merged),
                classes.merged,
                "positive",
            )
        )
    roles = roles_for(table, options)
    recipe, more = _choose_columns(table, options, rows, roles)
    recipe, more_still = _learn_fill(table, options, recipe, rows)
    X, left, gaps = recipe.measured(table, rows)
    if len(left) < len(rows):
        steps.append(
            PreparationStep("rows with gaps dropped", len(rows) - len(left), (), "missing")
        )
        classes = _still_two(classes, labels[left], options.label)
    X, recipe, last = _drop_columns(X, options, recipe)
    gaps = gaps if recipe.kept is None else gaps.keep(recipe.kept)
    others, other_rows = None, given[labels[given] == ""]
    other_gaps = Gaps.none(0)
    if options.use_unlabelled and len(other_rows):
        n_others = len(other_rows)
        others, other_rows, other_gaps = recipe.measured(table, other_rows)
        if lost := n_others - len(other_rows):
            what = "rows without a label dropped, as they have gaps"
            steps.append(PreparationStep(what, lost, (), "missing"))
    else:
        other_rows = other_rows[:0]
    return Prepared(
        X=X,
        y=classes.apply(labels[left]),
        feature_names=recipe.feature_names,
        classes=(classes.negative, classes.positive),
        steps=(*steps, *more, *more_still, *last),
        rows=left,
        table=table,
        options=options,
        recipe=recipe,
        merged=frozenset(classes.merged),
        decided_by=classes.decided_by,
        unlabelled=others if len(other_rows) else None,
        unlabelled_rows=other_rows,
        roles=roles,
        gaps=gaps,
        unlabelled_gaps=other_gaps,
    )


def _labelled(table: Table, options: Options, rows: IntArray) -> tuple[Text, IntArray, Steps]:
    """All labels, and those of the rows that have one."""
    if options.missing not in get_args(Missing):
        raise DataError(
            f"expected missing to be one of {get_args(Missing)}, got {options.missing!r}"
        )
    labels = labels_of(table, options.label)
    known = rows[labels[rows] != ""]
    lost = len(rows) - len(known)
    steps = []
    if lost:
        words = tuple(table.gap_words(options.label))
        what = UNLABELLED if options.use_unlabelled else "rows without a label dropped"
        steps.append(PreparationStep(what, lost, words, "use_unlabelled"))
    if word := class_word(table, options.label):
        what = "a word for a gap taken as a class, as there is one other class only"
        n = int((labels[rows] == word).sum())
        steps.append(PreparationStep(what, n, (word,), "label"))
    return labels, known, steps


def _still_two(classes: Classes, labels: Text, label: str) -> Classes:
    if len(np.unique(classes.apply(labels))) < 2:
        raise DataError(
            f"expected two classes in {label!r}, got fewer once rows with gaps were dropped: "
            "fill the gaps instead"
        )
    return classes


def _choose_columns(
    table: Table, options: Options, rows: IntArray, roles: Mapping[str, ColumnRole]
) -> tuple[ColumnRecipe, Steps]:
    """Numeric columns as they are, text columns by their levels where these are few."""
    out = {options.label, *not_features(roles), *table.about}
    numbers = tuple(name for name in table.number_names if name not in out)
    found = {name: _levels(table.text[name][rows]) for name in table.text if name not in out}
    usable = {
        name: levels
        for name, levels in found.items()
        if options.one_hot and 0 < len(levels) <= min(MAX_LEVELS, max(2, len(rows) // 2))
    }
    left_out = tuple(name for name in found if name not in usable)
    if not numbers and not usable:
        told = [f"{name!r} ({roles[name].role})" for name in not_features(roles)]
        raise DataError(
            "expected a column of numbers, or of text with few levels, beside the label "
            f"{options.label!r}, got {', '.join(told[:5]) or some(left_out) or 'none'}"
            + (": make one of them a feature" if told else "")
        )
    steps = [
        PreparationStep(f"columns of role {role}, no features", len(names), names, "roles")
        for role in (Role.GROUP, Role.ID, Role.FOLLOW_UP, Role.LEFT_OUT)
        if (names := tuple(name for name, one in roles.items() if one.role is role))
    ]
    if describing := tuple(name for name in table.about if name != options.label):
        what = "columns that describe patients, no features"
        steps.append(PreparationStep(what, len(describing), describing, "label"))
    if usable:
        steps.append(
            PreparationStep(
                "text columns encoded, one column per level", len(usable), tuple(usable), "one_hot"
            )
        )
    blank = sum(int((table.text[name][rows] == "").sum()) for name in usable)
    if blank and options.missing != "drop rows":
        words = tuple(sorted({word for name in usable for word in table.gap_words(name)}))
        what = "gaps in text columns, encoded as no level"
        steps.append(PreparationStep(what, blank, words, "missing"))
    if left_out:
        why = f"more than {MAX_LEVELS} levels, or none" if options.one_hot else "not numbers"
        steps.append(
            PreparationStep(f"text columns left out ({why})", len(left_out), left_out, "one_hot")
        )
    return ColumnRecipe(numbers, usable), steps


def _levels(values: Text) -> tuple[str, ...]:
    return tuple(level for level in np.unique(values).tolist() if level)


def _learn_fill(
    table: Table, options: Options, recipe: ColumnRecipe, rows: IntArray
) -> tuple[ColumnRecipe, Steps]:
    """What to put in place of gaps, from these rows, and an account of the gaps."""
    numbers = encoding.numeric_part(table, rows, recipe.number_names)
    steps = _infinite(numbers, recipe.number_names)
    stats = column_statistics(numbers)
    gaps = np.flatnonzero(stats.missing)
    if options.missing == "drop rows":
        return recipe, steps
    if options.missing == "median":
        fill = medians(numbers)
    else:
        fill = np.nan_to_num(stats.mean) if options.missing == "mean" else np.zeros(stats.mean.size)
    if gaps.size:
        names = tuple(recipe.number_names[j] for j in gaps)
        what = f"missing values filled ({options.missing})"
        steps.append(PreparationStep(what, int(stats.missing.sum()), names, "missing"))
    return ColumnRecipe(recipe.number_names, recipe.levels, fill), steps


def _infinite(numbers: Matrix, names: tuple[str, ...]) -> Steps:
    found = np.isinf(numbers.data if sp.issparse(numbers) else numbers)
    if not found.any():
        return []
    where = numbers.indices[found] if sp.issparse(numbers) else np.nonzero(found)[1]
    columns = tuple(names[j] for j in np.unique(where))
    return [
        PreparationStep("infinite values taken as missing", int(found.sum()), columns, "missing")
    ]


def _drop_columns(
    X: Matrix, options: Options, recipe: ColumnRecipe
) -> tuple[Matrix, ColumnRecipe, Steps]:
    """Leave out constant columns and, when asked, repeated ones; report both."""
    names = np.array(recipe.feature_names, dtype=object)
    constant = np.flatnonzero(column_statistics(X).constant)
    repeated = np.setdiff1d(duplicates(X), constant)
    steps, out = [], np.empty(0, dtype=np.intp)
    for columns, what, drop, option in (
        (constant, "constant columns", options.drop_constant, "drop_constant"),
        (repeated, "columns that repeat another", options.drop_duplicates, "drop_duplicates"),
    ):
        if columns.size:
            done = "dropped" if drop else "kept"
            steps.append(
                PreparationStep(f"{what} {done}", columns.size, tuple(names[columns]), option)
            )
            out = np.union1d(out, columns) if drop else out
    if not out.size:
        return X, recipe, steps
    if out.size == X.shape[1]:
        raise DataError("expected a column that differs between rows, got constant columns only")
    kept = np.setdiff1d(np.arange(X.shape[1]), out)
    return X[:, kept], recipe.keep(kept), steps
