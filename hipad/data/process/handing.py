"""A table as named parts of bytes, to hand it from one process to another or to keep it.

Numbers are raw bytes, texts are one run of UTF-8 with the length of each, the rest is JSON. Parts
are files of a folder, or whatever else `Parts` can be read from. Nothing of them is trusted:
`load_table` checks every size against the others before it uses it, for the process that wrote
them read a stranger's table and may have been led astray by it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data.file_format import Reading
from hipad.data.limits import Limits
from hipad.data.table import Matrix, Table, Text
from hipad.errors import DataError

FACTS: Final = "facts.json"
BLOCK_BYTES: Final = 2**24  # written at a time, so that no second copy of the table is made
DTYPES: Final = ("<f4", "<f8", "<i4", "<i8")
OTHER: Final = ("numbers", "text", "written", "reading")
PLAIN: Final = tuple(f.name for f in fields(Table) if f.name not in OTHER)
Array = npt.NDArray[Any]


class Parts(Protocol):
    """Where the parts of a table are read from."""

    def size(self, name: str) -> int:
        """Return the bytes of a part."""

    def array(self, name: str, dtype: str) -> Array:
        """Return a part as an array."""

    def open(self, name: str) -> BinaryIO:
        """Return a part to be read from its beginning."""


class Folder:
    """The parts of a table as files; each file with numbers is removed when it has been read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def size(self, name: str) -> int:
        return (self._folder / name).stat().st_size

    def array(self, name: str, dtype: str) -> Array:
        array = np.fromfile(self._folder / name, dtype)
        (self._folder / name).unlink()
        return array

    def open(self, name: str) -> BinaryIO:
        return (self._folder / name).open("rb")


def blocks_of(table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the bytes of a table in blocks, each with the name of the part that it goes on.

    The facts come last, so that they stand for the whole.
    """
    facts: dict[str, Any] = {name: getattr(table, name) for name in PLAIN}
    facts["reading"] = table.reading.to_dict()
    arrays = _arrays(table.numbers)
    columns = [*table.text.values(), *table.written.values()]
    facts["shape"] = list(table.numbers.shape)
    facts["arrays"] = {name: [array.dtype.str, int(array.size)] for name, array in arrays.items()}
    facts["arrays"]["lengths"] = ["<i4", table.n_rows * len(columns)]
    facts["text_names"], facts["written_names"] = list(table.text), list(table.written)
    for name, array in arrays.items():
        yield name, b""
        step = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
        for start in range(0, len(array), step):
            yield name, np.ascontiguousarray(array[start : start + step]).data
    yield "lengths", b""
    yield "text", b""
    for column in columns:
        cells = [str(cell).encode("utf-8", "surrogatepass") for cell in column.tolist()]
        yield "lengths", np.array([len(cell) for cell in cells], "<i4").data
        yield "text", b"".join(cells)
    yield FACTS, json.dumps(facts).encode("ascii")


def digest_of(table: Table) -> str:
    """Return a name for all that a table holds: another for whatever differs in it."""
    parts: dict[str, Any] = {}
    for name, block in blocks_of(table):
        parts.setdefault(name, hashlib.sha256()).update(block)
    told = sorted((name, part.hexdigest()) for name, part in parts.items())
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def save_table(table: Table, folder: Path) -> None:
    """Write the parts of a table as files of a folder."""
    with ExitStack() as files:
        opened: dict[str, BinaryIO] = {}
        for name, block in blocks_of(table):
            if name == FACTS:
                files.close()
                (folder / FACTS).write_bytes(block)
                continue
            if name not in opened:
                opened[name] = files.enter_context((folder / name).open("wb"))
            opened[name].write(block)


def load_table(source: Path | Parts, limits: Limits) -> Table:
    """Return the table of some parts; DataError when they do not agree.

    Where the parts are files of a folder, those with numbers are removed as they are read.
    """
    parts = Folder(source) if isinstance(source, Path) else source
    try:
        with parts.open(FACTS) as file:
            facts = json.loads(file.read().decode("ascii"))
        rows, columns = (int(n) for n in facts["shape"])
        names = [str(name) for name in facts["text_names"]]
        said = facts["arrays"].items()
        arrays = {name: _load(parts, name, *size) for name, size in said}
        plain = {name: _plain(facts[name]) for name in PLAIN if name in facts}
        _demand(len(plain["number_names"]) == columns)
        _demand(len({*plain["number_names"], *names}) == columns + len(names))
        _demand(len(plain.get("ids", ())) in (0, rows))
        _demand(len(plain.get("symbols", ())) in (0, columns))
        _demand(set(plain.get("about", ())) <= {*plain["number_names"], *names})
        lengths = arrays.pop("lengths")
        also = [str(name) for name in facts.get("written_names", ())]
        _demand(len(set(also)) == len(also) and {*also} <= {*plain["number_names"], *names})
        every = len(names) + len(also)
        _demand(lengths.shape == (rows * every,) and (lengths >= 0).all())
        numbers = _numbers(arrays, (rows, columns), limits)
        found = list(_texts(parts, lengths, rows, limits))
        text = dict(zip(names, found[: len(names)], strict=True))
        written = dict(zip(also, found[len(names) :], strict=True))
        reading = Reading.from_dict(facts.get("reading", {}))
        return Table(numbers=numbers, text=text, written=written, reading=reading, **plain)
    except DataError:
        raise
    except MemoryError as error:
        raise DataError("it is too large for the memory that is free: leave out columns") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise DataError("it could not be read: what came of it is damaged") from error


def _demand(condition: Any) -> None:
    if not condition:
        raise ValueError("the parts of the table do not agree")


def _arrays(numbers: Matrix) -> dict[str, Array]:
    """Return the arrays that a matrix consists of, in the byte order of files."""
    parts = {"numbers": numbers}
    if sp.issparse(numbers):
        parts = {"values": numbers.data, "indices": numbers.indices, "indptr": numbers.indptr}
    return {
        name: part.astype(part.dtype.newbyteorder("<"), copy=False) for name, part in parts.items()
    }


def _load(parts: Parts, name: str, dtype: str, size: int) -> Array:
    _demand(name in ("numbers", "values", "indices", "indptr", "lengths") and dtype in DTYPES)
    _demand(parts.size(name) == size * np.dtype(dtype).itemsize)
    return parts.array(name, dtype)


def _numbers(arrays: dict[str, Array], shape: tuple[int, int], limits: Limits) -> Matrix:
    if set(arrays) == {"numbers"}:
        limits.check_shape(*shape)
        _demand(arrays["numbers"].dtype.kind == "f")
        return arrays["numbers"].reshape(shape)
    values, indices, indptr = (arrays[name] for name in ("values", "indices", "indptr"))
    limits.check_shape(*shape, cells=values.size)
    _demand(values.dtype.kind == "f" and indices.dtype.kind == indptr.dtype.kind == "i")
    _demand(values.shape == indices.shape and indptr.shape == (shape[0] + 1,))
    _demand(indptr[0] == 0 and indptr[-1] == values.size and (np.diff(indptr) >= 0).all())
    _demand(not indices.size or (indices.min() >= 0 and indices.max() < shape[1]))
    return sp.csr_array((values, indices, indptr), shape=shape)


def _texts(parts: Parts, lengths: Array, rows: int, limits: Limits) -> Iterator[Text]:
    """Column by column the cells; an array of them holds as many letters for each as the longest.

    That is at least a quarter of the bytes, so the bound on memory holds before they are spread.
    """
    columns = lengths.reshape(-1, rows) if rows else lengths.reshape(0, 0)
    widest = columns.max(axis=1, initial=0).astype(np.int64)
    if (4 * rows * widest).sum() > limits.memory_bytes:
        raise DataError(
            f"reading it needed more than {limits.memory_bytes / 2**30:,.3g} GB for columns of "
            "text: leave out those with long texts"
        )
    _demand(parts.size("text") == lengths.sum(dtype=np.int64))
    with parts.open("text") as file:
        for column in columns:
            blob = file.read(int(column.sum(dtype=np.int64)))
            ends = list(accumulate(column.tolist(), initial=0))
            cells = (blob[a:b] for a, b in pairwise(ends))
            yield np.array([cell.decode("utf-8", "surrogatepass") for cell in cells], dtype=str)


def _plain(value: Any) -> Any:
    """A text, a truth value, a number, nothing, or a row of texts."""
    if isinstance(value, list):
        _demand(all(isinstance(item, str) for item in value))
        return tuple(value)
    _demand(value is None or isinstance(value, str | bool | int))
    return value
