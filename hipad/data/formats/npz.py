"""NumPy archives: X (or the parts of a CSR matrix) and, where known, y and features.

What a member says of its own size is checked before it is unpacked, and nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib

import numpy as np
import scipy.sparse as sp

from hipad.data.limits import Limits
from hipad.data.table import Matrix, Table, label_text, some, tidy_names
from hipad.errors import DataError


def read_npz(data: bytes, limits: Limits) -> Table:
    """An archive with X (or the parts of a CSR matrix) and, where known, y and features."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                _check_member(archive, member)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except DataError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"the archive cannot be read ({error}): save it again") from error
    X = _npz_matrix(arrays, limits)
    features = arrays.get("features", arrays.get("feature_names"))
    if features is not None and features.size != X.shape[1]:
        raise DataError(
            f"expected one feature name a column, got {features.size} for {X.shape[1]} columns"
        )
    raw = [f"x{j}" for j in range(X.shape[1])] if features is None else features.ravel().tolist()
    names, remarks = tidy_names(raw)
    used = {"X", "y", "data", "indices", "indptr", "shape", "features", "feature_names"}
    if unused := sorted(set(arrays) - used):
        remarks.append(f"not used of the archive: {some(unused)}")
    text, label = _labels(arrays.get("y"), X.shape[0], names)
    return Table(X, tuple(names), text, "NumPy archive", tuple(remarks), label)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
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
    if math.prod(shape) * dtype.itemsize > member.file_size:
        raise DataError(f"{member.filename} is damaged: it holds less than it claims")


def _npz_matrix(arrays: dict[str, np.ndarray], limits: Limits) -> Matrix:
    if "X" in arrays:
        X = arrays["X"]
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise DataError(f"expected X to be a matrix of numbers, got {X.ndim}-d {X.dtype}")
        limits.check_shape(*X.shape)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    parts = ("data", "indices", "indptr", "shape")
    if not set(parts) <= set(arrays):
        raise DataError(
            "expected an array X, or data, indices, indptr and shape of a CSR matrix, "
            f"got {some(sorted(arrays)) or 'an empty archive'}"
        )
    values, indices, indptr, shape = (arrays[key] for key in parts)
    try:
        limits.check_shape(int(shape[0]), int(shape[1]), cells=values.size)
        X = sp.csr_array((values.astype(np.float64), indices, indptr), shape=tuple(shape))
        X.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise DataError(f"the parts do not make a CSR matrix: {error}") from error
    X.sum_duplicates()
    return X


def _labels(
    y: np.ndarray | None, n_rows: int, names: list[str]
) -> tuple[dict[str, np.ndarray], str | None]:
    if y is None:
        return {}, None
    if y.shape != (n_rows,):
        raise DataError(f"expected one label a row in y, got {y.shape} for {n_rows} rows")
    label = "y" if "y" not in names else "label of y"
    return {label: label_text(y)}, label
