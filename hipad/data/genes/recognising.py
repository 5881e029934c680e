"""Whether a table has one row per gene: told by the names of its rows and columns.

A guess turns the table, so it is made on strong signs only: names of genes or of samples, a header
that says gene or probe, a row of classes. A column that looks like a class speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from hipad.data.genes.symbols import symbol_column
from hipad.data.table import Table

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
