"""Tables with one row per gene and one column per patient, and their turning.

Expression data are often written so. A table that seems to be is turned, and says so in `turned`:
whoever knows better takes it back with `turn_back`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from hipad.data.genes.describing import LabelRows, likely_class
from hipad.data.genes.recognising import (
    FEW,
    LABELS,
    LOOKED_AT,
    NO_PATIENT,
    id_column,
    seems_turned,
)
from hipad.data.genes.symbols import symbol_column, symbol_remark, tidy_symbols
from hipad.data.limits import LIMITS, Limits
from hipad.data.table import Matrix, Table, Text, tidy_names
from hipad.data.texts import TextColumn, label_text, tidy_cells
from hipad.errors import DataError
from hipad.wording import count, some

Turn: TypeAlias = bool | Literal["auto"]


@dataclass(frozen=True)
class GenesByPatients:
    """Features in rows, patients in columns, and what is known of both."""

    names: Sequence[str]
    values: Matrix  # features x patients
    ids: Sequence[str]  # of the patients
    format: str
    symbols: Sequence[str] = ()
    about: Mapping[str, Sequence[str]] = field(default_factory=dict)  # one text per patient
    remarks: tuple[str, ...] = ()


def patients_by_genes(given: GenesByPatients, limits: Limits = LIMITS) -> Table:
    """The table with one row per patient."""
    limits.check_shape(
        given.values.shape[1],
        given.values.shape[0],
        cells=given.values.nnz if sp.issparse(given.values) else None,
    )
    names, told = tidy_names(given.names)
    ids, told_ids = tidy_names(given.ids)
    columns = _apart(given.about, names)
    text = {name: column.cells for name, column in columns.items()}
    open_ = [f"column {name!r}: {each.remark}" for name, each in columns.items() if each.remark]
    values = given.values.T
    table = Table(
        numbers=sp.csr_array(values) if sp.issparse(values) else np.ascontiguousarray(values),
        number_names=tuple(names),
        text=text,
        format=given.format,
        remarks=(*given.remarks, *told, *(f"patients: {remark}" for remark in told_ids), *open_),
        label=likely_class(text),
        ids=tuple(ids),
        symbols=tidy_symbols(given.symbols) if any(given.symbols) else (),
        about=tuple(text),
        written={n: each.written for n, each in columns.items() if each.written is not None},
    )
    return replace(table, remarks=(*table.remarks, *symbol_remark(table)))


def _apart(about: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, TextColumn]:
    """Columns that describe patients, under names that no feature has."""
    taken = set(names)
    result: dict[str, TextColumn] = {}
    for raw, cells in about.items():
        name = " ".join(raw.split())[:LOOKED_AT] or "description"
        while name in taken:
            name += " of the patient"
        taken.add(name)
        result[name] = tidy_cells(list(cells))
    return result


def oriented(read: Callable[[bool], Table], found: LabelRows, turn: Turn, limits: Limits) -> Table:
    """What `read` gives, turned where that is asked or the table seems to be one of genes.

    `read(True)` leaves the rows of labels out, `read(False)` takes every row as it is.
    """
    if turn is False:
        return read(False)
    table = read(bool(found))
    if turn is True or seems_turned(table, has_classes=found.has_classes):
        return turn_table(table, found, limits)
    return read(False) if found else table


def turn_table(table: Table, found: LabelRows | None = None, limits: Limits = LIMITS) -> Table:
    """The table with rows and columns exchanged; one of its columns names the features."""
    column = id_column(table)
    symbol = symbol_column([name for name in table.text if name != column])
    patients = [j for j, name in enumerate(table.number_names) if not NO_PATIENT.fullmatch(name)]
    if not patients:
        raise DataError(
            f"expected columns of numbers, one per patient, got {some(table.names)}: "
            "this table cannot be turned"
        )
    ids = [table.number_names[j] for j in patients]
    values = table.numbers if len(ids) == len(table.number_names) else table.numbers[:, patients]
    names = list(table.ids) or [f"x{i}" for i in range(1, table.n_rows + 1)]
    if column is not None:
        names = table.as_text(column).tolist()
    about = found.of(ids) if found else {}
    classes = _class_rows(names, values)
    about.update({names[i]: label_text(values[i]).tolist() for i in classes})
    rest = np.setdiff1d(np.arange(table.n_rows), classes)
    used = {column, symbol, *ids}
    unused = [name for name in table.names if name not in used]
    told = [f"columns that are no patients left out: {some(unused)}"] if unused else []
    told.append(_told(table.n_rows, len(ids)))
    given = GenesByPatients(
        names=[names[i] for i in rest],
        values=values[rest] if classes else values,
        ids=ids,
        format=table.format,
        symbols=[] if symbol is None else table.text[symbol][rest].tolist(),
        about=about,
        remarks=(*table.remarks, *told),
    )
    return replace(patients_by_genes(given, limits), sha256=table.sha256, turned=True)


def _class_rows(names: Sequence[str], values: Matrix) -> list[int]:
    """Rows that are called as classes are and hold a few whole numbers, such as 0 and 1."""
    if sp.issparse(values):
        return []
    called = [i for i, name in enumerate(names) if LABELS.fullmatch(name)]
    found = {i: np.unique(values[i][np.isfinite(values[i])]) for i in called}
    few = [i for i, seen in found.items() if 2 <= len(seen) <= FEW and (seen % 1 == 0).all()]
    return few if len(few) < len(names) else []


def _told(features: int, patients: int) -> str:
    return (
        f"turned: the file has a row for each of {count(features, 'feature')} and a column for "
        f"each of {count(patients, 'patient')}"
    )


def turn_back(table: Table) -> Table:
    """The table as the file has it, rows and columns exchanged once more."""
    values: Any = table.numbers.T
    text = {"ID": np.array(table.number_names, dtype=str)}
    if table.symbols:
        text["symbol"] = np.array(table.symbols, dtype=str)
    names = tuple(table.ids or (f"row {i}" for i in range(1, table.n_rows + 1)))
    return Table(
        numbers=sp.csr_array(values) if sp.issparse(values) else np.ascontiguousarray(values),
        number_names=tidy_apart(names, text),
        text=text,
        format=table.format,
        remarks=tuple(remark for remark in table.remarks if not remark.startswith("turned:")),
        sha256=table.sha256,
    )


def facing(table: Table, names: Sequence[str]) -> Table:
    """The table, turned if more of these columns are there then: a second file may lie crosswise.

    >>> crosswise = Table(np.ones((2, 1)), ("P1",), {"gene": np.array(["a", "b"])}, "text")
    >>> facing(crosswise, ["a", "b"]).number_names
    ('a', 'b')
    """
    wanted = set(names)
    if table.is_sparse or len(wanted & set(table.names)) * 2 > len(wanted):
        return table
    if table.turned:
        other = turn_back(table)
    elif table.text and table.number_names:
        other = turn_table(table)
    else:
        return table
    more = len(wanted & set(other.names)) > len(wanted & set(table.names))
    return other if more else table


def tidy_apart(names: Sequence[str], text: Mapping[str, Text]) -> tuple[str, ...]:
    """Names of numeric columns that no text column has."""
    return tuple(f"{name} (numbers)" if name in text else name for name in names)
