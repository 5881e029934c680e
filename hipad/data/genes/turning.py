"""Tables with one row per gene and one column per patient, and their turning.

Expression data are often written so. A table that seems to be is turned, and says so in `turned`:
whoever knows better takes it back with `turn_back`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from hipad.data.genes.describing import LabelRows, likely_class
from hipad.data.genes.symbols import symbol_column, symbol_remark, tidy_symbols
from hipad.data.limits import LIMITS, Limits
from hipad.data.table import Matrix, Table, Text, tidy_names
from hipad.data.texts import tidy_text
from hipad.errors import DataError
from hipad.wording import count, some

Turn: TypeAlias = bool | Literal["auto"]

LOOKED_AT: Final = 200  # names, or columns, that are enough to know
FEW: Final = 9  # levels of a text column that looks like a class
DIFFERENT: Final = 0.9  # share of the rows whose names differ: a gene may come twice
GENE_HEADERS: Final = re.compile(
    r"(.*[\W_])?(genes?|probes?|probesets?|symbols?|features?|transcripts?|proteins?|ensembl|entrez|"
    r"id_ref|cpg|mirna|metabolites?|otu|taxa|taxon)([\W_]?(ids?|names?|symbols?|set|sets))*",
    re.IGNORECASE,
)
PATIENT_HEADERS: Final = re.compile(
    r"(.*[\W_])?(patients?|samples?|subjects?|cases?|persons?|barcodes?|cells?|donors?|"
    r"individuals?|participants?)([\W_]?(ids?|names?|no|nr|numbers?))*",
    re.IGNORECASE,
)
GENES: Final = re.compile(
    r"(?:AFFX-)?\d+(?:_[a-z]+)*_at|AFFX.*|ENS[A-Z]*[GTP]\d{6,}(?:\.\d+)?|ILMN_\d+|cg\d{6,}|rs\d+|"
    r"A_\d+_P\d+|(?:hsa|mmu)-\w+-.*|[NX][MR]_\d+.*|TC\d{6,}.*|LOC\d+|"
    r"(?!P\d|S\d|GSM|TCGA)[A-Z][A-Z0-9]*[A-Z][A-Z0-9]*\d[A-Z0-9]*(?:[-.]\w+)?|"
    r"ABL\d|ACTB|GAPDH|EGFR|KRAS|MYC|ERBB2"
)
SAMPLES: Final = re.compile(
    r"GSM\d+.*|TCGA-.*|(?:patient|sample|subject|case|control|donor|pat|pt|subj)[\W_]*\d+.*|"
    r"[A-Z]{0,3}\d*_?(?:tumou?r|normal|ctrl|control|case)[\W_]*\d*",
    re.IGNORECASE,
)
NO_PATIENT: Final = re.compile(
    GENE_HEADERS.pattern + r"|chr(omosome)?|start|end|strand|length|position", re.IGNORECASE
)
LABELS: Final = re.compile(
    r"label|class|outcome|target|y|diagnos.*|status|group|type|subtype|response", re.IGNORECASE
)


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
    text = _apart(given.about, names)
    values = given.values.T
    table = Table(
        numbers=sp.csr_array(values) if sp.issparse(values) else np.ascontiguousarray(values),
        number_names=tuple(names),
        text=text,
        format=given.format,
        remarks=(*given.remarks, *told, *(f"patients: {remark}" for remark in told_ids)),
        label=likely_class(text),
        ids=tuple(ids),
        symbols=tidy_symbols(given.symbols) if any(given.symbols) else (),
        about=tuple(text),
    )
    return replace(table, remarks=(*table.remarks, *symbol_remark(table)))


def _apart(about: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, Text]:
    """Columns that describe patients, under names that no feature has."""
    taken = set(names)
    result: dict[str, Text] = {}
    for raw, cells in about.items():
        name = " ".join(raw.split())[:LOOKED_AT] or "description"
        while name in taken:
            name += " of the patient"
        taken.add(name)
        result[name] = tidy_text(list(cells))
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


def id_column(table: Table) -> str | None:
    """The column that names the rows: unique numbers under a gene's header, or the first text."""
    first = table.number_names[0] if table.number_names and not table.is_sparse else ""
    if GENE_HEADERS.fullmatch(first) and len(np.unique(table.numbers[:, 0])) == table.n_rows:
        return first
    return next(iter(table.text), None)


def seems_turned(table: Table, *, has_classes: bool = False) -> bool:
    """Whether names, sizes and columns tell that rows are genes; a guess on strong signs only."""
    column = id_column(table)
    if table.is_sparse or len(table.number_names) < 2 or column is None:
        return False
    ids = table.as_text(column).tolist()
    if len(set(ids) - {""}) < max(2, DIFFERENT * table.n_rows):
        return False
    if _has_classes(table, column):
        return False
    score = 2 * has_classes + (table.n_rows > 3 * len(table.number_names))
    score += 2 * bool(GENE_HEADERS.fullmatch(column)) - 3 * bool(PATIENT_HEADERS.fullmatch(column))
    score += 2 * _alike(ids, GENES) - 3 * _alike(ids, SAMPLES)
    headers = [name for name in table.number_names if name != column]
    score += 2 * _alike(headers, SAMPLES) - 3 * _alike(headers, GENES)
    return score >= 2


def _has_classes(table: Table, ids: str) -> bool:
    """Whether a column looks like the class of patients, which a table of genes does not have."""
    if any(LABELS.fullmatch(name) for name in table.number_names):
        return True
    symbol = symbol_column([name for name in table.text if name != ids])
    for name, cells in table.text.items():
        if name in (ids, symbol) or NO_PATIENT.fullmatch(name):
            continue
        levels = len(np.unique(cells[:1000]))
        if LABELS.fullmatch(name) or levels <= min(FEW, table.n_rows / 2):
            return True
    part = table.numbers[:1000, :LOOKED_AT]
    return table.n_rows > 5 and any(len(np.unique(part[:, j])) == 2 for j in range(part.shape[1]))


def _alike(names: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Whether most of some names are of a kind."""
    some_names = names[:LOOKED_AT]
    return 2 * sum(bool(pattern.fullmatch(name)) for name in some_names) > len(some_names)


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
    unused = [name for name in table.names if name not in {column, symbol, *ids}]
    told = [f"columns that are no patients left out: {some(unused)}"] if unused else []
    told.append(_told(table.n_rows, len(ids)))
    numbered = table.ids or tuple(f"x{i}" for i in range(1, table.n_rows + 1))
    given = GenesByPatients(
        names=numbered if column is None else table.as_text(column).tolist(),
        values=table.numbers if len(ids) == len(table.number_names) else table.numbers[:, patients],
        ids=ids,
        format=table.format,
        symbols=[] if symbol is None else table.text[symbol].tolist(),
        about=found.of(ids) if found else {},
        remarks=(*table.remarks, *told),
    )
    return replace(patients_by_genes(given, limits), sha256=table.sha256, turned=True)


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
