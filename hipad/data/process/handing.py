"""A table as files in a folder, to hand it from one process to another.

Numbers are raw bytes, texts are one run of UTF-8 with the length of each, the rest is JSON. Nothing
of it is trusted: `load_table` checks every size against the others before it uses it, for the
process that wrote the files read a stranger's table and may have been led astray by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

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


def save_table(table: Table, folder: Path) -> None:
    """Write the table; the facts come last, so that they stand for the whole."""
    facts: dict[str, Any] = {name: getattr(table, name) for name in PLAIN}
    facts["reading"] = table.reading.to_dict()
    facts["shape"] = list(table.numbers.shape)
    facts["arrays"] = _save_numbers(table.numbers, folder)
    columns = [*table.text.values(), *table.written.values()]
    facts["arrays"]["lengths"] = _save_text(columns, folder)
    facts["text_names"], facts["written_names"] = list(table.text), list(table.written)
    (folder / FACTS).write_text(json.dumps(facts), "ascii")


def load_table(folder: Path, limits: Limits, *, keep: bool = False) -> Table:
    """The table in a folder; DataError when its files do not agree.

    Its numbers are removed from the folder as they are read, unless they are to be kept.
    """
    try:
        facts = json.loads((folder / FACTS).read_text("ascii"))
        rows, columns = (int(n) for n in facts["shape"])
        names = [str(name) for name in facts["text_names"]]
        said = facts["arrays"].items()
        arrays = {name: _load(folder, name, *size, keep=keep) for name, size in said}
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
        found = list(_texts(folder, lengths, rows, limits))
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


def _save_numbers(numbers: Matrix, folder: Path) -> dict[str, Any]:
    if not sp.issparse(numbers):
        return {"numbers": _save(numbers, folder / "numbers")}
    parts = {"values": numbers.data, "indices": numbers.indices, "indptr": numbers.indptr}
    return {name: _save(part, folder / name) for name, part in parts.items()}


def _save(array: Array, path: Path) -> list[Any]:
    """Write an array in blocks of rows; its type and its number of entries."""
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    step = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
    with path.open("wb") as file:
        for start in range(0, len(array), step):
            file.write(np.ascontiguousarray(array[start : start + step]).data)
    return [array.dtype.str, int(array.size)]


def _load(folder: Path, name: str, dtype: str, size: int, *, keep: bool = False) -> Array:
    _demand(name in ("numbers", "values", "indices", "indptr", "lengths") and dtype in DTYPES)
    path = folder / name
    _demand(path.stat().st_size == size * np.dtype(dtype).itemsize)
    array = np.fromfile(path, dtype)
    if not keep:
        path.unlink()
    return array


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


def _save_text(columns: Iterable[Text], folder: Path) -> list[Any]:
    """Write the cells of all columns one after the other; type and number of their lengths."""
    total = 0
    with (folder / "lengths").open("wb") as lengths, (folder / "text").open("wb") as text:
        for column in columns:
            cells = [str(cell).encode("utf-8", "surrogatepass") for cell in column.tolist()]
            text.write(b"".join(cells))
            lengths.write(np.array([len(cell) for cell in cells], "<i4").data)
            total += len(cells)
    return ["<i4", total]


def _texts(folder: Path, lengths: Array, rows: int, limits: Limits) -> Iterator[Text]:
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
    _demand((folder / "text").stat().st_size == lengths.sum(dtype=np.int64))
    with (folder / "text").open("rb") as file:
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
