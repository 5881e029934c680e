"""Gene expression files: GCT, GEO series and platforms, Matrix Market, 10x folders."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from hipad.data.delimited import first_line, read_tabbed
from hipad.data.dialect import NEWLINE, count_letters, csv_rows
from hipad.data.limits import MOST_MEMBERS, Limits, unpacked
from hipad.data.matrices import empty_columns_remark, used_columns
from hipad.data.orientation import GenesBySamples, patients_by_genes, symbol_column
from hipad.data.table import Table, tidy_names
from hipad.exceptions import DataError
from hipad.utils import count, some

# --------------------------------------------------------------------------------------------------
# GCT text, versions 1.2 and 1.3: genes by samples, with what is known of both.
#
# The second line states how many rows and columns there are, in 1.3 also how many columns describe
# genes and how many rows describe samples. What it states must agree with what follows.


VERSIONS: Final = ("#1.2", "#1.3")


class Stated(NamedTuple):
    """What the second line states."""

    rows: int
    columns: int
    about_genes: int  # columns between the name and the values
    about_samples: int  # rows between the header and the values


def looks_like_gct(data: bytes) -> bool:
    """Return whether the first line names a version of GCT."""
    return first_line(data[:100])[0].strip() in VERSIONS


def read_gct(data: bytes, limits: Limits) -> Table:
    """Return one row per sample; the description of a gene, or its symbol column, is its symbol."""
    version, start = first_line(data)
    line, start = first_line(data, start)
    stated = _gct_shape(line, has_more=version.strip() == "#1.3")
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
    return _gct_transposed(table, names, about, stated, limits)


def _gct_shape(line: str, *, has_more: bool) -> Stated:
    words = line.split()
    sound = [word for word in words if word.isascii() and word.isdecimal() and len(word) < 10]
    wanted = 4 if has_more else 2
    if len(sound) != len(words) or len(words) < wanted:
        raise DataError(
            f"expected {wanted} numbers in the second line of the GCT file, got {line[:40]!r}"
        )
    rows, columns, *more = map(int, sound)
    return Stated(rows, columns, *(more[:2] if has_more else (1, 0)))


def _gct_transposed(
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
    given = GenesBySamples(
        names=table.as_text(names[0]).tolist(),
        values=table.numbers if whole else table.numbers[:, columns],
        ids=samples,
        format="GCT",
        symbols=table.text[symbol].tolist() if symbol in table.text else [],
        about={row[0]: row[1 + stated.about_genes :] for row in about},
        remarks=table.remarks,
    )
    return patients_by_genes(given, limits)


# --------------------------------------------------------------------------------------------------
# GEO files: a series matrix, with values and what is known of each sample, and platform tables.
#
# A series matrix has lines that begin with `!Series_` and `!Sample_`, then a table of probes by
# samples between two marks. A characteristic such as `disease: ALL` becomes a column `disease`.
# What is known of a sample is found by its accession, never by its position, where the file tells
# it.


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
    """Return whether a text begins as a series matrix does."""
    start = data[:LOOKED_AT].lstrip()
    return start.startswith((b"!Series_", b"!Sample_")) or b"\n!Series_geo_accession" in start


def read_series(data: bytes, limits: Limits) -> Table:
    """Return one row per sample: its values, and as text what is known of it."""
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
    return _geo_transposed(probes, first, data[: begin.start()], limits)


def _geo_transposed(probes: Table, first: str, above: bytes, limits: Limits) -> Table:
    wrong = [name for name in probes.text if name != first]
    if wrong:
        raise DataError(f"expected numbers for every sample, got text for {wrong[0][:40]!r}")
    names = probes.as_text(first).tolist()
    columns = [j for j, name in enumerate(probes.number_names) if name != first]
    ids = [probes.number_names[j] for j in columns]
    lines = list(_lines(above))
    places, remarks = _places(lines, ids)
    given = GenesBySamples(
        names=names,
        values=probes.numbers
        if len(columns) == len(probes.number_names)
        else probes.numbers[:, columns],
        ids=ids,
        format=SERIES,
        about=_geo_metadata(lines, places),
        remarks=(*probes.remarks, *remarks),
    )
    return patients_by_genes(given, limits)


def _places(lines: list[tuple[str, list[str]]], ids: list[str]) -> tuple[list[int], list[str]]:
    """Return where the lines speak of each sample, or -1: by its accession, and what does not
    match.
    """
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


def _geo_metadata(lines: list[tuple[str, list[str]]], places: list[int]) -> dict[str, list[str]]:
    """Return what the lines above the values say of each sample."""
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
    """Return the lines about samples that are used, characteristics first."""
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
    """Return whether a text begins as a table of a platform's probes does."""
    start = data[:LOOKED_AT]
    return start.startswith((b"^Annotation", b"^PLATFORM", b"^Platform", b"#ID = ", b"#ID\t="))


def read_platform(data: bytes, limits: Limits) -> Table:
    """Return the table of probes in an .annot file or a platform's full table."""
    begin, end = PLATFORM_BEGIN.search(data), PLATFORM_END.search(data)
    if begin is None:
        comments = COMMENTED.match(data)
        start = comments.end() if comments else 0
        return read_tabbed(data[start:], limits, format=PLATFORM)
    return read_tabbed(
        data[begin.end() : end.start() if end else len(data)], limits, format=PLATFORM
    )


# --------------------------------------------------------------------------------------------------
# Matrix Market text (.mtx): the places and values of a matrix that is mostly zero.
#
# The first line says what follows, and its sizes are held against the limits and the length of the
# file before anything is made of it.


MATRIX_ALONE: Final = "Matrix Market"
MARK: Final = "%%matrixmarket"
KINDS: Final = ("coordinate", "array")
FIELDS: Final = ("real", "integer", "double", "pattern", "unsigned-integer")
SYMMETRIES: Final = ("general", "symmetric", "skew-symmetric")
MOST_COMMENTS: Final = 10_000


class Sizes(NamedTuple):
    """What the head of the file states, and where the values begin."""

    rows: int
    columns: int
    stored: int
    start: int


def looks_like_matrix_market(data: bytes) -> bool:
    """Return whether the first words are those of the format."""
    return data[:20].lower().startswith(MARK.encode())


def read_matrix_market(data: bytes, limits: Limits) -> Table:
    """Return a matrix alone: its rows are patients, its columns are called x1, x2, ..."""
    X = market_matrix(data, limits)
    if not X.shape[1]:
        raise DataError("expected columns of numbers, got a matrix without columns")
    n_columns = X.shape[1]
    X, used = used_columns(X)
    columns = np.arange(n_columns) if used is None else used
    names = tuple(f"x{j}" for j in (columns + 1).tolist())
    remark = "a Matrix Market file names neither rows nor columns: give classes in a second file"
    told = (remark, *empty_columns_remark(n_columns, used))
    return Table(X, names, {}, MATRIX_ALONE, told)


def market_matrix(data: bytes, limits: Limits) -> sp.csr_array:
    """Return the matrix, checked and read."""
    sizes = _sizes(data, limits)
    limits.check_shape(sizes.rows, sizes.columns, cells=sizes.stored)
    limits.check_content(sizes.rows, sizes.stored)
    lines = count_letters(data[sizes.start :], NEWLINE) + 1
    if sizes.stored > lines:
        raise DataError(
            f"expected {sizes.stored:,} values, as the Matrix Market file states, got at most "
            f"{lines:,} lines: the file is cut"
        )
    from scipy.io import mmread  # takes its time to load, and few tables need it

    try:
        X = mmread(io.BytesIO(data), spmatrix=False)
        result = sp.csr_array(X, dtype=np.float64)
    except MemoryError:
        raise
    except Exception as error:  # the parser lets errors of many kinds through
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"the Matrix Market file is damaged ({reason}): save it again") from error
    if result.shape != (sizes.rows, sizes.columns):
        raise DataError("the Matrix Market file is damaged (its sizes differ): save it again")
    result.sum_duplicates()
    return result


def _sizes(data: bytes, limits: Limits) -> Sizes:
    head, start = first_line(data[: 2**16])
    words = head.lower().split()
    if (
        len(words) != 5
        or words[:2] != [MARK, "matrix"]
        or words[2] not in KINDS
        or words[3] not in FIELDS
        or words[4] not in SYMMETRIES
    ):
        raise DataError(
            "expected `%%MatrixMarket matrix coordinate real general` or the like in the first "
            f"line, got {head[:60]!r}"
        )
    for _ in range(MOST_COMMENTS):
        line, start = first_line(data, start)
        if line.strip() and not line.lstrip().startswith("%"):
            break
        if start >= len(data):
            break
    return _market_shape(line, words[2] == "array", start)


def _market_shape(line: str, is_dense: bool, start: int) -> Sizes:
    numbers = line.split()
    wanted = 2 if is_dense else 3
    if len(numbers) != wanted or not all(
        word.isascii() and word.isdecimal() and len(word) < 16 for word in numbers
    ):
        raise DataError(
            f"expected {wanted} whole numbers, the sizes of the matrix, got {line[:40]!r}"
        )
    rows, columns, *rest = map(int, numbers)
    stored = rows * columns if is_dense else rest[0]
    return Sizes(rows, columns, stored, start)


# --------------------------------------------------------------------------------------------------
# A folder of 10x Genomics as one archive: a matrix of counts, its features and its barcodes.
#
# The archive is a .zip, a .tar or a .tar.gz; its members may be packed with gzip each. Only the
# three members are looked at, where they lie in memory: nothing is written to disk, so that no path
# in the archive can lead anywhere.


MATRIX: Final = ("matrix.mtx",)
FEATURES: Final = ("features.tsv", "genes.tsv")
BARCODES: Final = ("barcodes.tsv",)
TAR_MAGIC: Final = b"ustar"
MAGIC_PLACE: Final = 257

Members = Mapping[str, bytes]


def looks_like_tar(data: bytes) -> bool:
    """Return whether the mark of a tar archive stands where it must."""
    return data[MAGIC_PLACE : MAGIC_PLACE + len(TAR_MAGIC)] == TAR_MAGIC


def has_matrix(names: list[str]) -> bool:
    """Return whether an archive with these members may be a folder of 10x."""
    return any(_called(name, MATRIX) for name in names)


def _called(path: str, names: tuple[str, ...]) -> bool:
    """Return whether a member has one of these names, packed or not, perhaps with words
    before it.
    """
    own = path.rsplit("/", 1)[-1].removesuffix(".gz")
    return not own.startswith("._") and own.endswith(names)


def _is_used(path: str) -> bool:
    return _called(path, MATRIX + FEATURES + BARCODES)


def read_zipped_folder(data: bytes, limits: Limits) -> Table:
    """From a .zip whose members were looked at before."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist() if _is_used(name)}
    except Exception as error:  # zipfile lets errors of many kinds through
        raise DataError(f"the archive is damaged ({error}): pack it again") from error
    return _read_folder(members, limits)


def read_tar_folder(data: bytes, limits: Limits) -> Table:
    """From a .tar, of which plain files are read only."""
    members: dict[str, bytes] = {}
    seen = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                seen += 1
                if seen > MOST_MEMBERS:
                    raise DataError(f"expected at most {MOST_MEMBERS:,} members, got more")
                if not member.isreg() or member.issparse() or not _is_used(member.name):
                    continue
                if member.size > len(data):
                    raise DataError("the archive is damaged (a member is cut): pack it again")
                file = archive.extractfile(member)
                members[member.name] = b"" if file is None else file.read()
    except DataError:
        raise
    except Exception as error:  # tarfile lets errors of many kinds through
        raise DataError(f"the archive is damaged ({error}): pack it again") from error
    if not members:
        raise DataError(
            "expected matrix.mtx, features.tsv and barcodes.tsv in the archive, got none of them: "
            "unpack it and give the file in it"
        )
    return _read_folder(members, limits)


def _read_folder(members: Members, limits: Limits) -> Table:
    counts = market_matrix(_member(members, MATRIX, limits), limits)
    features = _rows(_member(members, FEATURES, limits), limits)
    barcodes = [row[0] for row in _rows(_member(members, BARCODES, limits), limits)]
    if counts.shape != (len(features), len(barcodes)):
        raise DataError(
            f"expected a matrix of {len(features):,} features x {len(barcodes):,} barcodes, as the "
            f"files beside it list, got {counts.shape[0]:,} x {counts.shape[1]:,}"
        )
    symbols = [row[1] if len(row) > 1 else "" for row in features]
    names = [row[0] for row in features]
    given = GenesBySamples(
        names, counts, barcodes, "10x folder", [] if symbols == names else symbols
    )
    return patients_by_genes(given, limits)


def _member(members: Members, names: tuple[str, ...], limits: Limits) -> bytes:
    found = [path for path in members if _called(path, names)]
    if len(found) != 1:
        raise DataError(
            f"expected one {' or '.join(names)} in the 10x folder, got "
            f"{some(found) if found else 'none'}: pack the files of one sample"
        )
    return unpacked(members[found[0]], limits)


def _rows(data: bytes, limits: Limits) -> list[list[str]]:
    limits.check_shape(1, count_letters(data, NEWLINE))
    text = data.decode("utf-8", "replace").replace("\0", " ")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        return [row for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    except csv.Error as error:
        raise DataError(f"the lists in the 10x folder are damaged ({error})") from error
