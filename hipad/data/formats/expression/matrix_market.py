"""Matrix Market text (.mtx): the places and values of a matrix that is mostly zero.

The first line says what follows, and its sizes are held against the limits and the length of the
file before anything is made of it.
"""

from __future__ import annotations

import io
from typing import Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from hipad.data.formats.sparse_parts import empty_columns_remark, used_columns
from hipad.data.formats.text.lines import NEWLINE, count_letters
from hipad.data.formats.text.tabbed import first_line
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.errors import DataError

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
    """Whether the first words are those of the format."""
    return data[:20].lower().startswith(MARK.encode())


def read_matrix_market(data: bytes, limits: Limits) -> Table:
    """A matrix alone: its rows are patients, its columns are called x1, x2, ..."""
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
    """The matrix, checked and read."""
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
    return _stated(line, words[2] == "array", start)


def _stated(line: str, is_dense: bool, start: int) -> Sizes:
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
