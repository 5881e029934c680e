"""Read a table from a file or bytes; its format is found from the content, never from the name."""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from hipad.data.delimited import (
    TextTable,
    has_matrix,
    looks_like_gct,
    looks_like_matrix_market,
    looks_like_platform,
    looks_like_series,
    looks_like_tar,
    read_gct,
    read_matrix_market,
    read_platform,
    read_series,
    read_tar_folder,
    read_zipped_folder,
)
from hipad.data.file_format import (
    ENCODINGS,
    LIMITS,
    Answer,
    FileFormat,
    Limits,
    Question,
    check_archive,
    unpacked,
)
from hipad.data.matrices import looks_like_libsvm, read_libsvm, read_npz
from hipad.data.orientation import LabelRows, Turn, oriented, turn_table
from hipad.data.parquet import read_parquet
from hipad.data.preprocessing import with_gap_codes
from hipad.data.table import Table
from hipad.exceptions import DataError, unopened
from hipad.utils import require

PIECE_BYTES: Final = 2**20
WESTERN: Final = "äöüßÄÖÜéèêëàâçîïôùûÉÈÀñáíóúÑåøæÅØÆãõ"
HDF5: Final = b"\x89HDF\r\n\x1a\n"
OLE: Final = b"\xd0\xcf\x11\xe0"  # what Office wrote before 2007, and a cover for passwords since
REFUSED: Final = {
    b"\x93NUMPY": "a single NumPy array: save X and y together with numpy.savez",
    b"%PDF": "a PDF document: save the table as CSV",
    b"BZh": "a bzip2 archive: unpack it, or pack it with gzip",
    b"\xfd7zXZ": "an xz archive: unpack it, or pack it with gzip",
    b"7z\xbc\xaf": "a 7z archive: unpack it and give the file in it",
    b"Rar!": "a RAR archive: unpack it and give the file in it",
    b"$FL2": "an SPSS file (.sav): save it as CSV or XLSX in SPSS",
    b"$FL3": "an SPSS file (.zsav): save it as CSV or XLSX in SPSS",
    b"<stata_dta>": "a Stata file (.dta): save it as CSV with `export delimited`",
    b"RDX": "R's own data (.RData): save the table with write.csv",
    b"RDA": "R's own data (.RData): save the table with write.csv",
    b"X\n\0\0\0": "R's own data (.rds): save the table with write.csv",
    b"SQLite format 3": "an SQLite database: save the table as CSV",
    b"{\\rtf": "a document of text (RTF): save the table as CSV",
}
ARCHIVES: Final = {
    "content.xml": "an OpenDocument file (.ods): save the table as XLSX or CSV",
    "word/document.xml": "a Word document: save the table as CSV",
    "ppt/presentation.xml": "a presentation: save the table as CSV",
    "xl/workbook.bin": "a binary workbook (.xlsb): save it as XLSX",
    "Index/Document.iwa": "a Numbers document: export the table as CSV or XLSX",
}
OLE_PARTS: Final = {
    "EncryptedPackage": "a workbook or document with a password: open it, take the password out "
    "(File, Info, Protect), and save it as XLSX",
    "WordDocument": "an old Word document (.doc): save the table as CSV",
    "PowerPoint Document": "an old presentation (.ppt): save the table as CSV",
}
MARKED_UP: Final = {
    b"<html": "a web page (HTML), as some programs name .xls: open it in a spreadsheet program and "
    "save it as XLSX",
    b"<!doctype html": "a web page (HTML): save the table as CSV",
    b"<table": "a web page (HTML), as some programs name .xls: open it in a spreadsheet program "
    "and save it as XLSX",
    b"<?xml": "an XML file: save the table as CSV or XLSX",
    b"{": "a JSON file: save the table as CSV",
    b"[": "a JSON file: save the table as CSV",
}


# --------------------------------------------------------------------------------------------------
# The formats: one table. What no entry knows is text with separators, or refused with a sentence.


@dataclass(frozen=True)
class Content:
    """A file as formats look at it: its bytes (text in UTF-8), and the members of an archive."""

    data: bytes
    members: tuple[str, ...] = ()


class Format(NamedTuple):
    """One format: what users call it, how its files are known, and what reads them.

    `is_text` says that it is looked for in text, after its encoding was found.
    """

    name: str
    looks_like: Callable[[Content], bool]
    read: Callable[[bytes, Limits, Turn, FileFormat], Table]
    is_text: bool = False


def _read_xlsx(data: bytes, limits: Limits, turn: Turn, stated: FileFormat) -> Table:
    require(["openpyxl"], "reading an Excel workbook")
    from hipad.data.excel import read_workbook

    return read_workbook(data, limits, turn, stated)


def _read_h5ad(data: bytes, limits: Limits, turn: Turn, stated: FileFormat) -> Table:
    require(["h5py"], "reading an .h5ad file")
    from hipad.data.hdf5 import read_h5ad

    return read_h5ad(data, limits)


def _read_market(data: bytes, limits: Limits, turn: Turn, stated: FileFormat) -> Table:
    table = read_matrix_market(data, limits)
    return turn_table(table, limits=limits) if turn is True else table


def _turned(table: Table, turn: Turn, limits: Limits) -> Table:
    return oriented(lambda _: table, LabelRows([]), turn, limits)


DELIMITED: Final = ("CSV", "TSV", "CSV.gz")  # read where no entry of the table knows the content
FORMAT_TABLE: Final = (
    Format("XLSX", lambda file: "xl/workbook.xml" in file.members, _read_xlsx),
    Format(
        "Parquet",
        lambda file: file.data.startswith(b"PAR1"),
        lambda data, limits, turn, stated: _turned(
            read_parquet(data, limits, stated), turn, limits
        ),
    ),
    Format(
        "NPZ",
        lambda file: bool(file.members) and all(name.endswith(".npy") for name in file.members),
        lambda data, limits, turn, stated: read_npz(data, limits),
    ),
    Format(
        "GEO series matrix",
        lambda file: looks_like_series(file.data),
        lambda data, limits, turn, stated: read_series(data, limits),
        is_text=True,
    ),
    Format(
        "GEO series matrix",
        lambda file: looks_like_platform(file.data),
        lambda data, limits, turn, stated: read_platform(data, limits),
        is_text=True,
    ),
    Format(
        "GCT",
        lambda file: looks_like_gct(file.data),
        lambda data, limits, turn, stated: read_gct(data, limits),
        is_text=True,
    ),
    Format("MTX", lambda file: looks_like_matrix_market(file.data), _read_market, is_text=True),
    Format(
        "LIBSVM",
        lambda file: looks_like_libsvm(file.data),
        lambda data, limits, turn, stated: read_libsvm(data, limits),
        is_text=True,
    ),
    Format(
        "10x folder (ZIP, TAR.gz)",
        lambda file: has_matrix(list(file.members)),
        lambda data, limits, turn, stated: read_zipped_folder(data, limits),
    ),
    Format(
        "10x folder (ZIP, TAR.gz)",
        lambda file: looks_like_tar(file.data),
        lambda data, limits, turn, stated: read_tar_folder(data, limits),
    ),
    Format("h5ad", lambda file: file.data.startswith(HDF5), _read_h5ad),
)
FORMATS: Final = (*DELIMITED, *dict.fromkeys(each.name for each in FORMAT_TABLE))


# --------------------------------------------------------------------------------------------------
# What is no table, and what to do with it.


def what_else(data: bytes) -> str | None:
    """Return what a file is that cannot be read, and what to do; None where it may be a table."""
    if data.startswith(OLE):
        for part, what in OLE_PARTS.items():
            if part.encode("utf-16-le") in data:
                return what
        return "an old Excel workbook (.xls): save it as .xlsx or CSV"
    for start, what in REFUSED.items():
        if data.startswith(start):
            return what
    begin = data[:1_000].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for start, what in MARKED_UP.items():
        if begin.startswith(start) and (len(start) > 1 or _is_json(data)):
            return what
    return None


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data[:100_000])
    except RecursionError:
        return True
    except ValueError as error:
        return len(data) > 100_000 and "pos" in vars(error) and error.pos > 90_000  # type: ignore[attr-defined]
    return True


# --------------------------------------------------------------------------------------------------
# From a file to a table.


def read_table(
    source: bytes | str | Path,
    filename: str = "",
    *,
    limits: Limits = LIMITS,
    turn: Turn = "auto",
    stated: FileFormat | None = None,
) -> Table:
    """Read a table in one of the `FORMATS`.

    Parameters
    ----------
    source : bytes, str or Path
        The content of the file, or where it is.
    filename : str
        Serves in messages only.
    limits : Limits
        What the file may cost.
    turn : bool or "auto"
        Whether the file has one row per gene; "auto" finds out.
    stated : FileFormat, optional
        How the file is written, where that is known; the rest is found from the content.

    Returns
    -------
    Table
        Its `reading` says how the file was understood and what is open, its `remarks` what was
        noticed on the way.

    Raises
    ------
    DataError
        The file cannot be read; the message says why, and what to do.

    See Also
    --------
    prepare : Make a matrix and labels of a table.
    hipad.data.FileFormat : How a file is written.

    Examples
    --------
    >>> from hipad import read_table
    >>> table = read_table(b"age;crp\\n31;1,5\\n40;k.A.\\n")
    >>> table.numbers.tolist(), table.reading.found.decimal, table.reading.gaps
    ([[31.0, 1.5], [40.0, nan]], ',', {'k.A.': 1})
    """
    stated = stated or FileFormat()
    if not isinstance(source, bytes):
        filename = filename or Path(source).name
        source = _read_bytes(Path(source), limits)
    where = f"{filename}: " if filename else ""
    try:
        check_size(len(source), limits)
        table = _read(unpacked(source, limits), limits, turn, stated)
        table = with_gap_codes(table, stated)
    except DataError as error:
        raise DataError(f"{where}{error}") from error
    return replace(table, sha256=hashlib.sha256(source).hexdigest())


def _read_bytes(path: Path, limits: Limits) -> bytes:
    try:
        check_size(path.stat().st_size, limits)
        return path.read_bytes()
    except DataError:
        raise
    except (OSError, ValueError) as error:
        raise unopened(path, error) from error


def check_size(size: int, limits: Limits) -> None:
    """Refuse a file that is empty or too large, before it is opened."""
    if size == 0:
        raise DataError("expected a table, got an empty file")
    if size > limits.file_bytes:
        raise DataError(
            f"expected a file of at most {limits.file_bytes / 2**20:,.0f} MB, "
            f"got {size / 2**20:,.0f} MB: leave out columns, or save it as Parquet or NPZ"
        )


def _read(data: bytes, limits: Limits, turn: Turn, stated: FileFormat) -> Table:
    is_archive = data.startswith(b"PK\x03\x04")
    content = Content(data, tuple(check_archive(data, limits)) if is_archive else ())
    for known in FORMAT_TABLE:
        if not known.is_text and known.looks_like(content):
            return known.read(data, limits, turn, stated)
    if is_archive:
        what = next((what for name, what in ARCHIVES.items() if name in content.members), None)
        if what is not None:
            raise DataError(f"expected one of {', '.join(FORMATS)}, got {what}")
        raise DataError("expected a table, got a ZIP archive: unpack it and give the file in it")
    if (what := what_else(data)) is not None:
        raise DataError(f"expected one of {', '.join(FORMATS)}, got {what}")
    text, encoding, remark, asked = as_utf8(data, limits, stated.encoding)
    table = _read_text(text, limits, turn, stated)
    reading = table.reading
    reading = replace(
        reading,
        found=replace(reading.found, encoding=encoding),
        questions=(*asked, *reading.questions),
    )
    return replace(table, remarks=remark + table.remarks, reading=reading)


def _read_text(text: bytes, limits: Limits, turn: Turn, stated: FileFormat) -> Table:
    for known in FORMAT_TABLE:
        if known.is_text and known.looks_like(Content(text)):
            return known.read(text, limits, turn, stated)
    rows = TextTable(text, limits, stated)
    lines = rows.label_lines()
    return oriented(lambda cut: rows.read(lines if cut else None), lines.found, turn, limits)


def as_utf8(
    data: bytes, limits: Limits, stated: str | None = None
) -> tuple[bytes, str, tuple[str, ...], tuple[Question, ...]]:
    """Return text in UTF-8, the encoding that it was in, a remark, and a question where that is
    open.
    """
    if stated is not None and not (stated == "utf-8" and _not_utf8(data) is None):
        encoding = _of_utf16(data) or "utf-16-le" if stated == "utf-16" else stated
        return _transcode(data, encoding, limits).removeprefix(codecs.BOM_UTF8), stated, (), ()
    if (wide := _of_utf16(data)) is not None:
        text = _transcode(data, wide, limits).removeprefix(codecs.BOM_UTF8)
        return text, "utf-16", ("read as UTF-16",), ()
    if b"\0" in data[:100_000]:
        raise DataError(f"expected one of {', '.join(FORMATS)}, got a file of another kind")
    data = data.removeprefix(codecs.BOM_UTF8)
    wrong = _not_utf8(data)
    if wrong is None:
        return data, "utf-8", (), ()
    line = data.count(b"\n", 0, wrong) + 1
    if _is_mostly_utf8(data):
        remark = f"not UTF-8 throughout (line {line:,}), wrong letters shown as \ufffd"
        return _transcode(data, "utf-8", limits), "utf-8", (remark,), ()
    encoding = _likeliest(data)
    remark = f"not UTF-8 (line {line:,}), read as {ENCODINGS[encoding]}: check names with accents"
    start = max(data.rfind(b"\n", 0, wrong), wrong - 30) + 1
    shown = data[start : wrong + 20].decode(encoding, "replace").split("\n")[0].strip()
    western = ("cp1252", "cp850", "mac_roman")
    likely = western if encoding in western else ("cp1251", "cp932", "gb18030", "cp1252")
    others = [name for name in likely if name != encoding]
    question = Question(
        "encoding",
        f"the file does not tell its encoding; read as {ENCODINGS[encoding]}, line {line:,} has "
        f"{shown!r}",
        tuple(Answer(ENCODINGS[name], {"encoding": name}) for name in others),
    )
    return _transcode(data, encoding, limits), encoding, (remark,), (question,)


def _of_utf16(data: bytes) -> str | None:
    """Return how UTF-16 is written here; None where it is not. It may lack its mark at the
    start.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    part = data[:1_000]
    if len(part) < 8 or b"\0" not in part:
        return None
    even, odd = part[::2].count(0), part[1::2].count(0)
    half = len(part) // 2
    if odd > 0.7 * half and even < 0.1 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * half and odd < 0.1 * half else None


def _is_mostly_utf8(data: bytes) -> bool:
    """Return whether many letters are sound in UTF-8 and few are not."""
    part = data[: 2**22].decode("utf-8", "replace")
    wrong = part.count("\ufffd")
    sound = sum(letter > "\x7f" for letter in part) - wrong
    return sound >= 4 * wrong > 0


MANY_HIGH: Final = 0.35  # of all letters: no Western language has so many beyond ASCII
CYRILLIC: Final = 0.92  # of these, in the half of the code page that holds Cyrillic letters
DOUBLE: Final = 0.05  # of these, where only the first byte of a Japanese letter may stand


def _likeliest(data: bytes) -> str:
    """Return the encoding that makes most letters of names."""
    part = data[: 2**20]
    high = re.findall(rb"[\x80-\xff]", part)
    if len(high) > MANY_HIGH * len(re.findall(rb"[A-Za-z\x80-\xff]", part)):
        return _not_western(part, b"".join(high))
    if not re.search(rb"[A-Za-z][\x80-\x9f]|[\x80-\x9f][A-Za-z]", part):
        return "cp1252"

    def letters(encoding: str) -> int:
        return sum(letter in WESTERN for letter in part.decode(encoding, "replace"))

    return max(("cp1252", "cp850", "mac_roman"), key=letters)


def _not_western(part: bytes, high: bytes) -> str:
    """Return the encoding of text of which most letters are beyond ASCII."""
    upper = len(re.findall(rb"[\xa8\xb8\xc0-\xff]", high))
    if upper > CYRILLIC * len(high):
        return "cp1251"
    first = len(re.findall(rb"[\x80-\xa0]", high)) > DOUBLE * len(high)
    for encoding in ("cp932", "gb18030") if first else ("gb18030", "cp932"):
        wrong = part.decode(encoding, "replace").count("\ufffd")
        if wrong <= 1:  # the last letter may be cut in two
            return encoding
    return "cp1251"


def _not_utf8(data: bytes) -> int | None:
    """Return where text stops being UTF-8; read in pieces, as text takes up to four times the
    memory.
    """
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), PIECE_BYTES):
        piece = data[start : start + PIECE_BYTES]
        try:
            decoder.decode(piece, final=start + PIECE_BYTES >= len(data))
        except UnicodeDecodeError as error:
            return max(0, start + error.start)
    return None


def _transcode(data: bytes, encoding: str, limits: Limits) -> bytes:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    result = io.BytesIO()
    for start in range(0, len(data), PIECE_BYTES):
        piece = data[start : start + PIECE_BYTES]
        text = decoder.decode(piece, final=start + PIECE_BYTES >= len(data))
        # Halves of letters, which UTF-16 may hold, cannot be written in UTF-8.
        result.write(text.encode("utf-8", errors="replace"))
        if result.tell() > 2 * limits.unpacked_bytes:
            raise DataError(f"expected at most {limits.unpacked_bytes:,} bytes of text, got more")
    return result.getvalue()
