"""The recipe that turns a table into a numeric matrix, and a later table into the same columns.

Everything the recipe holds (which columns, which levels, which values fill gaps) was learned from
the training rows, so that test rows never speak before they are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.arrays import IntArray
from hipad.data.gaps import Gaps
from hipad.data.table import Matrix, Table, Text
from hipad.errors import DataError
from hipad.wording import some


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
        """The recipe for these of its columns only."""
        return replace(self, kept=columns if self.kept is None else self.kept[columns])

    def matrix(self, table: Table, rows: IntArray) -> tuple[Matrix, IntArray]:
        """These rows as numbers, without gaps, and the rows that were left."""
        X, rows, _ = self.measured(table, rows)
        return X, rows

    def measured(self, table: Table, rows: IntArray) -> tuple[Matrix, IntArray, Gaps]:
        """The same, and which cells had no value before they were filled."""
        if self.fill is None:
            rows = rows[~has_gap(table, rows, self.number_names, self.levels)]
        numbers = numeric_part(table, rows, self.number_names)
        gaps = Gaps.none(len(rows))
        if self.fill is not None:
            gaps = self._gaps(table, rows, numbers)
            fill_gaps(numbers, self.fill)
        X = join(numbers, one_hot(table, rows, self.levels))
        if self.kept is None:
            return X, rows, gaps
        return X[:, self.kept], rows, gaps.keep(self.kept)

    def _gaps(self, table: Table, rows: IntArray, numbers: Matrix) -> Gaps:
        """The gaps among the numbers, and those in text, which every level of it has."""
        found = is_gap(numbers)
        if sp.issparse(numbers):
            row_of = np.repeat(np.arange(len(rows)), np.diff(numbers.indptr))[found]
            own = Gaps.at(row_of, numbers.indices[found], len(rows))
        else:
            own = Gaps.of(found)
        columns, marks, at = [own.columns], [own.bits], len(self.number_names)
        for name, known in self.levels.items():
            blank = text_column(table, name, known)[rows] == ""
            if blank.any():
                columns.append(np.arange(at, at + len(known)))
                marks.append(np.repeat(np.packbits(blank)[None], len(known), axis=0))
            at += len(known)
        return Gaps(np.concatenate(columns).astype(np.intp), np.vstack(marks), len(rows))


def numeric_part(table: Table, rows: IntArray, names: Sequence[str]) -> Matrix:
    """A copy of some numeric columns by name; a sparse table may lack columns, which are zero."""
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
    """One column per level, 1 where the row has it; an unknown level or a gap gives zeros."""
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
    """A column as text, whether it was read as text or as numbers; known levels are no gaps."""
    if name not in table.names:
        raise DataError(_columns_differ(table, [name]))
    return table.as_text(name, known)


def join(numbers: Matrix, levels: sp.csr_array) -> Matrix:
    """Numbers and levels side by side; sparse when the levels, mostly zeros, are most of it."""
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
    """Rows in which one of these columns has a gap."""
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
