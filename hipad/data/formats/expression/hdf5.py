"""Parts of an HDF5 file, each looked at before it is read.

A file may point to other files, hold Python objects, or ask for programs that unpack it: links that
leave the file, data kept elsewhere, unknown filters and compound values are refused. Sizes are held
against the limits first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

import h5py
import numpy as np
import numpy.typing as npt

from hipad.data.limits import Limits
from hipad.errors import DataError

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
        """The texts of a dataset that is in one piece; None where only the library can tell."""
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
    """A member of a group, if it is there and in the file itself."""
    link = group.get(name, getlink=True)
    if link is None:
        return None
    if not isinstance(link, h5py.HardLink):
        raise DataError(f"{name[:40]!r} points elsewhere, which is not followed: save it again")
    return group[name]


def member(group: Part, name: str) -> Part:
    """A member that must be there."""
    found = part(group, name)
    if found is None:
        raise DataError(f"expected {name!r} in {group.name}, found none: save it again")
    return found


def numbers(dataset: Part, limits: Limits, most_axes: int = 1) -> Values:
    """A dataset of numbers, whole."""
    _check(dataset, limits)
    if dataset.dtype.kind not in "fiub" or dataset.ndim not in range(1, most_axes + 1):
        _wrong(dataset, "numbers")
    if dataset.dtype.itemsize > 8:
        _wrong(dataset, "numbers of at most 8 bytes")
    values: Values = dataset[()]
    return values


def texts(dataset: Part, source: Source) -> list[str]:
    """A dataset of texts, or of numbers as texts, in pieces so that long ones are seen early."""
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
    """An attribute, if it is a text, a number or a short row of these."""
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
