"""Where work is kept on this computer, how much of it, and whether at all.

Each person runs the app under an account of their own, and there the work lies, in the folder that
the system has for such things. Environment variables change the place and the limits; SECURITY.md
names them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hipad.data.limits import stated_number
from hipad.exceptions import DataError

NAME: Final = "hipad-workbench"
ON: Final = ("on", "yes", "true", "1")
OFF: Final = ("off", "no", "false", "0")


@dataclass(frozen=True)
class Place:
    """A folder for kept work, and its limits."""

    folder: Path
    is_on: bool = True
    most_works: int = 20  # of one browser
    most_bytes: int = 2 * 2**30  # of all of them

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Place:
        """The place that the environment asks for, or the usual one."""
        return cls(
            folder=_given_folder(environment) or usual_folder(environment),
            is_on=_is_on(environment.get("HIPAD_KEEP", "")),
            most_works=stated_number("HIPAD_KEEP_WORKS", cls.most_works, environment, least=0),
            most_bytes=stated_number("HIPAD_KEEP_BYTES", cls.most_bytes, environment, least=0),
        )


def _is_on(text: str) -> bool:
    """Whether to keep work; a word that is neither on nor off must not keep what it should not."""
    word = text.strip().lower()
    if word in OFF:
        return False
    if word and word not in ON:
        raise DataError(f"expected on or off in HIPAD_KEEP, got {text!r}: write one of them")
    return True


def _given_folder(environment: Mapping[str, str]) -> Path | None:
    given = environment.get("HIPAD_KEEP_FOLDER", "")
    try:
        return Path(given).expanduser() if given else None
    except RuntimeError as error:  # an account that is not there
        raise DataError(
            f"expected a folder in HIPAD_KEEP_FOLDER, got {given!r}, whose account is not known: "
            "write the whole path"
        ) from error


def usual_folder(environment: Mapping[str, str], system: str = sys.platform) -> Path:
    """Where programs keep their state on this kind of system.

    >>> usual_folder({"XDG_STATE_HOME": "/var/me"}, "linux").as_posix()
    '/var/me/hipad-workbench'
    """
    home = Path(environment.get("HOME") or Path.home())
    if system == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / NAME
    if system == "darwin":
        return home / "Library" / "Application Support" / NAME
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / NAME
