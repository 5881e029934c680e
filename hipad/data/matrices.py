"""Matrix files: NumPy archives (dense or sparse parts) and LIBSVM text."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from hipad.data.dialect import Lines
from hipad.data.file_format import Limits
from hipad.data.table import Matrix, Table, tidy_names
from hipad.data.written_numbers import (
    EXACT,
    IS_NUMBER,
    ROUNDED,
    WRITTEN_NUMBER,
    label_text,
    large_wholes,
    plain_wholes,
    reach_beyond_exact,
    tidy_cells,
    tidy_text,
)
from hipad.exceptions import DataError
from hipad.utils import IntArray, count, some

# --------------------------------------------------------------------------------------------------
# The parts of a sparse matrix (CSR, CSC or COO), checked before compiled code trusts them.
#
# Compiled code follows indices wherever they point, so each is known to lie inside the matrix
# first.


MANY_COLUMNS: Final = 100_000
SHARE_USED: Final = 10  # of so many columns one must hold a value
COMPRESSED: Final = ("data", "indices", "indptr", "shape")
COORDINATES: Final = ("data", "row", "col", "shape")

Arrays = dict[str, np.ndarray]


def sparse_matrix(arrays: Arrays, others: list[str], limits: Limits) -> sp.csr_array:
    """Return the matrix as CSR; values of equal place are added, as SciPy does."""
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
    """Return the matrix without columns that hold nothing, where these are most of very many.

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
    """Return how the parts are meant, as SciPy writes it; without a word they are CSR, or COO."""
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
    """Return where each row (or column) begins: from 0 to all stored values, never back."""
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
    """Return whole numbers from 0 to below `most`, in one row."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise DataError(_wrong(f"whole numbers in {name}, got {numbers.ndim}-d {numbers.dtype}"))
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < most:
        raise DataError(
            _wrong(f"{name} from 0 to {most - 1:,}, got {numbers.min():,} to {numbers.max():,}")
        )
    return numbers.astype(np.int64, copy=False)


def _wrong(expected: str) -> str:
    return f"the parts do not make a CSR, CSC or COO matrix: expected {expected}: save it again"


# --------------------------------------------------------------------------------------------------
# NumPy archives: X (or the parts of a sparse matrix) and, where known, y and features.
#
# What a member says of its own size is checked before it is unpacked, nothing is unpickled, and
# members that are not used stay packed.


MATRIX: Final = ("X", "data", "indices", "indptr", "row", "col", "shape", "format")
USED: Final = (*MATRIX, "y", "features", "feature_names")
MARKS: Final = ("_is_array",)  # what scipy writes beside the parts
LAST_CHARACTER: Final = 0x10FFFF
HALVES: Final = (0xD800, 0xDFFF)  # surrogates, which are no characters


def read_npz(data: bytes, limits: Limits) -> Table:
    """Return an archive with X (or the parts of a sparse matrix) and, where known, y and
    features.
    """
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
    names, notes = tidy_names(raw)
    remarks += more
    if others:
        notes.append(f"not used of the archive: {some(sorted(others))}")
    text, label = _stored_labels(arrays.get("y"), X.shape[0], names)
    written = {}
    if label is not None and arrays["y"].dtype.kind in "US":
        column = tidy_cells(_readable(arrays["y"], "y"))
        written = {} if column.written is None else {label: column.written}
        notes += [f"column {label!r}: {column.remark}"] if column.remark else []
    remarks = [*notes, *remarks]
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
    """Return the numbers, and a remark where floating point rounds them."""
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
    """Return the matrix with names of its columns; without names, empty ones of very many go."""
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


def _stored_labels(y: np.ndarray | None, n_rows: int, names: list[str]) -> tuple[dict, str | None]:
    if y is None:
        return {}, None
    if y.shape != (n_rows,):
        raise DataError(f"expected one label per row in y, got {y.shape} for {n_rows} rows")
    if y.dtype.kind not in "biufUSM":
        raise DataError(f"expected labels in y that are texts or numbers, got {y.dtype}")
    label = "y" if "y" not in names else "label of y"
    return {label: label_text(_readable(y, "y"))}, label


def _readable(texts: np.ndarray, name: str) -> np.ndarray:
    """Return texts that hold characters only; bytes are read as UTF-8. Numbers are left as they
    are.
    """
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


# --------------------------------------------------------------------------------------------------
# LIBSVM text: a label and `index:value` pairs on every line; what is not written is zero.
#
# A query number (`qid:3`) after the label and comments after `#` are left out.


LABEL: Final = re.compile(r"[-+]|[-+]?[0-9.]+([eE][-+]?[0-9]+)?(,[-+]?[0-9.]+)*")
PAIR: Final = re.compile(r"(qid|-?[0-9]+):\S+")
COMMENT: Final = re.compile(rb"#[^\n]*")
SEEN: Final = 100_000  # bytes that are enough to know the format


def looks_like_libsvm(data: bytes) -> bool:
    """Return whether the first line and most others are a number, followed by pairs of index and
    value.
    """
    seen = data[:SEEN].decode(errors="replace").replace("\r", "\n")
    lines = [line.split("#")[0].split()[:5] for line in seen.split("\n")[:20]]
    full = [words for words in lines if words]
    alike = [
        bool(LABEL.fullmatch(words[0])) and all(PAIR.fullmatch(word) for word in words[1:4])
        for words in full
    ]
    has_pairs = any(
        len(words) > 1 and is_alike for words, is_alike in zip(full, alike, strict=True)
    )
    return has_pairs and alike[0] and 2 * sum(alike) >= len(alike)


class LinesRead(NamedTuple):
    """What some lines hold: labels, pairs on each line, and the pairs."""

    labels: list[str]
    lengths: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    has_queries: bool
    has_rounded: bool  # whole numbers too large for floating point


def read_libsvm(data: bytes, limits: Limits) -> Table:
    """Features keep the numbers that the file gives them: index 7 is called x7."""
    lines = Lines(data, limits)
    limits.check_shape(lines.most_rows, 1, cells=data.count(b":"))
    parts, number = [], 1
    for chunk in lines.chunks():
        parts.append(_read_part(COMMENT.sub(b"", chunk), number, limits))
        number += chunk.count(b"\n")
    indices = np.concatenate([part.indices for part in parts])
    if not indices.size:
        raise DataError("expected `label index:value ...` on the lines of LIBSVM text, got labels")
    lengths = np.concatenate([part.lengths for part in parts])
    values = np.concatenate([part.values for part in parts])
    first = min(1, int(indices.min()))
    X = sp.csr_array(
        (values, indices - first, np.concatenate([[0], np.cumsum(lengths)])),
        shape=(len(lengths), int(indices.max()) + 1 - first),
    )
    X.sort_indices()
    n_columns = X.shape[1]
    X, used = used_columns(X)
    columns = np.arange(n_columns) if used is None else used
    names = tuple(f"x{j}" for j in (columns + first).tolist())
    labels = _line_labels([label for part in parts for label in part.labels], limits)
    notes = {
        "query numbers (qid) left out": any(part.has_queries for part in parts),
        ROUNDED: any(part.has_rounded for part in parts),
    }
    remarks = tuple(remark for remark, is_true in notes.items() if is_true)
    remarks += tuple(empty_columns_remark(n_columns, used))
    return Table(X, names, {"label": labels}, "LIBSVM", remarks, label="label")


def _read_part(chunk: bytes, number: int, limits: Limits) -> LinesRead:
    """Read lines, of which the first has this number in the file."""
    words = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(_lines(chunk)))
    lengths = np.diff(words.offsets.to_numpy())
    every = words.values
    empty = pc.equal(every, "").to_numpy(zero_copy_only=False)
    line = np.repeat(np.arange(len(lengths)), lengths)
    is_label = np.zeros(len(every), dtype=bool)
    is_label[words.offsets.to_numpy()[:-1][lengths > 0]] = True
    is_query = pc.starts_with(every, "qid:").to_numpy(zero_copy_only=False)
    is_pair = ~(is_label | is_query | empty)
    pairs, at = every.filter(pa.array(is_pair)), line[is_pair]
    indices, values, has_rounded = _split_pairs(pairs, at + number)
    _check_indices(indices, at, number, limits)
    filled = line[is_label & ~empty]
    return LinesRead(
        every.filter(pa.array(is_label & ~empty)).to_pylist(),
        np.bincount(at, minlength=len(lengths))[filled],
        indices.astype(np.int32),
        values,
        bool(is_query.any()),
        has_rounded,
    )


def _lines(chunk: bytes) -> Any:
    return pa.array(chunk.removesuffix(b"\n").split(b"\n"), pa.string())


def _split_pairs(
    pairs: Any, numbers: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], bool]:
    """Indices and values of pairs on lines of these numbers, and whether values are rounded."""
    index, value = (
        pc.replace_substring_regex(pairs, pattern, "") for pattern in (r":.*$", r"^[^:]*:")
    )
    sound = pc.and_(
        pc.match_substring_regex(pairs, r"^-?[0-9]{1,18}:"),
        pc.match_substring_regex(value, IS_NUMBER),
    ).to_numpy(zero_copy_only=False)
    if not sound.all():
        at = int(np.argmin(sound))
        raise DataError(
            "expected `label index:value ...` on every line of LIBSVM text, got "
            f"{pairs[at].as_py()[:40]!r} on line {numbers[at]:,}"
        )
    values = pc.cast(value, pa.float64()).to_numpy(zero_copy_only=False)
    indices = pc.cast(index, pa.int64()).to_numpy(zero_copy_only=False)
    return indices, values, bool(large_wholes(value, values).any())


def _check_indices(
    indices: npt.NDArray[np.int64], at: npt.NDArray[np.int64], number: int, limits: Limits
) -> None:
    """Refuse indices below zero, beyond the limit, or twice on a line, before anything is made."""
    if not indices.size:
        return
    if (indices < 0).any():
        wrong = int(np.argmax(indices < 0))
        raise DataError(
            "expected indices from 0 or 1 on in LIBSVM text, got "
            f"{indices[wrong]:,} on line {at[wrong] + number:,}"
        )
    limits.check_shape(1, int(indices.max()), cells=0)
    order = np.lexsort((indices, at))
    twice = (np.diff(indices[order]) == 0) & (np.diff(at[order]) == 0)
    if twice.any():
        wrong = int(order[np.argmax(twice)])
        raise DataError(
            "expected every index once on a line of LIBSVM text, got "
            f"{indices[wrong]:,} twice on line {at[wrong] + number:,}"
        )


def _line_labels(written: list[str], limits: Limits) -> npt.NDArray[np.str_]:
    """Return labels as numbers where all are, so that +1 is 1; otherwise `+` and `-`."""
    cells = pa.array(written, pa.string())
    if pc.all(pc.match_substring_regex(cells, IS_NUMBER)).as_py():
        return _number_labels(cells, limits)
    if set(written) == {"+", "-"}:
        return tidy_text(written)
    wrong = next(w for w in written if not WRITTEN_NUMBER.fullmatch(w))
    raise DataError(
        f"expected one number as the label of every line of LIBSVM text, got {wrong[:40]!r}: "
        "write one line for each label, or give the classes numbers"
    )


def _number_labels(cells: Any, limits: Limits) -> npt.NDArray[np.str_]:
    """Return numbers as text; two whole numbers too large for floating point stay two labels."""
    values = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    labels = label_text(values)
    large = large_wholes(cells, values)
    if not large.any():
        return labels
    if (longest := pc.max(pc.utf8_length(cells)).as_py()) > limits.text_characters:
        raise DataError(
            f"expected labels of at most {limits.text_characters:,} digits, got {longest:,}"
        )
    written = plain_wholes(cells).to_numpy(zero_copy_only=False).astype(str)
    return np.where(large, written, labels)
