"""The results file: one line of JSON for each finished fit, appended and never rewritten.

A line counts when it is whole. If the program is killed while it writes, the last line is torn; it
is cut off when the file is opened again, and its fit is repeated. All other fits are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hipad.data.writing import note_written
from hipad.errors import DataError
from hipad.experiments.task import Done, Task

FORMAT: Final = "hipad-experiment-1"
LONGEST: Final = 10_000_000  # characters of one line; a fit's figures are a few hundred


class Ledger:
    """Finished fits by key. Without a path they are kept in memory only."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.found: dict[str, Done] = {}
        if path is not None:
            self._open(path)

    def __contains__(self, key: str) -> bool:
        """Whether this fit was done and did not fail: a failed one is tried again."""
        return key in self.found and not self.found[key].failed

    def __getitem__(self, key: str) -> Done:
        return self.found[key]

    def add(self, done: Done) -> None:
        """Keep a finished fit; when this returns, it is on the disk."""
        self.found[done.key] = done
        if self.path is not None:
            line = {"key": done.key, **done.task.plain(), "figures": done.figures}
            line |= {"seconds": done.seconds, "error": done.error}
            self._append(line)
            note_written(self.path)

    def _open(self, path: Path) -> None:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append({"format": FORMAT})
            return
        if not path.is_file():
            raise DataError(f"expected a results file, got {path}, which is none: name another")
        whole = 0
        for number, (line, end) in enumerate(_lines(path)):
            entry = _entry(line)
            if number == 0 and (entry is None or entry.get("format") != FORMAT):
                raise DataError(
                    f"{path} is not a results file of experiments: name another file, or a new one"
                )
            if number and (done := _done(entry)) is not None:
                self.found[done.key] = done
            whole = end
        if whole < path.stat().st_size:
            os.truncate(path, whole)
        if not whole:
            self._append({"format": FORMAT})

    def _append(self, entry: dict[str, Any]) -> None:
        if self.path is None:
            return
        text = json.dumps(entry, allow_nan=True, separators=(",", ":"))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())


def _lines(path: Path) -> Iterator[tuple[str, int]]:
    """Whole lines, and where each ends in the file."""
    end = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            if not line.endswith(b"\n"):
                return
            end += len(line)
            yield line.decode("utf-8", "replace"), end


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _done(entry: dict[str, Any] | None) -> Done | None:
    """A finished fit from a line; None where the line is not one."""
    try:
        assert entry is not None
        task = Task(entry["kind"], entry["data"], entry["seed"], dict(entry["settings"]))
        return Done(task, entry["key"], dict(entry["figures"]), entry["seconds"], entry["error"])
    except (AssertionError, KeyError, TypeError, ValueError):
        return None
