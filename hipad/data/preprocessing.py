"""From a table to a numeric matrix and two classes, with an account of every step.

Missing values and the codes that stand for them, one-hot encoding of categories, dropped columns:
each step is recorded as a recipe, so that later tables are turned into the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data.file_format import Answer, FileFormat, Question
from hipad.data.roles import (
    Classes,
    ColumnRole,
    DecidedBy,
    Role,
    check_known,
    class_word,
    column_roles,
    find_classes,
    group_column,
    labels_of,
    not_features,
    positive_line,
    row_groups,
)
from hipad.data.table import Matrix, Table, column_statistics, duplicates, medians
from hipad.data.written_numbers import IS_UNIT, Text, to_number
from hipad.exceptions import DataError
from hipad.utils import BoolArray, IntArray, count, number, some

# --------------------------------------------------------------------------------------------------
# How to prepare a table, and the account of what was done to it.


Missing = Literal["median", "mean", "zero", "drop rows"]


@dataclass(frozen=True)
class PreparationStep:
    """Something that was done to the data: what, to how many, to which, and by which option."""

    what: str
    count: int
    names: tuple[str, ...]
    option: str

    def __str__(self) -> str:
        return f"{self.what}: {self.count:,}" + (f" ({some(self.names)})" if self.names else "")


Steps: TypeAlias = list[PreparationStep]


@dataclass(frozen=True)
class Options:
    """How to prepare a table; see `prepare`."""

    label: str
    positive: str | None = None
    missing: Missing = "median"
    one_hot: bool = True
    drop_constant: bool = True
    drop_duplicates: bool = False
    exclude: tuple[str, ...] = ()
    use_unlabelled: bool = True
    roles: dict[str, Role] = field(default_factory=dict)  # by the user; others are guessed

    @property
    def decided(self) -> dict[str, Role]:
        """The roles that the user decided, columns to exclude among them."""
        return {**dict.fromkeys(self.exclude, Role.LEFT_OUT), **self.roles}


# --------------------------------------------------------------------------------------------------
# Which values of a matrix were measured, once its gaps are filled.
#
# A model needs a number in every cell. What rules say of patients must not rest on numbers that
# nobody measured: a rule is neither met nor contradicted where it names a gap. One bit a row is
# kept for each column that has gaps, and nothing for the others.


Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class MissingValues:
    """The cells of a matrix that were filled; `bits` has a row for each of the sorted `columns`.

    >>> gaps = MissingValues.of(np.array([[False, True], [False, False], [False, True]]))
    >>> gaps.columns.tolist(), gaps.rows([0, 1]).tolist()
    ([1], [True, False, True])
    """

    columns: IntArray
    bits: Bits
    n_rows: int

    @classmethod
    def none(cls, n_rows: int) -> MissingValues:
        """No gap in so many rows."""
        return cls(np.empty(0, np.intp), np.empty((0, (n_rows + 7) // 8), np.uint8), n_rows)

    @classmethod
    def of(cls, mask: Any, columns: Any = None) -> MissingValues:
        """Return the marked cells; `columns` are those of the mask, if they are not the
        first ones.
        """
        marked = np.asarray(mask, dtype=bool)
        found = np.flatnonzero(marked.any(axis=0))
        bits = np.packbits(marked[:, found], axis=0).T.copy()
        own = found if columns is None else np.asarray(columns, dtype=np.intp)[found]
        order = np.argsort(own)
        return cls(own[order].astype(np.intp), bits[order], marked.shape[0])

    @classmethod
    def at(cls, rows: IntArray, columns: IntArray, n_rows: int) -> MissingValues:
        """Return the cells at these places."""
        named, where = np.unique(columns, return_inverse=True)
        bits = np.zeros((len(named), (n_rows + 7) // 8), np.uint8)
        np.bitwise_or.at(bits, (where, rows // 8), (128 >> (rows % 8)).astype(np.uint8))
        return cls(named.astype(np.intp), bits, n_rows)

    @classmethod
    def stacked(cls, parts: Sequence[tuple[MissingValues | None, int]]) -> MissingValues:
        """Return rows of several matrices under one another; each part with its number of rows."""
        known = [own if own is not None else cls.none(n) for own, n in parts]
        columns = np.unique(np.concatenate([own.columns for own in known])).astype(np.intp)
        total = sum(own.n_rows for own in known)
        return (
            cls.of(np.vstack([own.mask(columns) for own in known]), columns)
            if len(columns)
            else cls.none(total)
        )

    def __bool__(self) -> bool:
        return bool(len(self.columns))

    def mask(self, columns: Any) -> BoolArray:
        """Return which cells of these columns are gaps, one column for each."""
        wanted = np.asarray(columns, dtype=np.intp)
        found = np.zeros((self.n_rows, len(wanted)), dtype=bool)
        if len(self.columns) and len(wanted):
            at = np.minimum(np.searchsorted(self.columns, wanted), len(self.columns) - 1)
            here = np.flatnonzero(self.columns[at] == wanted)
            if len(here):
                cells = np.unpackbits(self.bits[at[here]], axis=1, count=self.n_rows)
                found[:, here] = cells.T.astype(bool)
        return found

    def rows(self, columns: Any) -> BoolArray:
        """Return the rows that have a gap in one of these columns."""
        wanted = np.intersect1d(self.columns, columns)
        found = np.zeros(self.n_rows, dtype=bool)
        for k in range(0, len(wanted), 256):
            found |= self.mask(wanted[k : k + 256]).any(axis=1)
        return found

    def take(self, rows: Any) -> MissingValues:
        """Return the same for some of the rows."""
        chosen = np.arange(self.n_rows)[rows]
        parts = []
        for k in range(0, len(self.columns), 256):
            cells = np.unpackbits(self.bits[k : k + 256], axis=1, count=self.n_rows)[:, chosen]
            parts.append((cells.any(axis=1), np.packbits(cells, axis=1)))
        if not parts:
            return MissingValues.none(len(chosen))
        left = np.concatenate([some for some, _ in parts])
        return MissingValues(
            self.columns[left], np.vstack([bits for _, bits in parts])[left], len(chosen)
        )

    def keep(self, columns: Any) -> MissingValues:
        """Return the same for some of the columns, in their order."""
        wanted = np.asarray(columns, dtype=np.intp)
        at = np.minimum(np.searchsorted(self.columns, wanted), max(len(self.columns) - 1, 0))
        if not len(self.columns) or not len(wanted):
            return MissingValues.none(self.n_rows)
        here = np.flatnonzero(self.columns[at] == wanted)
        return MissingValues(here.astype(np.intp), self.bits[at[here]], self.n_rows)

    def put_into(self, part: Any, columns: Any) -> Any:
        """Return some columns of the matrix with nan where they have gaps; a copy, if there are
        any.
        """
        marked = self.mask(columns)
        if not marked.any():
            return part
        dense = part.toarray() if hasattr(part, "toarray") else np.array(part)
        dense = dense.astype(np.result_type(dense.dtype, np.float32), copy=False)
        dense[marked] = np.nan
        return dense


def same_gaps(one: MissingValues | None, other: MissingValues | None) -> bool:
    """Return whether the same cells are gaps; None has none."""
    if not one or not other:
        return not one and not other
    return (
        one.n_rows == other.n_rows
        and np.array_equal(one.columns, other.columns)
        and np.array_equal(one.bits, other.bits)
    )


# --------------------------------------------------------------------------------------------------
# The recipe that turns a table into a numeric matrix, and a later table into the same columns.
#
# Everything the recipe holds (which columns, which levels, which values fill gaps) was learned from
# the training rows, so that test rows never speak before they are asked.


@dataclass(frozen=True)
class ColumnRecipe:
    """Numeric columns, then one column per level of each text column; of these `kept` are used."""

    number_names: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    fill: npt.NDArray[np.float64] | None = None  # one value per column; None: rows with gaps go
    kept: IntArray | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns that `matrix` gives; a level is called `column=level`."""
        levels = (f"{name}={level}" for name, some in self.levels.items() for level in some)
        names = self.number_names + tuple(levels)
        return names if self.kept is None else tuple(names[j] for j in self.kept)

    def keep(self, columns: IntArray) -> ColumnRecipe:
        """Return the recipe for these of its columns only."""
        return replace(self, kept=columns if self.kept is None else self.kept[columns])

    def matrix(self, table: Table, rows: IntArray) -> tuple[Matrix, IntArray]:
        """These rows as numbers, without gaps, and the rows that were left."""
        X, rows, _ = self.measured(table, rows)
        return X, rows

    def measured(self, table: Table, rows: IntArray) -> tuple[Matrix, IntArray, MissingValues]:
        """Return the same, and which cells had no value before they were filled."""
        if self.fill is None:
            rows = rows[~has_gap(table, rows, self.number_names, self.levels)]
        numbers = numeric_part(table, rows, self.number_names)
        gaps = MissingValues.none(len(rows))
        if self.fill is not None:
            gaps = self._gaps(table, rows, numbers)
            fill_gaps(numbers, self.fill)
        X = join(numbers, one_hot(table, rows, self.levels))
        if self.kept is None:
            return X, rows, gaps
        return X[:, self.kept], rows, gaps.keep(self.kept)

    def _gaps(self, table: Table, rows: IntArray, numbers: Matrix) -> MissingValues:
        """Return the gaps among the numbers, and those in text, which every level of it has."""
        found = is_gap(numbers)
        if sp.issparse(numbers):
            row_of = np.repeat(np.arange(len(rows)), np.diff(numbers.indptr))[found]
            own = MissingValues.at(row_of, numbers.indices[found], len(rows))
        else:
            own = MissingValues.of(found)
        columns, marks, at = [own.columns], [own.bits], len(self.number_names)
        for name, known in self.levels.items():
            blank = text_column(table, name, known)[rows] == ""
            if blank.any():
                columns.append(np.arange(at, at + len(known)))
                marks.append(np.repeat(np.packbits(blank)[None], len(known), axis=0))
            at += len(known)
        return MissingValues(np.concatenate(columns).astype(np.intp), np.vstack(marks), len(rows))


def numeric_part(table: Table, rows: IntArray, names: Sequence[str]) -> Matrix:
    """Return a copy of some numeric columns by name; a sparse table may lack columns, which are
    zero.
    """
    if table.number_names == tuple(names):
        return table.numbers[rows]
    place = {name: j for j, name in enumerate(table.number_names)}
    lacking = [name for name in names if name not in place]
    if not lacking:
        columns = np.array([place[name] for name in names], dtype=np.intp)
        return table.numbers[rows][:, columns] if table.is_sparse else _take(table, rows, columns)
    if not table.is_sparse:
        raise DataError(_columns_differ(table, lacking))
    there = [j for j, name in enumerate(names) if name in place]
    spread = sp.csr_array(
        (np.ones(len(there)), ([place[names[j]] for j in there], there)),
        shape=(len(place), len(names)),
    )
    return sp.csr_array(table.numbers[rows] @ spread)


def _take(table: Table, rows: IntArray, columns: IntArray) -> Matrix:
    return np.take(table.numbers[rows] if len(rows) < table.n_rows else table.numbers, columns, 1)


def _columns_differ(table: Table, lacking: list[str]) -> str:
    turned = [name for name in lacking if name in table.text]
    if turned:
        return (
            f"expected numbers in {some(turned)}, as in the training table, got text: "
            "correct these columns"
        )
    return (
        f"expected the columns of the training table, {len(lacking):,} of them are not there "
        f"({some(lacking)}): give a file with the same columns"
    )


def one_hot(table: Table, rows: IntArray, levels: dict[str, tuple[str, ...]]) -> sp.csr_array:
    """Return one column per level, 1 where the row has it; an unknown level or a gap gives
    zeros.
    """
    places, columns, width = [], [], 0
    for name, known in levels.items():
        values = text_column(table, name, known)[rows]
        code = np.minimum(np.searchsorted(known, values), len(known) - 1)
        hits = np.flatnonzero(np.array(known)[code] == values)
        places.append(hits)
        columns.append(width + code[hits])
        width += len(known)
    if not width:
        return sp.csr_array((len(rows), 0))
    where = np.concatenate(places), np.concatenate(columns)
    return sp.csr_array((np.ones(where[0].size), where), shape=(len(rows), width))


def text_column(table: Table, name: str, known: Sequence[str] = ()) -> Text:
    """Return a column as text, whether it was read as text or as numbers; known levels are
    no gaps.
    """
    if name not in table.names:
        raise DataError(_columns_differ(table, [name]))
    return table.as_text(name, known)


def join(numbers: Matrix, levels: sp.csr_array) -> Matrix:
    """Return numbers and levels side by side; sparse when the levels, mostly zeros, are
    most of it.
    """
    if not levels.shape[1]:
        return numbers
    if sp.issparse(numbers) or levels.shape[1] > max(1_000, 4 * numbers.shape[1]):
        return sp.hstack([sp.csr_array(numbers), levels], format="csr")
    return np.hstack([numbers, levels.toarray().astype(numbers.dtype)])


def is_gap(numbers: Matrix) -> npt.NDArray[np.bool_]:
    """NaN or infinite, for each stored value."""
    return ~np.isfinite(numbers.data if sp.issparse(numbers) else numbers)


def has_gap(
    table: Table, rows: IntArray, number_names: Sequence[str], levels: dict[str, tuple[str, ...]]
) -> npt.NDArray[np.bool_]:
    """Return rows in which one of these columns has a gap."""
    numbers = numeric_part(table, rows, number_names)
    gaps = is_gap(numbers)
    if sp.issparse(numbers):
        per_row = np.repeat(np.arange(len(rows)), np.diff(numbers.indptr))[gaps]
        found = np.bincount(per_row, minlength=len(rows)) > 0
    else:
        found = np.logical_or.reduce(gaps, axis=1)
    for name, known in levels.items():
        found |= text_column(table, name, known)[rows] == ""
    return found


def fill_gaps(numbers: Matrix, fill: npt.NDArray[np.float64]) -> None:
    """Put each column's fill value in place of its gaps."""
    gaps = is_gap(numbers)
    if sp.issparse(numbers):
        numbers.data[gaps] = fill[numbers.indices[gaps]]
    else:
        rows, columns = np.nonzero(gaps)
        numbers[rows, columns] = fill[columns]


# --------------------------------------------------------------------------------------------------
# From a table to numbers and two classes, with an account of every step.
#
# Each step is governed by one option; to undo it, prepare the same table again with another value.


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
    gaps: MissingValues | None = None  # cells of X without a value in the table
    unlabelled_gaps: MissingValues | None = None

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
    r"""Make numbers of a table: fill gaps, encode text, drop columns that say nothing.

    Parameters
    ----------
    table : Table
        As it was read.
    label : str
        The column with the classes.
    positive : str, default=None
        The positive class; with more than two classes the others become one. None lets
        `find_classes` decide.
    missing : {"median", "mean", "zero", "drop"}, default="median"
        What fills gaps; "drop" leaves out rows that have some.
    one_hot : bool, default=True
        Encode columns of text; False leaves them out.
    drop_constant : bool, default=True
        Leave out columns with one value.
    drop_duplicates : bool, default=False
        Leave out columns that repeat another one.
    exclude : sequence of str, default=()
        Columns that are not to be features.
    use_unlabelled : bool, default=True
        Keep rows without a label beside the others. Nothing is learnt from them here.
    roles : dict, default=None
        Columns that have another role than is guessed (`hipad.data.roles`).
    outcome : str, default=""
        What the first rule says, by which `find_classes` decides.

    Returns
    -------
    Prepared
        The matrix, labels, names, and an account of every step.

    Raises
    ------
    DataError
        The label column or the classes are not there.

    See Also
    --------
    read_table : Read a table.

    Examples
    --------
    >>> from hipad import prepare, read_table
    >>> table = read_table(b"age,outcome\n31,well\n,ill\n44,ill\n29,well\n")
    >>> ready = prepare(table, label="outcome", positive="ill")
    >>> ready.X.ravel().tolist(), ready.classes
    ([31.0, 31.0, 44.0, 29.0], ('well', 'ill'))
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
    """Return the rows that `prepare` would use, and their labels, without preparing any column."""
    labels, rows, _ = _labelled(table, options, np.arange(table.n_rows))
    classes = find_classes(labels[rows], options.label, options.positive, outcome)
    if options.missing == "drop rows":
        recipe, _ = _choose_columns(table, options, rows, roles_for(table, options))
        rows = rows[~has_gap(table, rows, recipe.number_names, recipe.levels)]
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
    other_gaps = MissingValues.none(0)
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
    """Return all labels, and those of the rows that have one."""
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
    """Return numeric columns as they are, text columns by their levels where these are few."""
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
        listed_names = [f"{name!r} ({roles[name].role})" for name in not_features(roles)]
        raise DataError(
            "expected a column of numbers, or of text with few levels, beside the label "
            f"{options.label!r}, got {', '.join(listed_names[:5]) or some(left_out) or 'none'}"
            + (": make one of them a feature" if listed_names else "")
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
    """Return what to put in place of gaps, from these rows, and an account of the gaps."""
    numbers = numeric_part(table, rows, recipe.number_names)
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


# --------------------------------------------------------------------------------------------------
# Numbers that stand for a missing value, such as 999: asked about, and removed when stated.


HIGH_CODES: Final = (
    7, 8, 9, 77, 88, 96, 97, 98, 99, 777, 888, 996, 997, 998, 999, 7777, 8888, 9996, 9997, 9998,
    9999, 99997, 99998, 99999, 999997, 999998, 999999,
)  # fmt: skip
LOW_CODES: Final = (
    -1, -4, -6, -7, -8, -9, -66, -77, -88, -97, -98, -99, -777, -888, -997, -998, -999, -9998,
    -9999, -99999,
)  # fmt: skip
APART: Final = 2  # times the largest other value: a code is far from what is measured
LEAST_VALUES: Final = 2  # different ones beside a code
MOST_CODES: Final = 4  # different codes of one column
MOST_NAMED: Final = 300  # columns of a table whose names are looked at for what is never zero
LEAST_DIFFERENT: Final = 6
ZERO_APART: Final = 0.5  # of the distance between the least value and the median
NEVER_ZERO: Final = re.compile(
    r"(?i:glu[ck]ose|blood.?press|blutdruck|systol|diastol|(?<![a-z])(?:bmi|sbp|dbp|rr|hr|hb|hgb|puls|"
    r"pulse|map|spo2|height|weight|gewicht|gr(?:ö|oe)(?:ß|ss)e|taille|poids|temp|sodium|potassium|"
    r"natrium|kalium|albumin|ha?emoglobin|(?:heart|resp).?rate|hematocrit|hct)(?![a-z])|"
    r"temperature|skin.?thick|creatinin)|BloodPressure|SkinThickness"
)
MOST_ASKED: Final = 20
COLUMNS_LOOKED_AT: Final = 2_000


def with_gap_codes(table: Table, stated: FileFormat) -> Table:
    """Return the table without the codes that are stated, and with questions about others it may
    have.
    """
    table = _without_stated(table, stated)
    if table.is_sparse or table.turned or not table.numbers.size:
        return table
    questions: list[Question] = []
    for name, codes in _likely_codes(table).items():
        if len(questions) == MOST_ASKED:
            break
        values = table.column(name)
        n = int(np.isin(values, codes).sum())
        rest = values[np.isfinite(values) & ~np.isin(values, codes)]
        words = tuple(f"{code:g}" for code in codes)
        shown = " and ".join(words)
        questions.append(
            Question(
                f"code:{name}",
                f"{count(n, 'cell')} {shown} in column {name!r}, whose other values go from "
                f"{number(rest.min())} to {number(rest.max())}, read as "
                f"{'numbers' if len(words) > 1 else 'a number'}: a code for a missing value?",
                (Answer(f"{shown}: a gap", {"column_gaps": {name: words}}),),
            )
        )
    questions += [*unlike_rows(table), *unlike_scales(table)]
    if not questions:
        return table
    reading = table.reading
    return replace(table, reading=replace(reading, questions=(*reading.questions, *questions)))


# --------------------------------------------------------------------------------------------------
# Columns of numbers whose rows cannot be compared: other units, or other things in each row.


ONE_UNIT: Final = re.compile(IS_UNIT)
MEASURED: Final = frozenset(
    [
        "test",
        "tests",
        "parameter",
        "param",
        "analyte",
        "analyt",
        "variable",
        "variablename",
        "measure",
        "measurement",
        "marker",
        "item",
        "labtest",
        "lbtest",
        "lbtestcd",
        "paramcd",
        "assay",
        "messgrösse",
        "messgröße",
        "merkmal",
        "prueba",
        "examen",
        "determinacion",
        "parametro",
        "parametre",
    ]
)
RESULTS: Final = frozenset(
    [
        "value",
        "values",
        "result",
        "results",
        "wert",
        "werte",
        "messwert",
        "ergebnis",
        "valeur",
        "resultat",
        "résultat",
        "valor",
        "resultado",
        "valore",
        "risultato",
        "aval",
        "lborres",
        "lbstresn",
        "waarde",
    ]
)


LEAST_OF_SCALE: Final = 2  # numbers on either side
ONE_SCALE: Final = 4.0  # at most so many times its least number is the greatest one of a side
SCALES: Final = ((50.0, 200.0), (500.0, 2_000.0))  # per cent and shares; grams and kilograms


def unlike_scales(table: Table) -> list[Question]:
    """Return questions about numbers of which some seem to be in a unit a hundred or a thousand
    times as large.
    """
    if len(table.names) > MOST_NAMED:
        return []
    found = []
    for name in table.number_names:
        values: npt.NDArray[np.float64] = np.asarray(table.column(name), dtype=np.float64)
        known = np.sort(values[np.isfinite(values)])
        if known.size < 3 * LEAST_OF_SCALE or known[0] <= 0:
            continue
        at = int(np.argmax(known[1:] / known[:-1])) + 1
        low, high = known[:at], known[at:]
        if min(low.size, high.size) < LEAST_OF_SCALE:
            continue
        narrow = all(part[-1] <= ONE_SCALE * part[0] for part in (low, high))
        ratio = float(np.median(high) / np.median(low))
        if narrow and np.unique(known).size > 4 and any(a <= ratio <= b for a, b in SCALES):
            found.append(
                Question(
                    f"scale:{name}",
                    f"column {name!r}: {count(low.size, 'number')} from {number(low[0])} to "
                    f"{number(low[-1])} and {high.size:,} from {number(high[0])} to "
                    f"{number(high[-1])}, as of two units: write all in one unit in the file if so",
                )
            )
    return found


def unlike_rows(table: Table) -> list[Question]:
    """Return questions about a column of different units, and about one row a measurement."""
    found = []
    for name, cells in table.text.items():
        levels = np.unique(cells[cells != ""])
        if not 2 <= levels.size <= MAX_LEVELS or levels.size * 2 > max(table.n_rows, 4):
            continue
        shown = some(levels.tolist())
        words = {re.sub(r"[\W_]+", "", name).lower()}
        results = [other for other in table.number_names if other.lower() in RESULTS]
        if all(len(str(level)) > 1 and ONE_UNIT.search(str(level)) for level in levels):
            found.append(
                Question(
                    f"unit column:{name}",
                    f"column {name!r} holds units ({shown}): numbers beside it that are in "
                    "different units cannot be compared, write them in one unit in the file",
                )
            )
        elif words & MEASURED and results:
            found.append(
                Question(
                    f"long:{name}",
                    f"column {name!r} says what {results[0]!r} is in each row ({shown}): a row is "
                    "one measurement here, and a model needs one row for a patient, with a column "
                    f"for each {name}",
                )
            )
    return found


def _without_stated(table: Table, stated: FileFormat) -> Table:
    """Return cells of single columns that the user calls gaps, whatever the format of the file."""
    text = dict(table.text)
    gaps = dict(table.reading.gaps)
    place = {name: j for j, name in enumerate(table.number_names)}
    for name, words in stated.column_gaps.items():
        if name in text:
            hit = np.isin(text[name], words)
            text[name] = np.where(hit, "", text[name])
        elif name in place and not table.is_sparse:
            codes = [value for word in words if (value := to_number(word)) is not None]
            column = table.numbers[:, place[name]]
            hit = np.isin(column, [code for code in codes if code == code])
            column[hit] = np.nan
        else:
            continue
        for word in words:
            gaps[word] = gaps.get(word, 0) + (int(hit.sum()) if len(words) == 1 else 0)
    if not stated.column_gaps:
        return table
    return replace(table, text=text, reading=replace(table.reading, gaps=gaps, stated=stated))


def _likely_codes(table: Table) -> dict[str, list[float]]:
    """Return codes far from all other values of a column, by its name."""
    numbers = table.numbers
    with np.errstate(invalid="ignore"):
        high = np.fmax.reduce(numbers, axis=0)
        low = np.fmin.reduce(numbers, axis=0)
    maybe = np.isin(high, HIGH_CODES) | np.isin(low, LOW_CODES)
    if len(table.names) <= MOST_NAMED:
        maybe |= low == 0
    found: dict[str, list[float]] = {}
    for j in np.flatnonzero(maybe)[:COLUMNS_LOOKED_AT].tolist():
        column, name = numbers[:, j], table.number_names[j]
        values, times = np.unique(column[np.isfinite(column)], return_counts=True)
        codes = _codes(values) or _odd_one_out(values, times) or _impossible_zero(values, name)
        if codes:
            found[name] = codes
    return found


def _codes(values: npt.NDArray[np.float64]) -> list[float]:
    """Return of sorted different values, those at the ends that are codes."""
    codes: list[float] = []
    rest = values
    lows = rest[(rest < 0) & np.isin(rest, LOW_CODES)]
    several = 1 < lows.size <= min(MOST_CODES, len(rest) - LEAST_VALUES)
    if several and lows.size == np.count_nonzero(rest < 0) and lows[-2] < -5:
        codes, rest = lows.tolist(), rest[lows.size :]
    while len(rest) > LEAST_VALUES and len(codes) < MOST_CODES:
        if rest[-1] in HIGH_CODES and _is_apart(rest[-1], rest[:-1]):
            codes.append(float(rest[-1]))
            rest = rest[:-1]
        elif rest[0] in LOW_CODES and rest[1] >= 0 and (rest[0] < -5 or len(rest) > 3):
            codes.append(float(rest[0]))
            rest = rest[1:]
        else:
            break
    # A run of codes such as 8 and 9 is one only if the values below are far from all of them.
    high = [code for code in codes if code > 0]
    if high and not _is_apart(min(high), rest):
        return []
    return sorted(codes)


def _odd_one_out(values: npt.NDArray[np.float64], times: npt.NDArray[np.int64]) -> list[float]:
    """Return -1 beside 0 and 1 where it is much the rarest: change and its sign has it often."""
    rare = values.tolist() == [-1.0, 0.0, 1.0] and 2 * times[0] < times[1:].min()
    return [-1.0] if rare else []


def _impossible_zero(values: npt.NDArray[np.float64], name: str) -> list[float]:
    """Return 0 where nobody alive has it: far below all others, of what is never zero."""
    if len(values) < LEAST_DIFFERENT or values[0] != 0 or not NEVER_ZERO.search(name):
        return []
    return [0.0] if values[1] > ZERO_APART * (np.median(values[1:]) - values[1]) else []


def _is_apart(code: float, rest: npt.NDArray[np.float64]) -> bool:
    below = [value for value in rest.tolist() if value not in HIGH_CODES] or rest.tolist()
    if code < 10 and below != list(range(int(below[0]), int(below[0]) + len(below))):
        return False  # one digit is a code on a scale such as 1 to 4 only
    return bool(max(below) > 0 and code >= APART * max(below) and min(below) >= -code)


# --------------------------------------------------------------------------------------------------
# Test rows: held back from the same table, or taken from a second one with the same columns.


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
