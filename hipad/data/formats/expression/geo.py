"""GEO files: a series matrix, with values and what is known of each sample, and platform tables.

A series matrix has lines that begin with `!Series_` and `!Sample_`, then a table of probes by
samples between two marks. A characteristic such as `disease: ALL` becomes a column `disease`. What
is known of a sample is found by its accession, never by its position, where the file tells it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from hipad.data.formats.text.dialect import csv_rows
from hipad.data.formats.text.tabbed import read_tabbed
from hipad.data.genes.turning import GenesByPatients, patients_by_genes
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError
from hipad.wording import count, some

SERIES: Final = "GEO series matrix"
PLATFORM: Final = "GEO platform table"
BEGIN: Final = re.compile(rb"^!series_matrix_table_begin[ \t]*\r?\n", re.MULTILINE | re.IGNORECASE)
END: Final = re.compile(rb"^!series_matrix_table_end", re.MULTILINE | re.IGNORECASE)
PLATFORM_BEGIN: Final = re.compile(rb"^!platform_table_begin[ \t]*\r?\n", re.MULTILINE)
PLATFORM_END: Final = re.compile(rb"^!platform_table_end", re.MULTILINE)
COMMENTED: Final = re.compile(rb"(?:[#!^][^\n]*\n|\s*\n)*")
DESCRIBED: Final = re.compile(rb"^!Sample_[^\n]*", re.MULTILINE)
ACCESSION: Final = "!Sample_geo_accession"
USED: Final = (ACCESSION, "!Sample_title", "!Sample_source_name_ch1", "!Sample_description")
MOST_LINES: Final = 2_000  # that describe samples
LOOKED_AT: Final = 100_000
OTHER_KEY: Final = "characteristics"


def looks_like_series(data: bytes) -> bool:
    """Whether a text begins as a series matrix does."""
    start = data[:LOOKED_AT].lstrip()
    return start.startswith((b"!Series_", b"!Sample_")) or b"\n!Series_geo_accession" in start


def read_series(data: bytes, limits: Limits) -> Table:
    """One row per sample: its values, and as text what is known of it."""
    begin, end = BEGIN.search(data), END.search(data)
    if begin is None or end is None or end.start() < begin.end():
        raise DataError(
            "expected a GEO series matrix with its values between !series_matrix_table_begin and "
            "!series_matrix_table_end, got a part of one: download it again"
        )
    body = data[begin.end() : end.start()]
    if body.strip().count(b"\n") < 1:
        raise DataError(
            "expected values in the GEO series matrix, got none: this series keeps them in its "
            "supplementary files"
        )
    probes = read_tabbed(body, limits, format=SERIES)
    first = body.lstrip(b'\r\n"').split(b"\t", 1)[0].decode("utf-8", "replace").strip(' "')
    if first not in probes.names:
        raise DataError(f"expected ID_REF as the first column of the values, got {first[:40]!r}")
    return _turned(probes, first, data[: begin.start()], limits)


def _turned(probes: Table, first: str, above: bytes, limits: Limits) -> Table:
    wrong = [name for name in probes.text if name != first]
    if wrong:
        raise DataError(f"expected numbers for every sample, got text for {wrong[0][:40]!r}")
    names = probes.as_text(first).tolist()
    columns = [j for j, name in enumerate(probes.number_names) if name != first]
    ids = [probes.number_names[j] for j in columns]
    lines = list(_lines(above))
    places, remarks = _places(lines, ids)
    given = GenesByPatients(
        names=names,
        values=probes.numbers
        if len(columns) == len(probes.number_names)
        else probes.numbers[:, columns],
        ids=ids,
        format=SERIES,
        about=_about(lines, places),
        remarks=(*probes.remarks, *remarks),
    )
    return patients_by_genes(given, limits)


def _places(lines: list[tuple[str, list[str]]], ids: list[str]) -> tuple[list[int], list[str]]:
    """Where the lines speak of each sample, or -1: by its accession, and what does not match."""
    told = next((cells for key, cells in lines if key == ACCESSION), None)
    if told is None:
        for key, cells in lines:
            if len(cells) != len(ids):
                raise DataError(
                    f"expected {len(ids):,} cells in the line {key[:40]!r}, one per sample, got "
                    f"{len(cells):,}: download the file again"
                )
        remark = f"no line {ACCESSION}: samples are matched with what is known of them by position"
        return list(range(len(ids))), [remark] if lines else []
    names = [cell.strip() for cell in told]
    if twice := sorted(name for name, n in Counter(names).items() if n > 1):
        raise DataError(
            f"expected every accession once in {ACCESSION}, got {some(twice)} again: download the "
            "file again"
        )
    place = {name: at for at, name in enumerate(names)}
    lacking = [name for name in ids if name not in place]
    if len(lacking) == len(ids):
        raise DataError(
            f"expected the values' columns to be samples of {ACCESSION} ({some(names[:2])}), got "
            f"{some(ids[:2])}: nothing matches"
        )
    remarks = []
    if lacking:
        remarks.append(f"{count(len(lacking), 'sample')} without a description: {some(lacking)}")
    known = {*ids}
    if others := [name for name in names if name not in known]:
        remarks.append(f"{count(len(others), 'described sample')} without values: {some(others)}")
    if not lacking and [name for name in names if name in known] != ids:
        remarks.append("samples are described in another order than their values, matched by name")
    for key, cells in lines:
        if len(cells) != len(names):
            raise DataError(
                f"expected {len(names):,} cells in the line {key[:40]!r}, one per sample, got "
                f"{len(cells):,}: download the file again"
            )
    return [place.get(name, -1) for name in ids], remarks


def _about(lines: list[tuple[str, list[str]]], places: list[int]) -> dict[str, list[str]]:
    """What the lines above the values say of each sample."""
    result: dict[str, list[str]] = {}
    for key, every in lines:
        cells = [every[at] if at >= 0 else "" for at in places]
        if key == ACCESSION:
            continue
        if key.startswith("!Sample_characteristics"):
            for i, cell in enumerate(cells):
                name, colon, value = cell.partition(":")
                name = name.strip() if colon else OTHER_KEY
                if cell:
                    place = result.setdefault(name or OTHER_KEY, [""] * len(cells))
                    place[i] = place[i] or (value if colon else cell).strip()
        elif len(set(cells)) > 1:
            result.setdefault(key.removeprefix("!Sample_").removesuffix("_ch1"), cells)
    return result


def _lines(above: bytes) -> Iterator[tuple[str, list[str]]]:
    """The lines about samples that are used, characteristics first."""
    found = []
    for number, line in enumerate(DESCRIBED.finditer(above)):
        if number >= MOST_LINES:
            raise DataError(f"expected at most {MOST_LINES:,} lines about samples, got more")
        text = line.group().decode("utf-8", "replace").rstrip("\r")
        if text.startswith(("!Sample_characteristics", *USED)):
            key, *cells = next(csv_rows([text], "\t"))
            found.append((key.strip(), cells))
    return iter(sorted(found, key=lambda pair: not pair[0].startswith("!Sample_char")))


def looks_like_platform(data: bytes) -> bool:
    """Whether a text begins as a table of a platform's probes does."""
    start = data[:LOOKED_AT]
    return start.startswith((b"^Annotation", b"^PLATFORM", b"^Platform", b"#ID = ", b"#ID\t="))


def read_platform(data: bytes, limits: Limits) -> Table:
    """The table of probes in an .annot file or a platform's full table."""
    begin, end = PLATFORM_BEGIN.search(data), PLATFORM_END.search(data)
    if begin is None:
        comments = COMMENTED.match(data)
        start = comments.end() if comments else 0
        return read_tabbed(data[start:], limits, format=PLATFORM)
    return read_tabbed(
        data[begin.end() : end.start() if end else len(data)], limits, format=PLATFORM
    )
