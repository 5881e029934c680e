"""Packages that the library does without until something needs them.

They come with `hipad[app]` and `hipad[cluster]`: a program that fits and predicts need not
install them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from hipad.errors import DataError


def require(packages: Sequence[str], purpose: str, *, extra: str = "app") -> None:
    """Say in a sentence which packages are missing, and how to get them.

    >>> require(["json"], "writing a report")
    >>> require(["no_such_package"], "reading a scroll")
    Traceback (most recent call last):
    ...
    hipad.errors.DataError: reading a scroll needs no_such_package, ... pip install 'hipad[app]'
    """
    missing = [name for name in packages if not _installed(name)]
    if missing:
        raise DataError(
            f"{purpose} needs {', '.join(missing)}, which cannot be imported here: "
            f"pip install 'hipad[{extra}]'"
        )


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # an import hook forbids it, or it is half initialised
        return False
