"""Where the commands write: looked at before the work, so that a long fit does not end in vain."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hipad.errors import DataError


def check_output(path: str, read: Iterable[str | None]) -> None:
    """Refuse a target without a folder, and one of the files that the command itself reads."""
    target = Path(path)
    if not target.resolve().parent.is_dir():
        raise DataError(f"{path} cannot be written: its folder is not there, make it first")
    if any(_is_same(target, Path(other)) for other in read if other):
        raise DataError(f"{path} cannot be written: this command reads it: give another name")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False
