"""Gene symbols of features: from a column of the file or a file beside it, and blocks of them.

Features keep their own names, such as probe IDs, for one gene may have several. A symbol becomes a
block of its features, so that a rule can say `mean(ABL1)`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hipad.data.table import Table
from hipad.errors import DataError
from hipad.wording import count, some

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
    """The name among these that most likely stands above symbols.

    >>> symbol_column(["Gene title", "Gene symbol"]), symbol_column(["age", "sex"])
    ('Gene symbol', None)
    """
    plain = {name: re.sub(r"[\s._-]+", "_", name.strip()).lower() for name in names}
    likely = [name for name in names if USUAL.fullmatch(plain[name])]
    likely.sort(key=lambda name: "symbol" not in plain[name])
    return likely[0] if likely else None


def tidy_symbols(raw: Sequence[str]) -> tuple[str, ...]:
    """One symbol for each feature, "" where there is none; of several genes the first counts.

    >>> tidy_symbols(["DDR1 /// MIR4640", "---", " ABL1 "])
    ('DDR1', '', 'ABL1')
    """
    first = (BETWEEN.split(cell.strip(), maxsplit=1)[0].strip() for cell in raw)
    return tuple("" if name.lower() in UNKNOWN else name for name in first)


def symbol_blocks(
    table: Table, most: int = MOST_SYMBOLS, wanted: Collection[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Features of each symbol, or of those wanted; a feature's own name needs no block."""
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
    """How many features have a symbol, as a remark."""
    known = sum(map(bool, table.symbols))
    if not known:
        return ()
    genes = len({*table.symbols} - {""})
    told = f"{count(known, 'feature')} with a gene symbol, {count(genes, 'gene')} in all"
    if genes > MOST_SYMBOLS:
        told += f": the {MOST_SYMBOLS:,} with most features become blocks by themselves"
    return (told,)


def with_symbols(table: Table, annotation: Table) -> Table:
    """The table with the symbols that a second one, with IDs and symbols, gives its features."""
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
