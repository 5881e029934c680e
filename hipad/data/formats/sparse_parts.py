"""The parts of a sparse matrix (CSR, CSC or COO), checked before compiled code trusts them.

Compiled code follows indices wherever they point, so each is known to lie inside the matrix first.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import scipy.sparse as sp

from hipad.arrays import IntArray
from hipad.data.limits import Limits
from hipad.errors import DataError
from hipad.wording import count, some

MANY_COLUMNS: Final = 100_000
SHARE_USED: Final = 10  # of so many columns one must hold a value
COMPRESSED: Final = ("data", "indices", "indptr", "shape")
COORDINATES: Final = ("data", "row", "col", "shape")

Arrays = dict[str, np.ndarray]


def sparse_matrix(arrays: Arrays, others: list[str], limits: Limits) -> sp.csr_array:
    """The matrix as CSR; values of equal place are added, as SciPy does."""
    kind = _kind(arrays)
    parts = COORDINATES if kind == "coo" else COMPRESSED
    if not set(parts) <= set(arrays):
        raise DataError(
            "expected an array X, or data, indices, indptr and shape of a CSR matrix, "
            f"got {some(sorted({*arrays, *others})) or 'an empty archive'}"
        )
    rows, columns = _shape(arrays["shape"])
    values = arrays["data"]
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        raise DataError(_wrong(f"data of numbers in a row, got {values.ndim}-d {values.dtype}"))
    limits.check_shape(rows, columns, cells=values.size)
    limits.check_content(rows, values.size)
    floats = values.astype(np.float64)
    if kind == "coo":
        places = _places(arrays, "row", rows, values), _places(arrays, "col", columns, values)
        X = sp.coo_array((floats, places), shape=(rows, columns)).tocsr()
    else:
        major, minor = (rows, columns) if kind == "csr" else (columns, rows)
        indptr = _pointers(arrays["indptr"], major, values.size)
        indices = _places(arrays, "indices", minor, values)
        make = sp.csr_array if kind == "csr" else sp.csc_array
        X = make((floats, indices, indptr), shape=(rows, columns)).tocsr()
    X.sum_duplicates()
    return X


def used_columns(X: sp.csr_array) -> tuple[sp.csr_array, IntArray | None]:
    """The matrix without columns that hold nothing, where these are most of very many.

    Their names alone would take hundreds of megabytes. Also the numbers of the columns that stay;
    None where all do. A column that a sparse table lacks is zero wherever it is asked for.
    """
    if X.shape[1] <= MANY_COLUMNS or X.nnz * SHARE_USED > X.shape[1]:
        return X, None
    used = np.unique(X.indices)
    if used.size * SHARE_USED > X.shape[1]:
        return X, None
    places = np.searchsorted(used, X.indices)
    return sp.csr_array((X.data, places, X.indptr), shape=(X.shape[0], used.size)), used


def empty_columns_remark(n_columns: int, used: IntArray | None) -> list[str]:
    """Say how many columns were left out."""
    return (
        []
        if used is None
        else [f"{count(n_columns - used.size, 'column')} without a value left out"]
    )


def _kind(arrays: Arrays) -> str:
    """How the parts are meant, as SciPy writes it; without a word they are CSR, or COO."""
    if "format" not in arrays:
        return "coo" if "row" in arrays and "indptr" not in arrays else "csr"
    kind = arrays["format"]
    name = kind.astype("S").item().decode("latin-1") if kind.size == 1 else "?"
    if name not in ("csr", "csc", "coo"):
        raise DataError(f"expected a CSR, CSC or COO matrix, got {name[:20]!r}: save it as CSR")
    return name


def _shape(shape: np.ndarray) -> tuple[int, int]:
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or int(shape.min()) < 0:
        shown = f"{shape.dtype} {shape.ravel()[:3].tolist()}"
        raise DataError(_wrong(f"shape of two whole numbers, got {shown}"))
    return int(shape[0]), int(shape[1])


def _pointers(indptr: np.ndarray, major: int, stored: int) -> IntArray:
    """Where each row (or column) begins: from 0 to all stored values, never back."""
    pointers = _whole(indptr, "indptr", stored + 1)
    if pointers.size != major + 1:
        raise DataError(_wrong(f"{major + 1:,} entries in indptr, got {pointers.size:,}"))
    if pointers[0] != 0 or pointers[-1] != stored or (np.diff(pointers) < 0).any():
        raise DataError(_wrong(f"indptr to rise from 0 to the {stored:,} stored values"))
    return pointers


def _places(arrays: Arrays, name: str, most: int, values: np.ndarray) -> IntArray:
    places = _whole(arrays[name], name, most)
    if places.size != values.size:
        raise DataError(_wrong(f"as many {name} as data ({values.size:,}), got {places.size:,}"))
    return places


def _whole(numbers: np.ndarray, name: str, most: int) -> IntArray:
    """Whole numbers from 0 to below `most`, in one row."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise DataError(_wrong(f"whole numbers in {name}, got {numbers.ndim}-d {numbers.dtype}"))
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < most:
        raise DataError(
            _wrong(f"{name} from 0 to {most - 1:,}, got {numbers.min():,} to {numbers.max():,}")
        )
    return numbers.astype(np.int64, copy=False)


def _wrong(expected: str) -> str:
    return f"the parts do not make a CSR, CSC or COO matrix: expected {expected}: save it again"
