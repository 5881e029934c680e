"""GCT text, versions 1.2 and 1.3: genes by samples, with what is known of both.

The second line states how many rows and columns there are, in 1.3 also how many columns describe
genes and how many rows describe samples. What it states must agree with what follows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hipad.data.formats.text.dialect import csv_rows
from hipad.data.formats.text.tabbed import first_line, read_tabbed
from hipad.data.genes.symbols import symbol_column
from hipad.data.genes.turning import GenesByPatients, patients_by_genes
from hipad.data.limits import Limits
from hipad.data.table import Table, tidy_names
from hipad.errors import DataError

VERSIONS: Final = ("#1.2", "#1.3")


class Stated(NamedTuple):
    """What the second line states."""

    rows: int
    columns: int
    about_genes: int  # columns between the name and the values
    about_samples: int  # rows between the header and the values


def looks_like_gct(data: bytes) -> bool:
    """Whether the first line names a version of GCT."""
    return first_line(data[:100])[0].strip() in VERSIONS


def read_gct(data: bytes, limits: Limits) -> Table:
    """One row per sample; the description of a gene, or its symbol column, is its symbol."""
    version, start = first_line(data)
    line, start = first_line(data, start)
    stated = _stated(line, has_more=version.strip() == "#1.3")
    limits.check_shape(stated.columns, stated.rows)
    header, body = first_line(data, start)
    names = next(csv_rows([header], "\t"), [])
    if len(names) != 1 + stated.about_genes + stated.columns:
        raise DataError(
            f"expected {1 + stated.about_genes + stated.columns:,} columns, as the second line of "
            f"the GCT file states, got {len(names):,}"
        )
    about: list[list[str]] = []
    for _ in range(stated.about_samples):
        row, body = first_line(data, body)
        about.append(next(csv_rows([row], "\t"), []))
        if len(about[-1]) != len(names):
            raise DataError(
                f"expected {len(names):,} cells in the row {row[:20]!r} of the GCT file"
            )
    # The header's own line is kept for the reader of the values.
    table = read_tabbed(header.encode() + b"\n" + data[body:], limits, format="GCT")
    return _turned(table, names, about, stated, limits)


def _stated(line: str, *, has_more: bool) -> Stated:
    words = line.split()
    sound = [word for word in words if word.isascii() and word.isdecimal() and len(word) < 10]
    wanted = 4 if has_more else 2
    if len(sound) != len(words) or len(words) < wanted:
        raise DataError(
            f"expected {wanted} numbers in the second line of the GCT file, got {line[:40]!r}"
        )
    rows, columns, *more = map(int, sound)
    return Stated(rows, columns, *(more[:2] if has_more else (1, 0)))


def _turned(
    table: Table, header: list[str], about: list[list[str]], stated: Stated, limits: Limits
) -> Table:
    if table.n_rows != stated.rows:
        raise DataError(
            f"expected {stated.rows:,} rows, as the second line of the GCT file states, got "
            f"{table.n_rows:,}: the file is cut, or has rows too many"
        )
    names, _ = tidy_names(header)
    genes, samples = names[1 : 1 + stated.about_genes], names[1 + stated.about_genes :]
    wrong = [name for name in samples if name not in table.number_names]
    if wrong:
        raise DataError(f"expected numbers for every sample, got text for {wrong[0][:40]!r}")
    place = {name: j for j, name in enumerate(table.number_names)}
    columns = [place[name] for name in samples]
    symbol = symbol_column(genes) or ("Description" if "Description" in genes else None)
    whole = len(columns) == len(place)
    given = GenesByPatients(
        names=table.as_text(names[0]).tolist(),
        values=table.numbers if whole else table.numbers[:, columns],
        ids=samples,
        format="GCT",
        symbols=table.text[symbol].tolist() if symbol in table.text else [],
        about={row[0]: row[1 + stated.about_genes :] for row in about},
        remarks=table.remarks,
    )
    return patients_by_genes(given, limits)
