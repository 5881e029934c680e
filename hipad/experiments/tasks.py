"""Tasks of an experiment: what each is, where results are kept, progress, and means over draws."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.stats import t as t_distribution

from hipad import __version__
from hipad.data.table import note_written
from hipad.exceptions import DataError
from hipad.utils import count

# --------------------------------------------------------------------------------------------------
# One fit of an experiment: what is done, with which data and seed; plain enough for a JSON file.
#
#     Task("contest", "ksvm-s-10k", seed=3, settings={"method": "HIPAD"})
#
# A task's key depends on all that its figures depend on: the task itself, its data and the version
# of this library. Whoever finds the key in a results file need not do the task again.


Figures = dict[str, Any]
"""What a fit found: numbers, texts, and lists of numbers."""


@dataclass(frozen=True)
class Task:
    """One independent fit; `kind` names the function that does it, `data` the rows it is given."""

    kind: str
    data: str
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the task as a results file keeps it."""
        return {
            "kind": self.kind,
            "data": self.data,
            "seed": self.seed,
            "settings": dict(self.settings),
        }

    def key(self, fingerprint: str) -> str:
        """Return what tells this task, on data with this fingerprint, from every other.

        >>> Task("a", "d").key("x") == Task("a", "d").key("x") != Task("a", "d", seed=1).key("x")
        True
        """
        told = {**self.plain(), "rows": fingerprint, "version": __version__}
        text = json.dumps(told, sort_keys=True, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Done:
    """A finished task: its figures, the processor time it took, or the sentence of its error."""

    task: Task
    key: str
    figures: Figures = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.error)

    def figure(self, name: str) -> float:
        """Return one number; nan where this fit has none."""
        value = self.figures.get(name)
        return math.nan if value is None else float(value)

    def setting(self, name: str) -> Any:
        """Return one setting of the task; None where it has none of this name."""
        return self.task.settings.get(name)


# --------------------------------------------------------------------------------------------------
# The results file: one line of JSON for each finished fit, appended and never rewritten.
#
# A line counts when it is whole. If the program is killed while it writes, the last line is torn;
# it is cut off when the file is opened again, and its fit is repeated. All other fits are kept.


FORMAT: Final = "hipad-experiment-1"
LONGEST: Final = 10_000_000  # characters of one line; a fit's figures are a few hundred


class ResultsCache:
    """Finished fits by key. Without a path they are kept in memory only."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.found: dict[str, Done] = {}
        if path is not None:
            self._open(path)

    def __contains__(self, key: str) -> bool:
        """Return whether this fit was done and did not fail: a failed one is tried again."""
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
    """Return a finished fit from a line; None where the line is not one."""
    try:
        assert entry is not None
        task = Task(entry["kind"], entry["data"], entry["seed"], dict(entry["settings"]))
        return Done(task, entry["key"], dict(entry["figures"]), entry["seconds"], entry["error"])
    except (AssertionError, KeyError, TypeError, ValueError):
        return None


# --------------------------------------------------------------------------------------------------
# How far an experiment is, and how long the rest will take at the pace so far.


@dataclass
class ProgressEstimate:
    """Counts fits; those that were found in the results file tell nothing of the pace."""

    total: int
    done: int = 0
    found: int = 0
    failed: int = 0
    begun: float = field(default_factory=time.monotonic)

    def add(self, *, again: bool, failed: bool = False) -> None:
        """One more fit; `again` if it was found and not made."""
        self.done += 1
        self.found += again
        self.failed += failed

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None while nothing is known."""
        made = self.done - self.found
        if not made:
            return None
        return (time.monotonic() - self.begun) / made * (self.total - self.done)

    def __str__(self) -> str:
        left = self.seconds_left
        rest = "" if left is None or self.done == self.total else f", about {duration(left)} left"
        return f"{self.done:,} of {count(self.total, 'fit')}{rest}"


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(42.2), duration(200), duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# --------------------------------------------------------------------------------------------------
# From the figures of many fits to a mean and its interval, and to paired differences.


LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over draws with its 95 % interval; nan where there are too few."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if math.isnan(self.low):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def mean_of(values: Iterable[float]) -> Mean:
    """Return the mean of figures of independent draws, with Student's interval.

    >>> print(mean_of([1.0, 2.0, 3.0]))
    2.000 (-0.484 to 4.484)
    """
    numbers = np.array([value for value in values if not math.isnan(value)], dtype=float)
    n = numbers.size
    if n == 0:
        return Mean(math.nan, math.nan, math.nan, 0)
    value = float(numbers.mean())
    if n == 1:
        return Mean(value, math.nan, math.nan, 1)
    half = float(t_distribution.ppf((1 + LEVEL) / 2, n - 1) * numbers.std(ddof=1) / math.sqrt(n))
    return Mean(value, value - half, value + half, n)


def select(outcomes: Iterable[Done], data: str | None = None, **settings: object) -> list[Done]:
    """Fits on this data with these settings, by seed and key; failed ones are left out."""
    found = [
        done
        for done in outcomes
        if not done.failed
        and data in (None, done.task.data)
        and all(done.setting(name) == value for name, value in settings.items())
    ]
    return sorted(found, key=lambda done: (done.task.seed, done.key))


def failed_arms(outcomes: Iterable[Done]) -> list[str]:
    """Return one sentence for each arm of which fits failed: how many, and why the first did.

    An arm is a method on some data, or a kind of task where there are no methods.
    """
    arms: dict[tuple[str, str], list[Done]] = {}
    for done in outcomes:
        arm = str(done.setting("method") or done.task.kind)
        arms.setdefault((done.task.data, arm), []).append(done)
    told = []
    for (data, arm), fits in arms.items():
        failed = [done for done in fits if done.failed]
        if failed:
            many = f"{len(failed):,} of {count(len(fits), 'fit')} failed"
            told.append(f"{arm} on {data}: {many}, the first with: {failed[0].error}")
    return told


def figures(outcomes: Sequence[Done], name: str) -> list[float]:
    """Return one figure of each fit."""
    return [done.figure(name) for done in outcomes]


def difference(ours: Sequence[Done], theirs: Sequence[Done], name: str) -> Mean:
    """Return the mean difference of a figure over the draws that both were given."""
    other = {_draw_of(done): done.figure(name) for done in theirs}
    pairs = [(done.figure(name), other.get(_draw_of(done))) for done in ours]
    return mean_of(mine - his for mine, his in pairs if his is not None)


def _draw_of(done: Done) -> tuple[str, int, str]:
    """Return what names the rows of a fit."""
    return done.task.data, done.task.seed, repr(done.setting("rows"))
