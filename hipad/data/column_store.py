"""Columns on disk: sources that are read a block of columns at a time, and a store of our own."""

from __future__ import annotations

import json
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data.table import note_written
from hipad.exceptions import DataError, unopened
from hipad.utils import FloatArray, IntArray, require

# --------------------------------------------------------------------------------------------------
# A source of columns: an N x m matrix that is never in memory as a whole.
#
# Blocks come column by column (each row of a block is one column of the matrix), in the type that
# they are kept in; `as_floats` makes float64 of them, with NaN for what is missing. Names are asked
# for by position or searched for by whole arrays: there may be ten millions of them.


Block = npt.NDArray[Any]

KINDS: Final = ("|i1", "<f4", "<f8")  # the types that a store keeps
NAMES_AT_ONCE: Final = 1 << 18
USUAL_MEMORY: Final = 2.0**30


class ColumnSource(ABC):
    """An N x m matrix of numbers that is read in blocks of columns.

    `missing` is the value that stands for a missing one in whole numbers; `labels` are those that
    the data bring along, one a row, and `row_names` what the rows are called; None where unknown.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    missing: int | None = None
    labels: npt.NDArray[Any] | None = None
    row_names: npt.NDArray[Any] | None = None
    ndim = 2
    memory = USUAL_MEMORY  # bytes that a fit may take in all

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def bytes_per_column(self) -> int:
        """What one column takes where it is kept."""
        return self.shape[0] * self.dtype.itemsize

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return the columns from `start` to before `stop`; one row each."""

    def take(self, columns: npt.NDArray[np.integer[Any]]) -> Block:
        """Return single columns, in the order given; one row each."""
        found = np.empty((len(columns), self.shape[0]), dtype=self.dtype)
        for place, first, last in runs_of(np.asarray(columns)):
            found[place : place + last - first] = self.block(first, last)
        return found

    def columns(self, columns: npt.ArrayLike) -> FloatArray:
        """Return single columns as an N x k array of float64; NaN where a value is missing."""
        return as_floats(self.take(np.asarray(columns, dtype=np.intp)), self.missing).T

    def select(self, rows: IntArray) -> ColumnSource:
        """Return some of the rows, in this order; nothing is read."""
        return SelectedRows(self, rows)

    @property
    def has_names(self) -> bool:
        """Whether the columns have names of their own; else they are x0, x1, ..."""
        return False

    def name_blocks(self) -> Iterator[npt.NDArray[np.bytes_]]:
        """The names of all columns in order, in arrays of UTF-8."""
        width = len(str(max(self.shape[1] - 1, 0)))
        for start in range(0, self.shape[1], NAMES_AT_ONCE):
            numbers = np.arange(start, min(start + NAMES_AT_ONCE, self.shape[1]))
            yield np.char.add(b"x", numbers.astype(f"S{width}"))

    def names_of(self, columns: npt.ArrayLike) -> list[str]:
        """Return the names of some columns."""
        wanted = np.asarray(columns, dtype=np.intp)
        if not self.has_names:
            return [f"x{j}" for j in wanted.tolist()]
        order, found, start = np.argsort(wanted, kind="stable"), [""] * wanted.size, 0
        ordered = wanted[order]
        for names in self.name_blocks():
            low, high = np.searchsorted(ordered, [start, start + names.size])
            for place, name in zip(
                order[low:high].tolist(), names[ordered[low:high] - start].tolist(), strict=True
            ):
                found[place] = name.decode("utf-8", "replace")
            start += names.size
        return found

    def find_names(self, words: Iterable[str]) -> IntArray:
        """Return the columns that are called by one of these words, whatever the case."""
        wanted = sorted({word.casefold().encode() for word in words if word})
        if not wanted:
            return np.zeros(0, dtype=np.intp)
        found, start = [], 0
        longest = max(map(len, wanted))
        known = np.array(wanted, dtype=f"S{longest}")
        for names in self.name_blocks():
            short = np.char.str_len(names) <= longest
            lowered = np.char.lower(names[short])
            place = np.minimum(np.searchsorted(known, lowered), known.size - 1)
            found.append(start + np.flatnonzero(short)[known[place] == lowered])
            start += names.size
        return np.concatenate(found).astype(np.intp)


def runs_of(columns: IntArray) -> Iterator[tuple[int, int, int]]:
    """Yield (place, first, stop) for each run of columns that follow one another.

    >>> list(runs_of(np.array([3, 4, 9])))
    [(0, 3, 5), (2, 9, 10)]
    """
    ends = np.flatnonzero(np.diff(columns) != 1) + 1
    for start, stop in zip(np.r_[0, ends], np.r_[ends, columns.size], strict=True):
        if stop > start:
            yield int(start), int(columns[start]), int(columns[stop - 1]) + 1


def as_floats(block: Block, missing: int | None = None) -> FloatArray:
    """Return a block as float64, NaN where a value is missing.

    >>> as_floats(np.array([[1, -127]], dtype=np.int8), -127).tolist()
    [[1.0, nan]]
    """
    values = block.astype(np.float64)
    if missing is not None:
        gaps = block == missing
        if gaps.any():
            values[gaps] = np.nan
    return values


class ArraySource(ColumnSource):
    """Anything two-dimensional that can be cut by columns: arrays, memmaps, Zarr, HDF5."""

    def __init__(
        self,
        values: Any,
        names: Sequence[str] | npt.NDArray[Any] | None = None,
        *,
        missing: int | None = None,
        row_names: npt.NDArray[Any] | None = None,
    ) -> None:
        shape = tuple(values.shape)
        if len(shape) != 2:
            raise DataError(f"expected a matrix (rows, columns), got an array of shape {shape}")
        kind = np.dtype(values.dtype)
        if kind.kind not in "biuf":
            raise DataError(f"expected numbers, got values of type {kind}: convert them")
        self.values, self.shape, self.dtype = values, (int(shape[0]), int(shape[1])), kind
        self.missing, self.row_names = missing, row_names
        self._names = None if names is None else _as_bytes(names, self.shape[1])

    def block(self, start: int, stop: int) -> Block:
        return np.ascontiguousarray(np.asarray(self.values[:, start:stop]).T)

    @property
    def has_names(self) -> bool:
        return self._names is not None

    def name_blocks(self) -> Iterator[npt.NDArray[np.bytes_]]:
        if self._names is None:
            yield from super().name_blocks()
            return
        for start in range(0, self.shape[1], NAMES_AT_ONCE):
            yield self._names[start : start + NAMES_AT_ONCE]


class SparseSource(ColumnSource):
    """A sparse matrix by columns, in memory or on disk: values, rows, where columns begin."""

    def __init__(
        self,
        data: Any,
        indices: Any,
        indptr: npt.ArrayLike,
        n_rows: int,
        names: Sequence[str] | npt.NDArray[Any] | None = None,
    ) -> None:
        self._data, self._indices, self._ends = data, indices, np.asarray(indptr, dtype=np.int64)
        self.shape, self.dtype = (int(n_rows), self._ends.size - 1), np.dtype(data.dtype)
        self._names = None if names is None else _as_bytes(names, self.shape[1])

    def block(self, start: int, stop: int) -> Block:
        first, last = int(self._ends[start]), int(self._ends[stop])
        found = np.zeros((stop - start, self.shape[0]), dtype=self.dtype)
        of = np.repeat(np.arange(stop - start), np.diff(self._ends[start : stop + 1]))
        found[of, np.asarray(self._indices[first:last])] = self._data[first:last]
        return found

    @property
    def has_names(self) -> bool:
        return self._names is not None

    def name_blocks(self) -> Iterator[npt.NDArray[np.bytes_]]:
        if self._names is None:
            yield from super().name_blocks()
        else:
            yield self._names


def _as_bytes(names: Sequence[str] | npt.NDArray[Any], count: int) -> npt.NDArray[np.bytes_]:
    if len(names) != count:
        raise DataError(
            f"expected {count:,} feature names, one per column, got {len(names):,}: pass the names "
            "of the columns in order"
        )
    found = np.asarray(names)
    if found.dtype.kind == "S":
        return found
    return np.char.encode(found.astype(str), "utf-8")


class SelectedRows(ColumnSource):
    """Some rows of a source, in an order of their own."""

    def __init__(self, source: ColumnSource, rows: IntArray) -> None:
        self._source, self._rows = source, rows
        self.shape, self.dtype = (rows.size, source.shape[1]), source.dtype
        self.missing, self.memory = source.missing, source.memory

    def block(self, start: int, stop: int) -> Block:
        return self._source.block(start, stop)[:, self._rows]

    def take(self, columns: npt.NDArray[np.integer[Any]]) -> Block:
        return self._source.take(columns)[:, self._rows]


class FileBytes:
    """A file that is read in parts by several threads, and opened anew where it is sent to."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        try:
            self._file = path.open("rb")
        except (OSError, ValueError) as error:
            raise unopened(path, error) from None
        self.size = os.fstat(self._file.fileno()).st_size

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def read(self, start: int, count: int) -> bytearray:
        """Return `count` bytes from `start` on."""
        found = bytearray(count)
        with self._lock:
            self._file.seek(start)
            got = self._file.readinto(found)
        if got != count:
            raise DataError(f"{self.path} became shorter while it was read: copy it again")
        return found


# --------------------------------------------------------------------------------------------------
# The store: one file, a header in JSON, then column after column, then names of one width.
#
# A store is written under another name first, and gets its own when it is whole. So a store that
# was left halfway is never taken for one.


MAGIC: Final = b"HIPADCOL"
ALIGNED: Final = 4096  # where columns begin
VERSION: Final = 1
LONGEST_HEADER: Final = 1 << 26
GAP: Final = -128  # a missing value among whole numbers


class StoreHeader(NamedTuple):
    """What the header of a store says."""

    rows: int
    columns: int
    dtype: str
    name_width: int
    labels: list[Any] | None
    row_names: list[str] | None
    data: int  # where the columns begin, in bytes

    @property
    def names(self) -> int:
        """Where the names begin."""
        return self.data + self.rows * self.columns * np.dtype(self.dtype).itemsize

    @property
    def size(self) -> int:
        """The length of the whole file."""
        return self.names + self.columns * self.name_width


class ColumnStore(ColumnSource):
    """A column store on disk (`write_store` makes one).

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.columns"
    >>> store = write_store(path, np.array([[1, 2], [3, 4]], dtype=np.int8), names=["a", "b"])
    >>> ColumnStore(path).columns([1]).tolist(), ColumnStore(path).names_of([1])
    ([[2.0], [4.0]], ['b'])
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._bytes = FileBytes(self.path)
        self._header = own = _header_of(self._bytes)
        self.shape, self.dtype = (own.rows, own.columns), np.dtype(own.dtype)
        self.missing = GAP if self.dtype == np.int8 else None
        self.labels = None if own.labels is None else np.array(own.labels)
        self.row_names = None if own.row_names is None else np.array(own.row_names)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The matrix itself, memory-mapped and not to be written to."""
        return np.memmap(
            self.path, self.dtype, "r", offset=self._header.data, shape=self.shape, order="F"
        )

    def block(self, start: int, stop: int) -> Block:
        each = self.bytes_per_column
        part = self._bytes.read(self._header.data + start * each, (stop - start) * each)
        return np.frombuffer(part, dtype=self.dtype).reshape(stop - start, self.shape[0])

    @property
    def has_names(self) -> bool:
        return self._header.name_width > 0

    def name_blocks(self) -> Iterator[npt.NDArray[np.bytes_]]:
        width = self._header.name_width
        if not width:
            yield from super().name_blocks()
            return
        for start in range(0, self.shape[1], NAMES_AT_ONCE):
            count = min(NAMES_AT_ONCE, self.shape[1] - start)
            part = self._bytes.read(self._header.names + start * width, count * width)
            yield np.frombuffer(part, dtype=f"S{width}")

    def names_of(self, columns: npt.ArrayLike) -> list[str]:
        width = self._header.name_width
        if not width:
            return super().names_of(columns)
        start = self._header.names
        wanted = np.asarray(columns, dtype=np.intp).tolist()
        parts = (self._bytes.read(start + j * width, width) for j in wanted)
        return [bytes(part).rstrip(b"\0").decode("utf-8", "replace") for part in parts]


def _header_of(file: FileBytes) -> StoreHeader:
    """Return the header of a store; an error where the file is none, cut or changed."""
    head = bytes(file.read(0, min(16, file.size)))
    if head[:8] != MAGIC:
        raise DataError(f"{file.path} is no column store: write one with write_store")
    length = int.from_bytes(head[8:16], "little")
    if len(head) < 16 or not 0 < length <= min(LONGEST_HEADER, file.size - 16):
        raise DataError(f"{file.path} is cut within its header: copy or write it again")
    try:
        said = json.loads(bytes(file.read(16, length)))
        version = said.pop("version")
        header = StoreHeader(**said)
        sound = (
            version == VERSION
            and header.dtype in KINDS
            and all(isinstance(n, int) and n >= 0 for n in (header.rows, header.columns))
            and isinstance(header.name_width, int)
            and header.name_width >= 0
            and header.data == _aligned(16 + length)
        )
        for own in (header.labels, header.row_names):
            sound = sound and (own is None or len(own) == header.rows)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(f"the header of {file.path} is damaged: write the store again")
    if header.size != file.size:
        raise DataError(
            f"expected {header.size:,} bytes in {file.path} ({header.rows:,} rows, "
            f"{header.columns:,} columns of {np.dtype(header.dtype).name}), got {file.size:,}: "
            "the file was cut or changed; copy or write it again"
        )
    return header


def _aligned(place: int) -> int:
    return -(-place // ALIGNED) * ALIGNED


def write_store(
    path: str | Path,
    X: Any,
    *,
    names: Sequence[str] | npt.NDArray[Any] | None = None,
    labels: Sequence[Any] | npt.NDArray[Any] | None = None,
    row_names: Sequence[str] | npt.NDArray[Any] | None = None,
    memory: float = 2.0**26,
) -> ColumnStore:
    """Write a matrix as a column store, block by block, and open it.

    Parameters
    ----------
    path : str or Path
        Where to; a file that is there is replaced when the new one is whole.
    X : array, memmap, sparse matrix, path or ColumnSource
        Whole numbers from -127 to 127 and true or false become int8, float32 stays, all others
        become float64.
    names, labels, row_names : sequence, default=None
        What columns and rows are called, and the labels of the rows; None takes those of X.
    memory : float, default=2**26
        Bytes that a block may take.

    Returns
    -------
    ColumnStore
        The store, opened.
    """
    source = as_source(X, names)
    path, kind = Path(path), _kept_type(source, memory)
    n, m = source.shape
    labels = source.labels if labels is None else labels
    row_names = source.row_names if row_names is None else row_names
    for what, own in (("labels", labels), ("row names", row_names)):
        if own is not None and len(own) != n:
            raise DataError(f"expected {n:,} {what}, one per row, got {len(own):,}: pass all")
    width = max((block.dtype.itemsize for block in _names(source)), default=0)
    header = {
        "version": VERSION,
        "rows": n,
        "columns": m,
        "dtype": kind.str,
        "name_width": width,
        "labels": None if labels is None else np.asarray(labels).tolist(),
        "row_names": None if row_names is None else [str(one) for one in row_names],
    }
    text = _with_place(header)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(MAGIC + len(text).to_bytes(8, "little") + text)
            file.write(b"\0" * (_aligned(16 + len(text)) - 16 - len(text)))
            for block in blocks_of(source, memory):
                file.write(np.ascontiguousarray(_kept(block, source.missing, kind)).data)
            for block in _names(source):
                file.write(block.astype(f"S{width}").data)
        draft.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
    note_written(path)
    return ColumnStore(path)


def _with_place(header: Mapping[str, Any]) -> bytes:
    """Return the header with the place of the columns, which depends on its own length."""
    place = ALIGNED
    while True:
        text = json.dumps({**header, "data": place}, separators=(",", ":")).encode()
        if _aligned(16 + len(text)) == place:
            return text
        place = _aligned(16 + len(text))


def _names(source: ColumnSource) -> Iterator[npt.NDArray[np.bytes_]]:
    if source.has_names:
        yield from source.name_blocks()


def blocks_of(source: ColumnSource, memory: float = 2.0**26) -> Iterator[Block]:
    """All columns in blocks that take at most so many bytes as float64."""
    width = max(int(memory / (8 * max(source.shape[0], 1))), 1)
    for start in range(0, source.shape[1], width):
        yield source.block(start, min(start + width, source.shape[1]))


def _kept_type(source: ColumnSource, memory: float) -> np.dtype[Any]:
    if source.dtype.kind == "f":
        return np.dtype("<f4" if source.dtype.itemsize == 4 else "<f8")
    if source.dtype.kind == "b" or source.dtype == np.int8:
        return np.dtype(np.int8)
    for block in blocks_of(source, memory):
        if block.size and (block.min() < -127 or block.max() > 127):
            return np.dtype("<f8")
    return np.dtype(np.int8)


def _kept(block: Block, missing: int | None, kind: np.dtype[Any]) -> Block:
    if kind == np.int8 and block.dtype == np.int8:
        if missing is None and block.size and block.min() == GAP:
            raise DataError("expected whole numbers from -127 to 127, got -128: use float32")
        if missing is not None:
            return np.where(block == missing, np.int8(GAP), block)
    if kind.kind == "f" and block.dtype.kind != "f":
        return as_floats(block, missing).astype(kind)
    return block.astype(kind)


# --------------------------------------------------------------------------------------------------
# What can be read by columns, known by what it is or how it begins.


UNITS: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def bytes_of(memory: str | float) -> float:
    """Return a size in bytes, which may be written with its unit.

    >>> bytes_of("1.5GB"), bytes_of(2000)
    (1500000000.0, 2000.0)
    """
    found = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?)I?B?\s*", str(memory).upper())
    try:
        size = float(found[1]) * UNITS[found[2]] if found else 0.0
    except ValueError:
        size = 0.0
    if not size > 0:
        raise DataError(f"expected an amount of memory such as 1GB, got {memory!r}: write one")
    return size


def as_source(X: Any, names: Sequence[str] | npt.NDArray[Any] | None = None) -> ColumnSource:
    """Return a source for a path, array, memmap, sparse matrix, Zarr array or HDF5 dataset."""
    if isinstance(X, ColumnSource):
        return X
    if isinstance(X, str | Path):
        return open_columns(X)
    if sp.issparse(X):
        by_columns = sp.csc_array(X)
        by_columns.sum_duplicates()
        parts = (by_columns.data, by_columns.indices, by_columns.indptr)
        return SparseSource(*parts, X.shape[0], names)
    return ArraySource(X if hasattr(X, "shape") and hasattr(X, "dtype") else np.asarray(X), names)


def open_columns(path: str | Path) -> ColumnSource:
    """Open a file that can be read by columns: a store, PLINK .bed, .npy, Zarr or .h5ad.

    A file that is missing, cut, or does not fit those beside it is an error here, before any work.
    """
    place = Path(path)
    if place.is_dir():
        return _zarr_source(place)
    if not place.exists():
        raise DataError(f"{place} cannot be opened: there is no such file; check the path")
    suffix = place.suffix.lower()
    if suffix == ".bed":
        from hipad.data.plink import BedSource

        return BedSource(place)
    if suffix == ".npy":
        return _npy_source(place)
    if suffix == ".h5ad":
        return _h5ad_source(place)
    with place.open("rb") as file:
        head = file.read(8)
    if head == MAGIC:
        return ColumnStore(place)
    raise DataError(
        f"{place} cannot be read by columns: expected a column store, .bed, .npy, .h5ad or Zarr; "
        "write a store with hipad.data.column_store.write_store"
    )


LARGE: Final = 2**26  # bytes of a memmap of floats: smaller ones are arrays like others


def is_by_columns(X: Any) -> bool:
    """Whether this is a matrix that is to be read by columns and not as a whole: a path, source,
    Dask or Zarr array, and a memmap that is large or of whole numbers.
    """
    if isinstance(X, ColumnSource | str | Path):
        return True
    if isinstance(X, np.memmap):
        return X.ndim == 2 and (X.nbytes > LARGE or X.dtype.kind in "bi")
    return type(X).__module__.partition(".")[0] in ("dask", "zarr", "h5py") and hasattr(X, "shape")


def _npy_source(path: Path) -> ColumnSource:
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} is no whole .npy file of numbers ({error}): save it again") from (
            None
        )
    try:
        return ArraySource(values)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _zarr_source(path: Path) -> ColumnSource:
    require(["zarr"], "Zarr arrays", extra="disk")
    import zarr

    try:
        return ArraySource(zarr.open_array(path, mode="r"))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no Zarr array ({error}): name the folder of one") from None


def _h5ad_source(path: Path) -> ColumnSource:
    require(["h5py"], "AnnData files", extra="disk")
    import h5py

    try:
        file = h5py.File(path, "r")
        X, names = file["X"], _h5ad_names(file)
        if isinstance(X, h5py.Dataset):
            return ArraySource(X, names)
        kind, (n, _) = X.attrs.get("encoding-type"), X.attrs["shape"]
        if kind == "csc_matrix":
            return SparseSource(X["data"], X["indices"], X["indptr"][:], int(n), names)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise DataError(f"{path} is no whole .h5ad file ({error}): save it again") from None
    raise DataError(
        f"expected X of {path} dense or by columns (csc_matrix), got {kind}: save it by columns, "
        "or write a column store"
    )


def _h5ad_names(file: Any) -> npt.NDArray[np.bytes_] | None:
    features = file.get("var")
    if features is None:
        return None
    key = features.attrs.get("_index", "_index")
    if key not in features:
        return None
    return np.asarray(features[key].asstr()[:]).astype(str)
