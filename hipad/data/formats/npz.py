"""NumPy archives: X (or the parts of a sparse matrix) and, where known, y and features.

What a member says of its own size is checked before it is unpacked, nothing is unpickled, and
members that are not used stay packed.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import scipy.sparse as sp

from hipad.data.formats.sparse_parts import empty_columns_remark, sparse_matrix, used_columns
from hipad.data.limits import Limits
from hipad.data.table import Matrix, Table, label_text, tidy_names
from hipad.data.texts import tidy_cells
from hipad.data.whole_numbers import EXACT, ROUNDED, reach_beyond_exact
from hipad.errors import DataError
from hipad.wording import some

MATRIX: Final = ("X", "data", "indices", "indptr", "row", "col", "shape", "format")
USED: Final = (*MATRIX, "y", "features", "feature_names")
MARKS: Final = ("_is_array",)  # what scipy writes beside the parts
LAST_CHARACTER: Final = 0x10FFFF
HALVES: Final = (0xD800, 0xDFFF)  # surrogates, which are no characters

Arrays = dict[str, np.ndarray]


def read_npz(data: bytes, limits: Limits) -> Table:
    """An archive with X (or the parts of a sparse matrix) and, where known, y and features."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = dict(_arrays(archive, limits))
            others = {_key(name) for name in archive.namelist()} - set(arrays) - set(MARKS)
    except DataError:
        raise
    except Exception as error:  # NumPy and zipfile let errors of many kinds through
        raise DataError(f"the archive cannot be read ({error}): save it again") from error
    X, remarks = _matrix(arrays, sorted(others), limits)
    X, raw, more = _named(arrays, X)
    names, told = tidy_names(raw)
    remarks += more
    if others:
        told.append(f"not used of the archive: {some(sorted(others))}")
    text, label = _labels(arrays.get("y"), X.shape[0], names)
    written = {}
    if label is not None and arrays["y"].dtype.kind in "US":
        column = tidy_cells(_readable(arrays["y"], "y"))
        written = {} if column.written is None else {label: column.written}
        told += [f"column {label!r}: {column.remark}"] if column.remark else []
    remarks = [*told, *remarks]
    kind = "NumPy archive"
    return Table(X, tuple(names), text, kind, tuple(remarks), label, written=written)


def _key(member: str) -> str:
    return member.removesuffix(".npy")


def _arrays(archive: zipfile.ZipFile, limits: Limits) -> Iterator[tuple[str, np.ndarray]]:
    for member in archive.infolist():
        shape, dtype = _check_member(archive, member)
        key = _key(member.filename)
        if key not in USED:
            continue
        if key == "X" and len(shape) == 2:
            limits.check_shape(*shape)
        if dtype.kind in "US" and dtype.itemsize > 4 * limits.text_characters:
            raise DataError(
                f"expected texts of at most {limits.text_characters:,} characters in {key}, got "
                f"{dtype}: shorten them"
            )
        with archive.open(member) as file:
            yield key, np.lib.format.read_array(file, allow_pickle=False)


def _check_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Refuse Python objects, and an array that claims to be larger than its bytes."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise DataError(
            f"{member.filename} holds Python objects, which could run code when opened: "
            "save X, y and features as plain arrays of numbers and text"
        )
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > member.file_size:
        raise DataError(f"{member.filename} is damaged: it holds less than it claims")
    return shape, dtype


def _matrix(arrays: Arrays, others: list[str], limits: Limits) -> tuple[Matrix, list[str]]:
    """The numbers, and a remark where floating point rounds them."""
    if "X" in arrays:
        values = X = arrays["X"]
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise DataError(f"expected X to be a matrix of numbers, got {X.ndim}-d {X.dtype}")
        limits.check_shape(*X.shape)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    else:
        X = sparse_matrix(arrays, others, limits)
        values = arrays["data"]
    if X.shape[1] == 0:
        raise DataError("expected columns of numbers, got a matrix without columns")
    if values.dtype.kind in "iu" and reach_beyond_exact(values, EXACT + 1):
        return X, [ROUNDED]
    return X, []


def _named(arrays: Arrays, X: Matrix) -> tuple[Matrix, list[Any], list[str]]:
    """The matrix with names of its columns; without names, empty ones of very many go."""
    n_columns = X.shape[1]
    if not sp.issparse(X) or "features" in arrays or "feature_names" in arrays:
        return X, _feature_names(arrays, n_columns), []
    X, used = used_columns(X)
    names = [f"x{j}" for j in (range(n_columns) if used is None else used.tolist())]
    return X, names, empty_columns_remark(n_columns, used)


def _feature_names(arrays: Arrays, n_columns: int) -> list[Any]:
    features = arrays.get("features", arrays.get("feature_names"))
    if features is None:
        return [f"x{j}" for j in range(n_columns)]
    if features.size != n_columns:
        raise DataError(
            f"expected one feature name per column, got {features.size} for {n_columns} columns"
        )
    if features.dtype.kind not in "USiu":
        raise DataError(f"expected feature names that are texts, got {features.dtype}")
    return _readable(features, "features").ravel().tolist()


def _labels(y: np.ndarray | None, n_rows: int, names: list[str]) -> tuple[dict, str | None]:
    if y is None:
        return {}, None
    if y.shape != (n_rows,):
        raise DataError(f"expected one label per row in y, got {y.shape} for {n_rows} rows")
    if y.dtype.kind not in "biufUSM":
        raise DataError(f"expected labels in y that are texts or numbers, got {y.dtype}")
    label = "y" if "y" not in names else "label of y"
    return {label: label_text(_readable(y, "y"))}, label


def _readable(texts: np.ndarray, name: str) -> np.ndarray:
    """Texts that hold characters only; bytes are read as UTF-8. Numbers are left as they are."""
    if texts.dtype.kind == "S":
        try:
            return np.char.decode(texts, "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"expected texts in UTF-8 in {name}: {error.reason}") from error
    if texts.dtype.kind == "U":
        native = np.ascontiguousarray(texts, dtype=texts.dtype.newbyteorder("="))
        codes = native.reshape(-1).view(np.uint32)
        halves = (codes >= HALVES[0]) & (codes <= HALVES[1])
        if codes.size and (int(codes.max()) > LAST_CHARACTER or halves.any()):
            raise DataError(f"expected texts in {name}, got what no letter stands for")
        return native
    return texts
