"""Read a table from a file or bytes; its format is found from the content, never from the name."""

from __future__ import annotations

import codecs
import hashlib
import io
from dataclasses import replace
from pathlib import Path
from typing import Final

from hipad.data.formats.archive import check_archive, unpacked
from hipad.data.formats.expression.gct import looks_like_gct, read_gct
from hipad.data.formats.expression.geo import (
    looks_like_platform,
    looks_like_series,
    read_platform,
    read_series,
)
from hipad.data.formats.expression.matrix_market import looks_like_matrix_market, read_matrix_market
from hipad.data.formats.expression.tenx import (
    has_matrix,
    looks_like_tar,
    read_tar_folder,
    read_zipped_folder,
)
from hipad.data.formats.libsvm import looks_like_libsvm, read_libsvm
from hipad.data.formats.npz import read_npz
from hipad.data.formats.parquet import read_parquet
from hipad.data.formats.text.delimited import read_delimited
from hipad.data.formats.text.label_lines import cut_label_lines
from hipad.data.genes.describing import LabelRows
from hipad.data.genes.turning import Turn, oriented, turn_table
from hipad.data.limits import LIMITS, Limits
from hipad.data.table import Table
from hipad.errors import DataError, unopened
from hipad.optional import require

FORMATS: Final = (
    "CSV", "TSV", "CSV.gz", "XLSX", "Parquet", "NPZ", "LIBSVM", "GEO series matrix", "GCT",
    "MTX", "10x folder (ZIP, TAR.gz)", "h5ad",
)  # fmt: skip
PIECE_BYTES: Final = 2**20
HDF5: Final = b"\x89HDF\r\n\x1a\n"
WRAPPED: Final = (
    (looks_like_series, read_series),
    (looks_like_platform, read_platform),
    (looks_like_gct, read_gct),
)
REFUSED: Final = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls): save it as .xlsx or CSV",
    b"\x93NUMPY": "a single NumPy array: save X and y together with numpy.savez",
    b"%PDF": "a PDF document: save the table as CSV",
    b"BZh": "a bzip2 archive: unpack it, or pack it with gzip",
    b"\xfd7zXZ": "an xz archive: unpack it, or pack it with gzip",
}


def read_table(
    source: bytes | str | Path,
    filename: str = "",
    *,
    limits: Limits = LIMITS,
    turn: Turn = "auto",
) -> Table:
    """Read a table in one of the `FORMATS`.

    `filename` only serves in messages. What the reader noticed is in the table's `remarks`. A table
    that seems to have one row per gene is turned; `turn` True or False says whether it has.
    """
    if not isinstance(source, bytes):
        filename = filename or Path(source).name
        source = _read_bytes(Path(source), limits)
    where = f"{filename}: " if filename else ""
    try:
        check_size(len(source), limits)
        table = _read(unpacked(source, limits), limits, turn)
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


def _read(data: bytes, limits: Limits, turn: Turn) -> Table:
    if data.startswith(b"PAR1"):
        return _turned(read_parquet(data, limits), turn, limits)
    if data.startswith(b"PK\x03\x04"):
        return _read_archive(data, limits, turn)
    if data.startswith(HDF5):
        require(["h5py"], "reading an .h5ad file")
        from hipad.data.formats.expression.h5ad import read_h5ad  # loads h5py, as few tables do

        return read_h5ad(data, limits)
    if looks_like_tar(data):
        return read_tar_folder(data, limits)
    for start, what in REFUSED.items():
        if data.startswith(start):
            raise DataError(f"expected one of {', '.join(FORMATS)}, got {what}")
    text, remark = _as_utf8(data, limits)
    table = _read_text(text, limits, turn)
    return replace(table, remarks=remark + table.remarks)


def _read_text(text: bytes, limits: Limits, turn: Turn) -> Table:
    for looks_like, read in WRAPPED:
        if looks_like(text):
            return read(text, limits)
    if looks_like_matrix_market(text):
        table = read_matrix_market(text, limits)
        return turn_table(table, limits=limits) if turn is True else table
    if looks_like_libsvm(text):
        return read_libsvm(text, limits)
    rest, found = cut_label_lines(text)
    return oriented(lambda cut: read_delimited(rest if cut else text, limits), found, turn, limits)


def _turned(table: Table, turn: Turn, limits: Limits) -> Table:
    return oriented(lambda _: table, LabelRows([]), turn, limits)


def _read_archive(data: bytes, limits: Limits, turn: Turn) -> Table:
    members = check_archive(data, limits)
    if "xl/workbook.xml" in members:
        require(["openpyxl"], "reading an Excel workbook")
        from hipad.data.formats.workbook import read_workbook  # loads openpyxl, as few tables do

        return read_workbook(data, limits, turn)
    if members and all(member.endswith(".npy") for member in members):
        return read_npz(data, limits)
    if has_matrix(members):
        return read_zipped_folder(data, limits)
    raise DataError("expected a table, got a ZIP archive: unpack it and give the file in it")


def _as_utf8(data: bytes, limits: Limits) -> tuple[bytes, tuple[str, ...]]:
    """Text in UTF-8, made from UTF-16 or, when it is neither, from Windows' Latin letters."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _transcode(data, "utf-16", limits), ("read as UTF-16",)
    if b"\0" in data[:100_000]:
        raise DataError(f"expected one of {', '.join(FORMATS)}, got a file of another kind")
    data = data.removeprefix(codecs.BOM_UTF8)
    wrong = _not_utf8(data)
    if wrong is None:
        return data, ()
    line = data.count(b"\n", 0, wrong) + 1
    remark = f"not UTF-8 (line {line:,}), read as Windows Latin-1: check names with accents"
    return _transcode(data, "cp1252", limits), (remark,)


def _not_utf8(data: bytes) -> int | None:
    """Where text stops being UTF-8; read in pieces, as text takes up to four times the memory."""
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
