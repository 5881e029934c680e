"""Tables with one row per gene: detected, transposed, and joined with what is known of samples."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from hipad.data.file_format import LIMITS, Limits
from hipad.data.table import Matrix, Table, tidy_names
from hipad.data.written_numbers import Text, TextColumn, label_text, tidy_cells, to_number
from hipad.exceptions import DataError
from hipad.utils import count, some

# --------------------------------------------------------------------------------------------------
# What is known of patients beside their values: classes in rows of the file or in a second one.


TOP, BOTTOM = 60, 10  # rows at the ends of a file in which classes are looked for
LOOKED_AT: Final = 1_000  # cells of a row
MOST_LEVELS: Final = 10  # different numbers that may be classes
LIKELY: Final = re.compile(
    r".*(diagnos|disease|class|label|outcome|status|group|subtype|response|condition|phenotype|"
    r"fusion|relapse|case|tumou?r|treatment|type).*",
    re.IGNORECASE,
)


def likely_class(text: Mapping[str, Text]) -> str | None:
    """Return the column that is called as classes are and has few values; two values come first."""
    levels = {name: len({*cells.tolist()} - {""}) for name, cells in text.items()}
    fit = [name for name, n in levels.items() if LIKELY.fullmatch(name) and 2 <= n <= MOST_LEVELS]
    return min(fit, key=lambda name: levels[name] != 2, default=None)


@dataclass(frozen=True)
class LabelRows:
    """Rows that hold a text for each column of a file, as classes above the values do."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]] = ()

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def has_classes(self) -> bool:
        """Whether a row has few values that come again, as classes do and units do not."""
        return any(
            2 <= len({*filled}) <= len(filled) / 2
            for row in self.rows
            if (filled := [cell.strip() for cell in row[1:] if cell.strip()])
        )

    def of(self, columns: Sequence[str]) -> dict[str, list[str]]:
        """Return each row by its first cell, with its cells of these columns."""
        names, _ = tidy_names(self.header)
        place = {name: j for j, name in enumerate(names)}
        result: dict[str, list[str]] = {}
        for row in self.rows:
            cells = [row[j] if (j := place[name]) < len(row) else "" for name in columns]
            result.setdefault(row[0].strip(), cells)
        return result


def is_label_row(cells: Sequence[str]) -> bool:
    """Return whether a row of written cells, its name first, holds texts where values are
    expected.
    """
    step = max(1, len(cells) // LOOKED_AT)  # of a long row some cells tell as much as all
    filled = [cell for cell in cells[1::step] if cell.strip()]
    texts = sum(to_number(cell.replace(",", ".")) is None for cell in filled)
    return len(filled) >= 2 and 2 * texts > len(filled) and bool(cells[:1] and cells[0].strip())


def label_rows(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return which rows, of those at the ends, hold texts; none where most do, as in a table of
    texts.
    """
    ends = {*range(min(TOP, len(rows))), *range(max(0, len(rows) - BOTTOM), len(rows))}
    found = [i for i in sorted(ends) if is_label_row(rows[i])]
    return found if 2 * len(found) <= len(ends) else []


def with_labels(table: Table, labels: Table) -> Table:
    """Return the table with the columns of a second one, whose rows are found by the
    patients' IDs.
    """
    key, places = _places(table, labels)
    missing = int((places < 0).sum())
    if missing == table.n_rows:
        raise DataError(
            f"expected a column with the patients' IDs, such as {some(table.ids[:2])}, got none "
            f"among {some(labels.names)}"
        )
    text, written, left_out = _texts(labels, key, places, set(table.names))
    if not text:
        raise DataError(
            f"expected a column with classes beside {key!r}, got {some(left_out) or 'none'}: "
            "a class is a text, or one of a few numbers"
        )
    remarks = [f"columns from a second file: {some(text)}"]
    if missing:
        remarks.append(f"{count(missing, 'patient')} not in the second file")
    if left_out:
        remarks.append(f"columns of the second file left out: {some(left_out)}")
    both = hashlib.sha256(f"{table.sha256}+{labels.sha256}".encode()).hexdigest()
    return replace(
        table,
        text={**table.text, **text},
        about=(*table.about, *text),
        label=likely_class(text) or next(iter(text)),
        remarks=(*table.remarks, *remarks),
        sha256=both,
        written={**table.written, **written},
    )


def _places(table: Table, labels: Table) -> tuple[str, np.ndarray]:
    """Return the column of IDs in the second table, and for each patient its row there, or -1."""
    best, found = "", np.full(table.n_rows, -1)
    for name in labels.names:
        row = {cell: i for i, cell in enumerate(labels.as_text(name).tolist()) if cell}
        here = np.array([row.get(patient, -1) for patient in table.ids], dtype=int)
        if here.size and (here >= 0).sum() > (found >= 0).sum():
            best, found = name, here
    if not table.ids and labels.n_rows == table.n_rows:  # without IDs the order is all there is
        return "", np.arange(table.n_rows)
    return best, found


def _texts(
    labels: Table, key: str, places: np.ndarray, taken: set[str]
) -> tuple[dict[str, Text], dict[str, Text], list[str]]:
    """Return columns that may be classes, in the order of the patients, as written, and others'
    names.
    """
    result: dict[str, Text] = {}
    written: dict[str, Text] = {}
    left_out = []
    for name in labels.names:
        if name == key:
            continue
        cells = np.append(labels.as_text(name), "")
        if name in labels.number_names and len(np.unique(cells)) > MOST_LEVELS + 1:
            left_out.append(name)
            continue
        new = f"{name} (second file)" if name in taken else name
        at = np.where(places < 0, len(cells) - 1, places)
        result[new] = cells[at]
        if name in labels.written:
            written[new] = np.append(labels.written[name], "")[at]
    return result, written, left_out


# --------------------------------------------------------------------------------------------------
# Gene symbols of features: from a column of the file or a file beside it, and blocks of them.
#
# Features keep their own names, such as probe IDs, for one gene may have several. A symbol becomes
# a block of its features, so that a rule can say `mean(ABL1)`.


MOST_SYMBOLS: Final = 5_000  # that become blocks; those with most features come first
USUAL: Final = re.compile(
    r"(pr_|hgnc_|mgi_|official_?|external_?)?(gene_?)?"
    r"(symbols?|names?|short_?names?|assignment)|feature_names?|identifier|ilmn_gene|symbol|hgnc|genes?",
    re.IGNORECASE,
)
BETWEEN: Final = re.compile(r"\s*///\s*|\s*;\s*|\s*\|\s*")  # several genes of one probe
LEGAL: Final = re.compile(r"[A-Za-z][\w.@/-]{0,49}")
UNKNOWN: Final = frozenset(["", "---", "-", "--", "na", "n/a", "nan", "none", "null", "unknown"])
LEAST_SHARE: Final = 0.05  # of the features that an annotation file must know


def symbol_column(names: Sequence[str]) -> str | None:
    """Return the name among these that most likely stands above symbols.

    >>> symbol_column(["Gene title", "Gene symbol"]), symbol_column(["age", "sex"])
    ('Gene symbol', None)
    """
    plain = {name: re.sub(r"[\s._-]+", "_", name.strip()).lower() for name in names}
    likely = [name for name in names if USUAL.fullmatch(plain[name])]
    likely.sort(key=lambda name: "symbol" not in plain[name])
    return likely[0] if likely else None


def tidy_symbols(raw: Sequence[str]) -> tuple[str, ...]:
    """Return one symbol for each feature, "" where there is none; of several genes the first
    counts.

    >>> tidy_symbols(["DDR1 /// MIR4640", "---", " ABL1 "])
    ('DDR1', '', 'ABL1')
    """
    first = (BETWEEN.split(cell.strip(), maxsplit=1)[0].strip() for cell in raw)
    return tuple("" if name.lower() in UNKNOWN else name for name in first)


def symbol_blocks(
    table: Table, most: int = MOST_SYMBOLS, wanted: Collection[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return features of each symbol, or of those wanted; a feature's own name needs no block."""
    members: dict[str, list[str]] = defaultdict(list)
    taken = set(table.names)
    for name, symbol in zip(table.number_names, table.symbols, strict=False):
        if wanted is not None and symbol not in wanted:
            continue
        if symbol not in taken and LEGAL.fullmatch(symbol):
            members[symbol].append(name)
    kept = sorted(members, key=lambda symbol: -len(members[symbol]))[:most]
    return {symbol: tuple(members[symbol]) for symbol in kept}


def symbol_remark(table: Table) -> tuple[str, ...]:
    """Return how many features have a symbol, as a remark."""
    known = sum(map(bool, table.symbols))
    if not known:
        return ()
    genes = len({*table.symbols} - {""})
    text = f"{count(known, 'feature')} with a gene symbol, {count(genes, 'gene')} in all"
    if genes > MOST_SYMBOLS:
        text += f": the {MOST_SYMBOLS:,} with most features become blocks by themselves"
    return (text,)


def with_symbols(table: Table, annotation: Table) -> Table:
    """Return the table with the symbols that a second one, with IDs and symbols, gives its
    features.
    """
    ids = max(annotation.names, key=lambda name: _shared(table, annotation, name))
    known = _shared(table, annotation, ids)
    if known < max(1, LEAST_SHARE * len(table.number_names)):
        raise DataError(
            f"expected a column with names of features such as {some(table.number_names[:2])}, "
            f"got none among {some(annotation.names)}: give the annotation of this platform"
        )
    others = [name for name in annotation.names if name != ids]
    wanted = symbol_column(others) or (others[0] if len(others) == 1 else None)
    if wanted is None:
        raise DataError(
            f"expected a column called symbol beside {ids!r}, got "
            f"{some(others) or 'no other column'}: name it so"
        )
    symbols = tidy_symbols(annotation.as_text(wanted).tolist())
    of = dict(zip(annotation.as_text(ids).tolist(), symbols, strict=True))
    new = tuple(of.get(name, "") for name in table.number_names)
    result = replace(table, symbols=new)
    return replace(result, remarks=(*table.remarks, *symbol_remark(result)))


def _shared(table: Table, annotation: Table, column: str) -> int:
    return len(np.intersect1d(annotation.as_text(column), np.array(table.number_names, dtype=str)))


# --------------------------------------------------------------------------------------------------
# Whether a table has one row per gene: told by the names of its rows and columns.
#
# A guess turns the table, so it is made on strong signs only: names of genes or of samples, a
# header that says gene or probe, a row of classes. A column that looks like a class speaks against
# it.


NAMES_LOOKED_AT: Final = 200  # names, or columns, that are enough to know
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


def id_column(table: Table) -> str | None:
    """Return the column that names the rows: unique numbers under a gene's header, or the first
    text.
    """
    first = table.number_names[0] if table.number_names and not table.is_sparse else ""
    if GENE_HEADERS.fullmatch(first) and len(np.unique(table.numbers[:, 0])) == table.n_rows:
        return first
    return next(iter(table.text), None)


def seems_turned(table: Table, *, has_classes: bool = False) -> bool:
    """Return whether names, sizes and columns tell that rows are genes; a guess on strong signs
    only.
    """
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
    """Return whether a column looks like the class of patients, which a table of genes does not
    have.
    """
    if any(LABELS.fullmatch(name) for name in table.number_names):
        return True
    symbol = symbol_column([name for name in table.text if name != ids])
    for name, cells in table.text.items():
        if name in (ids, symbol) or NO_PATIENT.fullmatch(name):
            continue
        levels = len(np.unique(cells[:1000]))
        if LABELS.fullmatch(name) or levels <= min(FEW, table.n_rows / 2):
            return True
    part = table.numbers[:1000, :NAMES_LOOKED_AT]
    return table.n_rows > 5 and any(len(np.unique(part[:, j])) == 2 for j in range(part.shape[1]))


def _alike(names: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Return whether most of some names are of a kind."""
    some_names = names[:NAMES_LOOKED_AT]
    return 2 * sum(bool(pattern.fullmatch(name)) for name in some_names) > len(some_names)


# --------------------------------------------------------------------------------------------------
# Tables with one row per gene and one column per patient, and their turning.
#
# Expression data are often written so. A table that seems to be is turned, and says so in `turned`:
# whoever knows better takes it back with `turn_back`.


Turn: TypeAlias = bool | Literal["auto"]


@dataclass(frozen=True)
class GenesBySamples:
    """Features in rows, patients in columns, and what is known of both."""

    names: Sequence[str]
    values: Matrix  # features x patients
    ids: Sequence[str]  # of the patients
    format: str
    symbols: Sequence[str] = ()
    about: Mapping[str, Sequence[str]] = field(default_factory=dict)  # one text per patient
    remarks: tuple[str, ...] = ()


def patients_by_genes(given: GenesBySamples, limits: Limits = LIMITS) -> Table:
    """Return the table with one row per patient."""
    limits.check_shape(
        given.values.shape[1],
        given.values.shape[0],
        cells=given.values.nnz if sp.issparse(given.values) else None,
    )
    names, remarked = tidy_names(given.names)
    ids, id_remarks = tidy_names(given.ids)
    columns = _apart(given.about, names)
    text = {name: column.cells for name, column in columns.items()}
    open_ = [f"column {name!r}: {each.remark}" for name, each in columns.items() if each.remark]
    values = given.values.T
    table = Table(
        numbers=sp.csr_array(values) if sp.issparse(values) else np.ascontiguousarray(values),
        number_names=tuple(names),
        text=text,
        format=given.format,
        remarks=(
            *given.remarks,
            *remarked,
            *(f"patients: {remark}" for remark in id_remarks),
            *open_,
        ),
        label=likely_class(text),
        ids=tuple(ids),
        symbols=tidy_symbols(given.symbols) if any(given.symbols) else (),
        about=tuple(text),
        written={n: each.written for n, each in columns.items() if each.written is not None},
    )
    return replace(table, remarks=(*table.remarks, *symbol_remark(table)))


def _apart(about: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, TextColumn]:
    """Return columns that describe patients, under names that no feature has."""
    taken = set(names)
    result: dict[str, TextColumn] = {}
    for raw, cells in about.items():
        name = " ".join(raw.split())[:NAMES_LOOKED_AT] or "description"
        while name in taken:
            name += " of the patient"
        taken.add(name)
        result[name] = tidy_cells(list(cells))
    return result


def oriented(read: Callable[[bool], Table], found: LabelRows, turn: Turn, limits: Limits) -> Table:
    """Return what `read` gives, turned where that is asked or the table seems to be one of genes.

    `read(True)` leaves the rows of labels out, `read(False)` takes every row as it is.
    """
    if turn is False:
        return read(False)
    table = read(bool(found))
    if turn is True or seems_turned(table, has_classes=found.has_classes):
        return turn_table(table, found, limits)
    return read(False) if found else table


def turn_table(table: Table, found: LabelRows | None = None, limits: Limits = LIMITS) -> Table:
    """Return the table with rows and columns exchanged; one of its columns names the features."""
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
    remarks = [f"columns that are no patients left out: {some(unused)}"] if unused else []
    remarks.append(_count_remark(table.n_rows, len(ids)))
    given = GenesBySamples(
        names=[names[i] for i in rest],
        values=values[rest] if classes else values,
        ids=ids,
        format=table.format,
        symbols=[] if symbol is None else table.text[symbol][rest].tolist(),
        about=about,
        remarks=(*table.remarks, *remarks),
    )
    return replace(patients_by_genes(given, limits), sha256=table.sha256, turned=True)


def _class_rows(names: Sequence[str], values: Matrix) -> list[int]:
    """Return rows that are called as classes are and hold a few whole numbers, such as 0 and 1."""
    if sp.issparse(values):
        return []
    called = [i for i, name in enumerate(names) if LABELS.fullmatch(name)]
    found = {i: np.unique(values[i][np.isfinite(values[i])]) for i in called}
    few = [i for i, seen in found.items() if 2 <= len(seen) <= FEW and (seen % 1 == 0).all()]
    return few if len(few) < len(names) else []


def _count_remark(features: int, patients: int) -> str:
    return (
        f"turned: the file has a row for each of {count(features, 'feature')} and a column for "
        f"each of {count(patients, 'patient')}"
    )


def turn_back(table: Table) -> Table:
    """Return the table as the file has it, rows and columns exchanged once more."""
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
    """Return the table, turned if more of these columns are there then: a second file may lie
    crosswise.

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
    """Return names of numeric columns that no text column has."""
    return tuple(f"{name} (numbers)" if name in text else name for name in names)
