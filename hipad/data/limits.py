"""What a file may cost: bytes, rows, columns, cells, memory and time; and progress of a reader."""

from __future__ import annotations

import gzip
import io
import os
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final

from hipad.exceptions import DataError
from hipad.utils import some

# --------------------------------------------------------------------------------------------------
# What a file may cost: bytes, rows, columns, cells, memory and time.
#
# Readers keep these bounds while they read, so that a file beyond them ends in a sentence. The
# process that a file is read in (`hipad.data.process`) is held to `memory_bytes` and `seconds` by
# the operating system as well. Each bound can be set by an environment variable, for example
# `HIPAD_LIMIT_MEMORY_BYTES=8e9`.


PREFIX: Final = "HIPAD_LIMIT_"
FREE_CELLS: Final = 2_000_000  # that any file may have
CELLS_PER_CONTENT: Final = 1_000  # and more for each value or byte that it holds


@dataclass(frozen=True)
class Limits:
    """What a file may hold and cost at most."""

    file_bytes: int = 500 * 2**20
    unpacked_bytes: int = 2**30
    line_bytes: int = 128 * 2**20  # of a text file
    rows: int = 5_000_000
    columns: int = 2_000_000
    cells: int = 100_000_000
    text_characters: int = 1_000  # of one cell: a longer text is prose, and no category
    memory_bytes: int = 4 * 2**30
    seconds: int = 120

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Limits:
        """Return the usual limits, or those that environment variables state instead.

        >>> Limits.from_environment({"HIPAD_LIMIT_SECONDS": "30"}).seconds
        30
        """
        usual = asdict(cls())
        stated = {
            name: stated_number(PREFIX + name.upper(), value, environment)
            for name, value in usual.items()
        }
        return cls(**stated)

    def check_shape(self, rows: int, columns: int, *, cells: int | None = None) -> None:
        """Refuse a table that is too large; `cells` counts what is stored of it."""
        if rows > self.rows:
            raise DataError(
                f"expected at most {self.rows:,} rows, got {rows:,}: leave out rows, a model of "
                "this kind learns from far fewer"
            )
        if columns > self.columns:
            raise DataError(
                f"expected at most {self.columns:,} columns, got {columns:,}: "
                "leave out columns that cannot matter"
            )
        cells = rows * columns if cells is None else cells
        if cells > self.cells:
            raise DataError(
                f"expected at most {self.cells:,} cells, got {cells:,} ({rows:,} rows x "
                f"{columns:,} columns): leave out columns, or save mostly empty data as LIBSVM"
            )

    def check_content(self, cells: int, content: int) -> None:
        """Refuse a table of far more cells than its file has content, in values or bytes."""
        if cells > FREE_CELLS + CELLS_PER_CONTENT * content:
            raise DataError(
                f"expected a table that fits its file, got {cells:,} cells of {content:,} values "
                "or bytes: the file is damaged, or made to do harm; save it again"
            )


def stated_number(
    variable: str, usual: int, environment: Mapping[str, str] = os.environ, *, least: int = 1
) -> int:
    """Return the whole number that an environment variable states, or the usual one where it is not
    set.

    >>> stated_number("HIPAD_JOBS", 4, {"HIPAD_JOBS": "2e0"}), stated_number("HIPAD_JOBS", 4, {})
    (2, 4)
    """
    if variable not in environment:
        return usual
    text = environment[variable]
    try:
        value = int(float(text))
    except (ValueError, OverflowError):
        value = least - 1
    if value < least:
        above = "above zero" if least == 1 else f"of {least} or more"
        raise DataError(
            f"expected a number {above} in {variable}, got {text!r}: set it, for example, to "
            f"{usual}, or leave it out"
        )
    return value


LIMITS: Final = Limits.from_environment()


# --------------------------------------------------------------------------------------------------
# Packed files: what is in a ZIP archive, before it is unpacked, and what gzip packed.
#
# Python unpacks no more of a member than its header claims, so the claims bound the real size.


PIECE_BYTES: Final = 2**20
MOST_MEMBERS: Final = 10_000
ENTRY: Final = b"PK\x01\x02"  # begins each line of the archive's list of members
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack without a bound
ENCRYPTED: Final = 1


def check_archive(data: bytes, limits: Limits) -> list[str]:
    """Return names of a ZIP archive's members, after a look at how large they become."""
    if data.count(ENTRY) > MOST_MEMBERS:
        raise DataError(f"expected at most {MOST_MEMBERS:,} members in the archive, got more")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except Exception as error:  # zipfile lets errors of many kinds through
        raise DataError(f"the file is damaged ({error}): save it again") from error
    size = sum(member.file_size for member in members)
    if size > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {size:,}"
        )
    for member in members:
        if member.compress_type not in METHODS or member.flag_bits & ENCRYPTED:
            raise DataError(
                f"expected plain ZIP members, got {some([member.filename])} packed in another way "
                "or with a password: save it again"
            )
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise DataError("the file is damaged (two members share a name): save it again")
    return names


def unpacked(data: bytes, limits: Limits) -> bytes:
    """Return the bytes themselves, or what gzip packed into them, as long as it is not too much."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    content = io.BytesIO()  # gives its content away without a copy
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(PIECE_BYTES):
                content.write(piece)
                if content.tell() > limits.unpacked_bytes:
                    raise DataError(
                        f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got more"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the gzip file is damaged ({error}): pack it again") from error
    if not content.tell():
        raise DataError("expected a table, got an empty file")
    return content.getvalue()


# --------------------------------------------------------------------------------------------------
# How far reading has come, told by the readers to whoever listens.
#
# Readers call `tell_rows` as often as they like; it costs nothing while nobody listens, and a
# listener hears of it a few times a second.


PAUSE: Final = 0.2  # seconds between two words to the listener

Listener = Callable[[float | None, str], None]  # the share done where it is known, and words

_listener: Listener | None = None
_next_time = 0.0


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, this process's readers tell the listener."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def tell_rows(done: int, most: int) -> None:
    """So many rows are read of so many."""
    global _next_time
    if _listener is None or time.monotonic() < _next_time:
        return
    _next_time = time.monotonic() + PAUSE
    _listener(done / max(most, 1), f"{done:,} of {most:,} rows read")
