"""Texts written to files so that no half file is ever seen and nothing unexpected is overwritten.

A text is written beside its target and then moved into place. What is not an ordinary file is never
replaced: a link stays and the file it points to is replaced, a device is written into, a directory
or a named pipe is refused.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hipad.errors import DataError

STDOUT: Final = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
DEVICES: Final = ("/dev/", "/proc/self/fd/")
PERMISSIONS: Final = 0o777
# What this process has written, so that a command that ends early can say so.
WRITTEN: list[str] = []


def write_text(path: Path, text: str, *, not_over: Iterable[Path] = ()) -> None:
    """Write a text as UTF-8; the files in `not_over`, which are being read, are never replaced."""
    try:
        data = text.encode("utf-8")
        target = path.resolve()
        if str(path) in STDOUT:
            sys.stdout.write(text)
            sys.stdout.flush()
        elif str(path).startswith(DEVICES) or target.is_char_device():
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                stream.write(data)
        else:
            _check_target(path, target, not_over)
            _replace(target, data)
        note_written(path)
    except UnicodeEncodeError as error:
        raise DataError(f"{path} cannot be written: expected text, got {error.reason}") from error
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle
        if isinstance(error, DataError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path} cannot be written: {reason}") from error


def note_written(path: Path) -> None:
    """Note that a file was written, or more of it."""
    if str(path) not in WRITTEN:
        WRITTEN.append(str(path))


def _check_target(path: Path, target: Path, not_over: Iterable[Path]) -> None:
    if not target.exists():
        return
    if not target.is_file():
        kind = "a directory" if target.is_dir() else "a pipe or another special file"
        raise DataError(f"{path} cannot be written: expected a file, got {kind}")
    if any(other.exists() and target.samefile(other) for other in not_over):
        raise DataError(f"{path} cannot be written: it is being read: give another name")
    if not os.access(target, os.W_OK):
        raise DataError(f"{path} cannot be written: it is write-protected: give another name")


def _replace(target: Path, data: bytes) -> None:
    """Write beside the target and move into place; an existing file's permissions are kept."""
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode) & PERMISSIONS)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
