"""Tasks of an experiment and who does them: results that are kept, progress, worker processes."""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from scipy.stats import t as t_distribution

from hipad import __version__
from hipad.data.table import note_written
from hipad.exceptions import DataError, HipadError
from hipad.solvers.solution import single_thread
from hipad.utils import count, require

if TYPE_CHECKING:
    from hipad.experiments.methods import ExperimentData

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
        identity = {**self.plain(), "rows": fingerprint, "version": __version__}
        text = json.dumps(identity, sort_keys=True, allow_nan=False, separators=(",", ":"))
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
    """Yield whole lines, and where each ends in the file."""
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
    """Return seconds in words.

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
    """Return fits on this data with these settings, by seed and key; failed ones are left out."""
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
    sentences = []
    for (data, arm), fits in arms.items():
        failed = [done for done in fits if done.failed]
        if failed:
            many = f"{len(failed):,} of {count(len(fits), 'fit')} failed"
            sentences.append(f"{arm} on {data}: {many}, the first with: {failed[0].error}")
    return sentences


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


# --------------------------------------------------------------------------------------------------
# A worker process ends when the process that it works for has ended, however that came about.
#
# A parent that is killed cannot tell its workers, which would wait for more work for minutes, each
# with its own copy of the data. So a worker looks by itself every few seconds. The kernel's own
# signal for this (PR_SET_PDEATHSIG) would not do: it comes when the thread ends that started the
# worker, and workers outlive threads.


EVERY: Final = 2.0  # seconds between two looks

_watched: set[int] = set()


def end_with(parent: int) -> None:
    """Have this process end soon after its parent; the parent itself is left alone."""
    if parent in _watched or parent == os.getpid():
        return
    _watched.add(parent)
    threading.Thread(target=_watch, args=(parent,), name="hipad-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while _is_alive(parent):
        time.sleep(EVERY)
    os._exit(1)


def _is_alive(parent: int) -> bool:
    if sys.platform == "win32":  # an orphan keeps the number of its parent there
        process = multiprocessing.parent_process()
        return process is None or process.is_alive()
    return os.getppid() == parent


# --------------------------------------------------------------------------------------------------
# Who does the fits: this process, several processes here, or the workers of a Dask cluster.
#
#     for done in perform(tasks, data_by_name, cache, workers=2):
#         ...
#
# Fits are independent and seeded, so the figures are the same whoever does them, in whatever order.
# Data go to each worker once: memory-mapped to processes here, scattered to a cluster. A worker
# that dies takes only the fits with it that it was doing; they are given to another one. `stop` is
# asked between two fits.


MOST_DEATHS: Final = 5  # workers that may die in one experiment before it is given up
ANSWER: Final = "10s"  # for a scheduler to answer
HELD: Final = "1M"  # data above this size are memory-mapped to the workers

KINDS: Final = {  # the function that does a kind of task, in a module that itself uses this one
    "contest": "methods.contest",
    "plan": "study_plan.scores_of_others",
    "early support": "reproduction.early_support",
    "tune": "tuning.tune",
    "nested": "tuning.nested",
}

Keyed = tuple[Task, str]


class LostWorker(Exception):
    """A worker of a cluster died, and took with it data or fits that others waited for."""


def perform(
    tasks: Sequence[Task],
    data_by_name: Mapping[str, ExperimentData],
    cache: ResultsCache,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Generator[Done, None, None]:
    """Yield each outcome as it is known: first those in the ledger, then the others as they end."""
    missing: list[Keyed] = []
    for task in tasks:
        key = task.key(data_by_name[task.data].fingerprint)
        if key in cache:
            yield cache[key]
        else:
            missing.append((task, key))
    deaths = 0
    while missing and not stop():
        try:
            with closing(_spread(missing, data_by_name, workers, scheduler)) as outcomes:
                for done in outcomes:
                    cache.add(done)
                    missing = [each for each in missing if each[1] != done.key]
                    yield done
                    if stop():
                        return
        except (TerminatedWorkerError, LostWorker) as error:
            deaths += 1
            if deaths > MOST_DEATHS:
                raise HipadError(
                    f"{deaths} worker processes died, most likely for want of memory: "
                    "choose fewer workers; finished fits are kept"
                ) from error


def _spread(
    missing: Sequence[Keyed],
    data_by_name: Mapping[str, ExperimentData],
    workers: int,
    scheduler: str | None,
) -> Generator[Done, None, None]:
    """Yield the outcomes in any order."""
    if scheduler is None and workers == 1:
        for task, key in missing:
            yield do(task, key, data_by_name[task.data])
        return
    with _place(data_by_name, workers, scheduler):
        spread = Parallel(return_as="generator_unordered", max_nbytes=HELD, pre_dispatch="2*n_jobs")
        parent = os.getpid() if scheduler is None else None
        jobs = (delayed(do)(task, key, data_by_name[task.data], parent) for task, key in missing)
        with closing(spread(jobs)) as outcomes:
            yield from outcomes


def _place(
    data_by_name: Mapping[str, ExperimentData], workers: int, scheduler: str | None
) -> AbstractContextManager[Any]:
    if scheduler is not None:
        return cluster(scheduler, data_by_name)
    return parallel_config(backend="loky", n_jobs=min(workers, cpu_count()) if workers > 0 else -1)


@contextmanager
def cluster(scheduler: str, data_by_name: Mapping[str, ExperimentData]) -> Iterator[None]:
    """Everything inside is done by the workers of the cluster with this scheduler.

    Dask does lost fits again by itself, but not those whose scattered data died with a worker.
    """
    require(["distributed"], "a Dask cluster", extra="cluster")
    from distributed import Client, KilledWorker

    try:
        client = Client(scheduler, timeout=ANSWER)
    except (OSError, ValueError) as error:
        raise HipadError(
            f"no Dask scheduler answered at {scheduler}: start one (dask scheduler), "
            "give its address as tcp://host:8786, or leave the scheduler out"
        ) from error
    with client, parallel_config(backend="dask", scatter=list(data_by_name.values())):
        try:
            yield
        except (CancelledError, KilledWorker) as error:
            raise LostWorker from error


def do(task: Task, key: str, data: ExperimentData, parent: int | None = None) -> Done:
    """Do one task; an error becomes its sentence, since one bad fit must not end the others.

    A process that was started for this ends with its `parent`, also in the middle of a fit.
    """
    if parent is not None:
        end_with(parent)
    start = time.process_time()
    try:
        with single_thread():
            module, name = KINDS[task.kind].split(".")
            work = getattr(import_module(f"hipad.experiments.{module}"), name)
            figures = work(data, task.seed, **task.settings)
    except (ValueError, ArithmeticError, MemoryError) as error:
        return Done(task, key, error=f"{type(error).__name__}: {error}")
    return Done(task, key, figures, time.process_time() - start)
