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

NAME: Final = "hipad-workbench"
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
        given = environment.get("HIPAD_KEEP_FOLDER", "")
        return cls(
            folder=Path(given).expanduser() if given else usual_folder(environment),
            is_on=environment.get("HIPAD_KEEP", "on").strip().lower() not in OFF,
            most_works=int(float(environment.get("HIPAD_KEEP_WORKS", cls.most_works))),
            most_bytes=int(float(environment.get("HIPAD_KEEP_BYTES", cls.most_bytes))),
        )


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
