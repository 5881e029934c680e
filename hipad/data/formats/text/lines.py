"""Lines of a text file, a few megabytes at a time.

A file of a gigabyte may have as many lines; they are counted before they become objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from hipad.data.limits import Limits
from hipad.errors import DataError

CHUNK_BYTES: Final = 2**20
FIRST_BYTES: Final = 2**16  # a small first piece: what it tells makes the rest cheaper
NEWLINE: Final = 10
LINES_PER_ROW: Final = 4  # empty lines are no rows, but there is an end to them too


def count_letters(data: bytes, letter: int) -> int:
    """How often a letter of one byte stands in some text; much faster than `bytes.count`."""
    return sum(
        int(np.count_nonzero(np.frombuffer(data, np.uint8, size, start) == letter))
        for start, size in _parts(len(data))
    )


def _parts(length: int) -> Iterator[tuple[int, int]]:
    """Start and size of the parts that a long text is looked at in."""
    for start in range(0, length, CHUNK_BYTES):
        yield start, min(CHUNK_BYTES, length - start)


class Lines:
    """The lines of UTF-8 text, which may end as Unix, Windows or an old Mac ends them."""

    def __init__(self, data: bytes, limits: Limits, before: int = 0) -> None:
        self.before = before  # lines of the file above these
        self.data = data if b"\n" in data else data.replace(b"\r", b"\n")
        self.limits = limits
        self.most_rows = count_letters(self.data, NEWLINE) + 1
        if self.most_rows > LINES_PER_ROW * limits.rows:
            raise DataError(
                f"expected at most {limits.rows:,} rows, got {self.most_rows:,} lines: leave out "
                "rows, or lines that are empty"
            )
        if self.most_rows > limits.rows:
            self.most_rows = self._filled()
            limits.check_shape(self.most_rows, 1)

    def check_width(self, width: int) -> None:
        """Refuse lines that would make too large a table if each is a row of this many cells."""
        if self.most_rows * width > self.limits.cells:
            self.most_rows = self._filled()
        self.limits.check_shape(self.most_rows, width)

    def _filled(self) -> int:
        """How many lines are not empty."""
        filled, within = 0, False
        for start, size in _parts(len(self.data)):
            letter = np.frombuffer(self.data, np.uint8, size, start) != NEWLINE
            filled += int(np.count_nonzero(letter[1:] & ~letter[:-1]))
            filled += int(letter[0] and not within)
            within = bool(letter[-1])
        return filled

    def chunks(self) -> Iterator[bytes]:
        """All lines, many in one piece, each ended as Unix does."""
        start, size = 0, FIRST_BYTES
        while start < len(self.data):
            end = len(self.data)
            if start + size < end:
                whole = self.data.rfind(b"\n", start, start + size) + 1
                end = whole or self.data.find(b"\n", start + size) + 1 or end
            self._check_length(end - start)
            chunk = self.data[start:end]
            if b"\r" in chunk:
                chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield chunk
            start, size = end, CHUNK_BYTES

    def _check_length(self, size: int) -> None:
        if size > max(self.limits.line_bytes, CHUNK_BYTES):
            raise DataError(
                f"expected lines of at most {self.limits.line_bytes:,} bytes, got one of "
                f"{size:,}: a table has one line for each row"
            )

    def __iter__(self) -> Iterator[str]:
        for chunk in self.chunks():
            yield from chunk.removesuffix(b"\n").decode().split("\n")
