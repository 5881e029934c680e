"""Damaged copies of a file, the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

NUMBER = re.compile(rb"\d+")
EXTREMES = (
    b"0", b"-1", b"255", b"65536", b"2147483648", b"4294967295", b"500000000", b"9007199254740993",
    b"18446744073709551616", b"1e308", b"-1e308", b"1e-320", b"1e999", b"nan", b"inf", b"-inf",
    b"0x1p3", b"1_0", b"9" * 400,
)  # fmt: skip
EXTREME_BYTES = b"\x00\x01\x7f\x80\xff\n\r\t ,;:\"'#|.-+eE"


def mutations(seed_bytes: bytes, n: int, seed: int) -> Iterator[bytes]:
    """Yield n damaged copies of the bytes, each with one to four kinds of damage.

    >>> list(mutations(b"a,b\\n1,2\\n", 2, seed=0)) == list(mutations(b"a,b\\n1,2\\n", 2, seed=0))
    True
    """
    draw = random.Random(seed)
    for _ in range(n):
        data = bytearray(seed_bytes)
        for damage in draw.choices(DAMAGES, k=draw.randint(1, 4)):
            if data:
                damage(data, draw)
        yield bytes(data)


def _flip(data: bytearray, draw: random.Random) -> None:
    """Some bits change."""
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _put(data: bytearray, draw: random.Random) -> None:
    """A byte becomes one that often means something."""
    data[draw.randrange(len(data))] = draw.choice(EXTREME_BYTES)


def _cut(data: bytearray, draw: random.Random) -> None:
    """A piece, or all from some place on, goes away."""
    start, end = _piece(data, draw)
    del data[start : len(data) if draw.random() < 0.3 else end]


def _splice(data: bytearray, draw: random.Random) -> None:
    """One piece overwrites another place."""
    start, end = _piece(data, draw)
    at = draw.randrange(len(data))
    data[at : at + end - start] = data[start:end]


def _repeat(data: bytearray, draw: random.Random) -> None:
    """A piece stands there several times."""
    start, end = _piece(data, draw)
    data[start:end] = data[start:end] * draw.choice((2, 3, 10, 50))


def _noise(data: bytearray, draw: random.Random) -> None:
    """Random bytes come in between."""
    at = draw.randrange(len(data) + 1)
    data[at:at] = draw.randbytes(draw.randint(1, 12))


def _extreme_number(data: bytearray, draw: random.Random) -> None:
    """A written number becomes an extreme one."""
    start = draw.randrange(len(data))
    found = NUMBER.search(data, start) or NUMBER.search(data)
    if found:
        data[found.start() : found.end()] = draw.choice(EXTREMES)


def _extreme_word(data: bytearray, draw: random.Random) -> None:
    """Four or eight bytes, a number of a binary format, become an extreme one."""
    size = draw.choice((2, 4, 8))
    at = draw.randrange(len(data))
    value = draw.choice((0, 1, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), 2 ** (8 * size - 1) - 1))
    data[at : at + size] = value.to_bytes(size, "little")


def _piece(data: bytearray, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(data))
    return start, min(len(data), start + draw.choice((1, 4, 16, 100)))


DAMAGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip, _put, _cut, _splice, _repeat, _noise, _extreme_number, _extreme_word,
)  # fmt: skip
