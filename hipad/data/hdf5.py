"""AnnData files (.h5ad), and parts of an HDF5 file, each looked at before it is read."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

import h5py
import numpy as np
import numpy.typing as npt

from hipad.data.file_format import Limits
from hipad.data.matrices import sparse_matrix
from hipad.data.orientation import MOST_LEVELS, GenesBySamples, patients_by_genes, symbol_column
from hipad.data.table import Matrix, Table
from hipad.exceptions import DataError
from hipad.utils import some

# --------------------------------------------------------------------------------------------------
# Parts of an HDF5 file, each looked at before it is read.
#
# A file may point to other files, hold Python objects, or ask for programs that unpack it: links
# that leave the file, data kept elsewhere, unknown filters and compound values are refused. Sizes
# are held against the limits first.


Part: TypeAlias = Any  # a group or dataset of h5py (which has no types)
Values: TypeAlias = npt.NDArray[Any]

FILTERS: Final = (1, 2, 3, 32000)  # gzip, shuffle, fletcher32, LZF: those that come with h5py
HEAP: Final = b"GCOL\x01"
HEAP_HEAD: Final = 16
REFERENCE: Final = np.dtype([("length", "<u4"), ("place", "<u8"), ("number", "<u4")])
TEXTS_AT_ONCE: Final = 10_000
MOST_PARTS: Final = 10_000


@dataclass(frozen=True)
class Source:
    """The bytes of a file, what they may cost, and where each of its texts is kept."""

    data: bytes
    limits: Limits
    texts: dict[tuple[int, int], slice]  # by the place of a store and the number in it

    @classmethod
    def of(cls, data: bytes, limits: Limits) -> Source:
        """Look through the stores of texts; the HDF5 library runs in circles on unsound ones.

        A store has its size at byte 8 and begins its objects at byte 16, each with a number of two
        bytes, six others, a size of eight, and its content in steps of eight; number 0 is free.
        """
        texts: dict[tuple[int, int], slice] = {}
        at = data.find(HEAP)
        while at >= 0:
            end = at + _whole(data, at + 8, 8)
            place = at + HEAP_HEAD
            while place + HEAP_HEAD <= min(end, len(data)):
                number, size = _whole(data, place, 2), _whole(data, place + 8, 8)
                if not number:  # the rest is free, its head included
                    place = place + size if size >= HEAP_HEAD else end + 1
                    break
                texts[at, number] = slice(place + HEAP_HEAD, place + HEAP_HEAD + size)
                place += HEAP_HEAD + -(-size // 8) * 8
            if not at + HEAP_HEAD < end <= len(data) or place > end:
                raise DataError("the .h5ad file is damaged (its texts are cut): save it again")
            at = data.find(HEAP, at + 1)
        return cls(data, limits, texts)

    def kept(self, dataset: Part) -> list[bytes] | None:
        """Return the texts of a dataset that is in one piece; None where only the library
        can tell.
        """
        start = dataset.id.get_offset()
        size = len(dataset) * REFERENCE.itemsize
        if dataset.chunks or start is None or dataset.file.userblock_size:
            return None
        raw = self.data[start : start + size]
        if dataset.dtype.kind != "O" or len(raw) != size:
            return None
        result = []
        for length, place, number in np.frombuffer(raw, REFERENCE).tolist():
            here = self.texts.get((place, number), slice(0, 0))
            if length > here.stop - here.start:
                raise DataError(f"{dataset.name} is damaged (texts are missing): save it again")
            result.append(self.data[here.start : here.start + length])
        return result


def _whole(data: bytes, start: int, size: int) -> int:
    return int.from_bytes(data[start : start + size], "little")


def part(group: Part, name: str) -> Part | None:
    """Return a member of a group, if it is there and in the file itself."""
    link = group.get(name, getlink=True)
    if link is None:
        return None
    if not isinstance(link, h5py.HardLink):
        raise DataError(f"{name[:40]!r} points elsewhere, which is not followed: save it again")
    return group[name]


def member(group: Part, name: str) -> Part:
    """Return a member that must be there."""
    found = part(group, name)
    if found is None:
        raise DataError(f"expected {name!r} in {group.name}, found none: save it again")
    return found


def numbers(dataset: Part, limits: Limits, most_axes: int = 1) -> Values:
    """Return a dataset of numbers, whole."""
    _check(dataset, limits)
    if dataset.dtype.kind not in "fiub" or dataset.ndim not in range(1, most_axes + 1):
        _wrong(dataset, "numbers")
    if dataset.dtype.itemsize > 8:
        _wrong(dataset, "numbers of at most 8 bytes")
    values: Values = dataset[()]
    return values


def texts(dataset: Part, source: Source) -> list[str]:
    """Return a dataset of texts, or of numbers as texts, in pieces so that long ones are seen
    early.
    """
    limits = source.limits
    _check(dataset, limits)
    if dataset.ndim != 1:
        _wrong(dataset, "texts in a row")
    if dataset.dtype.kind in "fiub":
        return [_short(value) for value in numbers(dataset, limits).tolist()]
    if h5py.check_string_dtype(dataset.dtype) is None:
        _wrong(dataset, "texts")
    result: list[str] = []
    for raw in source.kept(dataset) or _pieces(dataset):
        if len(raw) > 4 * limits.text_characters:
            raise DataError(
                f"expected texts of at most {limits.text_characters:,} characters in "
                f"{dataset.name}, got more: shorten them"
            )
        result.append(raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw))
    return result


def _pieces(dataset: Part) -> Iterator[Any]:
    for start in range(0, len(dataset), TEXTS_AT_ONCE):
        yield from dataset[start : start + TEXTS_AT_ONCE]


def _short(value: float | int | bool) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value) if value.is_integer() else value)
    return str(value)


def attribute(thing: Part, name: str) -> Any:
    """Return an attribute, if it is a text, a number or a short row of these."""
    if name not in thing.attrs:
        return None
    kept = thing.attrs.get_id(name)
    if kept.dtype.kind not in "fiubSO" or math.prod(kept.shape) > MOST_PARTS:
        raise DataError(f"expected texts or numbers in {name!r}: save the file again")
    if kept.dtype.kind == "O" and h5py.check_string_dtype(kept.dtype) is None:
        raise DataError(f"expected texts in {name!r}: save the file again")
    value = thing.attrs[name]
    if isinstance(value, np.ndarray) and value.ndim:
        return [_plain(item) for item in value.tolist()]
    return _plain(value.item() if isinstance(value, np.generic | np.ndarray) else value)


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _check(dataset: Part, limits: Limits) -> None:
    """Refuse data that are kept elsewhere, packed by unknown programs, or too many."""
    if not isinstance(dataset, h5py.Dataset):
        raise DataError(f"expected values in {dataset.name}, got a group: save the file again")
    if dataset.shape is None or dataset.dtype.kind == "V":
        _wrong(dataset, "plain values")
    if dataset.is_virtual or dataset.external:
        raise DataError(f"{dataset.name} is kept in another file, which is not followed")
    plan = dataset.id.get_create_plist()
    for i in range(plan.get_nfilters()):
        if plan.get_filter(i)[0] not in FILTERS:
            raise DataError(
                f"{dataset.name} is packed in a way that is not known here: save it with gzip"
            )
    size = math.prod(dataset.shape) * dataset.dtype.itemsize
    if size > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {size:,}"
        )
    chunk = math.prod(dataset.chunks or (0,)) * dataset.dtype.itemsize
    if chunk > limits.unpacked_bytes:
        raise DataError(f"expected smaller pieces in {dataset.name}: save the file again")


def _wrong(dataset: Part, wanted: str) -> NoReturn:
    raise DataError(
        f"expected {wanted} in {dataset.name}, got {dataset.ndim}-d {dataset.dtype}: save the "
        "file again with a newer AnnData"
    )


# --------------------------------------------------------------------------------------------------
# AnnData files (.h5ad): a matrix of observations by variables, with what is known of both.
#
# X is an array, or the parts of a CSR or CSC matrix, which stays sparse. Columns of `obs` describe
# the rows; a column of `var` with gene symbols names the genes of the features.


FORMAT: Final = "AnnData"
SPARSE: Final = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}
INDICES: Final = ("_index", "index", "__index__")
KEPT_APART: Final = "__categories"  # where files of AnnData 0.6 and 0.7 keep levels


def read_h5ad(data: bytes, limits: Limits) -> Table:
    """Return one row per observation, one column per variable."""
    source = Source.of(data, limits)
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            return _read(file, source)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # h5py lets errors of many kinds through
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"the .h5ad file is damaged ({reason}): save it again") from error


def _read(file: Part, source: Source) -> Table:
    if part(file, "X") is None or part(file, "obs") is None or part(file, "var") is None:
        raise DataError(
            "expected X, obs and var, as AnnData writes them, got an HDF5 file with "
            f"{some(list(file)) or 'nothing'}"
        )
    obs, var = (_frame(member(file, name)) for name in ("obs", "var"))
    ids, names = _index(obs, source), _index(var, source)
    X = _matrix(member(file, "X"), (len(ids), len(names)), source)
    symbol = symbol_column(_columns(var))
    about, left_out = _h5ad_metadata(obs, len(ids), source)
    symbols = _column(var, symbol, len(names), source) if symbol else None
    given = GenesBySamples(
        names=names,
        values=X.T,
        ids=ids,
        format=FORMAT,
        symbols=[] if symbols is None or symbols == names else symbols,
        about=about,
        remarks=(f"columns of obs left out: {some(left_out)}",) if left_out else (),
    )
    return patients_by_genes(given, source.limits)


def _frame(group: Part) -> Part:
    if not isinstance(group, h5py.Group):
        raise DataError(
            f"expected {group.name} as a group of columns, got a table of an AnnData before 0.7: "
            "save it with a newer one"
        )
    return group


def _index(frame: Part, source: Source) -> list[str]:
    """Return names of the rows of obs or var."""
    stated = attribute(frame, "_index")
    tried = [stated] if isinstance(stated, str) else []
    for name in (*tried, *INDICES):
        found = part(frame, name)
        if isinstance(found, h5py.Group):  # texts that may have gaps
            found = part(found, "values")
        if isinstance(found, h5py.Dataset):
            return texts(found, source)
    raise DataError(f"expected names of the rows of {frame.name}, found none: save it again")


def _columns(frame: Part) -> list[str]:
    index = attribute(frame, "_index")
    return [name for name in frame if name not in (index, KEPT_APART, *INDICES)]


def _matrix(X: Part, shape: tuple[int, int], source: Source) -> Matrix:
    if isinstance(X, h5py.Dataset):
        source.limits.check_shape(*(X.shape if X.ndim == 2 else shape))
        values = numbers(X, source.limits, most_axes=2)
        found: Any = values if values.dtype in (np.float32, np.float64) else values.astype(float)
    else:
        found = _sparse(X, shape, source)
    if found.shape != shape:
        raise DataError(
            f"expected X of {shape[0]:,} x {shape[1]:,}, as obs and var have it, got "
            f"{' x '.join(f'{n:,}' for n in found.shape)}"
        )
    if 0 in shape:
        raise DataError("expected values, got an X without rows or columns")
    return found


def _sparse(X: Part, shape: tuple[int, int], source: Source) -> Matrix:
    kind = attribute(X, "encoding-type") or attribute(X, "h5sparse_format")
    stated = attribute(X, "shape") or attribute(X, "h5sparse_shape") or list(shape)
    if kind not in SPARSE:
        raise DataError(f"expected X as an array, CSR or CSC matrix, got {str(kind)[:40]!r}")
    arrays: dict[str, Values] = {
        name: numbers(member(X, name), source.limits) for name in ("data", "indices", "indptr")
    }
    arrays["shape"] = np.array(stated)
    arrays["format"] = np.array(SPARSE[kind].encode())
    return sparse_matrix(arrays, [], source.limits)


def _h5ad_metadata(obs: Part, n: int, source: Source) -> tuple[dict[str, list[str]], list[str]]:
    """Return columns of obs that may be classes, and those that are left out."""
    result: dict[str, list[str]] = {}
    left_out = []
    for name in _columns(obs):
        cells = _column(obs, name, n, source)
        if cells is None:
            left_out.append(name)
        else:
            result[name] = cells
    return result, left_out


def _column(frame: Part, name: str, n: int, source: Source) -> list[str] | None:
    """Return a column as texts; None for measures and for kinds that are not known."""
    column = member(frame, name)
    if isinstance(column, h5py.Group):
        cells = _encoded(column, source)
    else:
        levels = _old_levels(frame, name)
        cells = texts(column, source) if levels is None else _decoded(column, levels, source)
        is_measure = column.dtype.kind in "fiu" and levels is None
        if is_measure and len(set(cells)) > MOST_LEVELS:
            return None
    if cells is not None and len(cells) != n:
        raise DataError(f"expected {n:,} values in {name[:40]!r}, got {len(cells):,}")
    return cells


def _old_levels(frame: Part, name: str) -> Part | None:
    levels = part(frame, KEPT_APART)
    return part(levels, name) if isinstance(levels, h5py.Group) else None


def _encoded(column: Part, source: Source) -> list[str] | None:
    """Return categories and their codes, or values and a mask of gaps."""
    if part(column, "codes") is not None:
        return _decoded(member(column, "codes"), member(column, "categories"), source)
    if part(column, "values") is None or part(column, "mask") is None:
        return None
    values = texts(member(column, "values"), source)
    mask = numbers(member(column, "mask"), source.limits).astype(bool).tolist()
    if len(mask) != len(values) or len(set(values)) > MOST_LEVELS:
        return None
    return ["" if gap else value for value, gap in zip(values, mask, strict=True)]


def _decoded(codes: Part, categories: Part, source: Source) -> list[str]:
    if isinstance(categories, h5py.Group):  # a nullable string array
        categories = member(categories, "values")
    levels = [*texts(categories, source), ""]
    places = numbers(codes, source.limits)
    if places.dtype.kind not in "iu" or (
        places.size and not -1 <= int(places.min()) <= int(places.max()) < len(levels) - 1
    ):
        raise DataError(f"expected codes of categories in {codes.name}: save the file again")
    return [levels[int(place)] for place in places]
