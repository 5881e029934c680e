"""Workers: tasks in processes here or on a cluster, which end when their parent does."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Final

from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from hipad.exceptions import HipadError
from hipad.experiments.methods import ExperimentData, contest
from hipad.experiments.reproduction import early_support
from hipad.experiments.study_plan import scores_of_others
from hipad.experiments.tasks import Done, Figures, ResultsCache, Task
from hipad.experiments.tuning import nested, tune
from hipad.solvers.solution import single_thread
from hipad.utils import require

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
        told = multiprocessing.parent_process()
        return told is None or told.is_alive()
    return os.getppid() == parent


# --------------------------------------------------------------------------------------------------
# Who does the fits: this process, several processes here, or the workers of a Dask cluster.
#
#     for done in perform(tasks, materials, ledger, workers=2):
#         ...
#
# Fits are independent and seeded, so the figures are the same whoever does them, in whatever order.
# Data go to each worker once: memory-mapped to processes here, scattered to a cluster. A worker
# that dies takes only the fits with it that it was doing; they are given to another one. `stop` is
# asked between two fits.


MOST_DEATHS: Final = 5  # workers that may die in one experiment before it is given up
ANSWER: Final = "10s"  # for a scheduler to answer
HELD: Final = "1M"  # data above this size are memory-mapped to the workers

KINDS: Final[dict[str, Callable[..., Figures]]] = {
    "contest": contest,
    "plan": scores_of_others,
    "early support": early_support,
    "tune": tune,
    "nested": nested,
}

Keyed = tuple[Task, str]


class LostWorker(Exception):
    """A worker of a cluster died, and took with it data or fits that others waited for."""


def perform(
    tasks: Sequence[Task],
    materials: Mapping[str, ExperimentData],
    ledger: ResultsCache,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Generator[Done, None, None]:
    """Yield each outcome as it is known: first those in the ledger, then the others as they end."""
    missing: list[Keyed] = []
    for task in tasks:
        key = task.key(materials[task.data].fingerprint)
        if key in ledger:
            yield ledger[key]
        else:
            missing.append((task, key))
    deaths = 0
    while missing and not stop():
        try:
            with closing(_spread(missing, materials, workers, scheduler)) as outcomes:
                for done in outcomes:
                    ledger.add(done)
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
    materials: Mapping[str, ExperimentData],
    workers: int,
    scheduler: str | None,
) -> Generator[Done, None, None]:
    """Yield the outcomes in any order."""
    if scheduler is None and workers == 1:
        for task, key in missing:
            yield do(task, key, materials[task.data])
        return
    with _place(materials, workers, scheduler):
        spread = Parallel(return_as="generator_unordered", max_nbytes=HELD, pre_dispatch="2*n_jobs")
        parent = os.getpid() if scheduler is None else None
        jobs = (delayed(do)(task, key, materials[task.data], parent) for task, key in missing)
        with closing(spread(jobs)) as outcomes:
            yield from outcomes


def _place(
    materials: Mapping[str, ExperimentData], workers: int, scheduler: str | None
) -> AbstractContextManager[Any]:
    if scheduler is not None:
        return cluster(scheduler, materials)
    return parallel_config(backend="loky", n_jobs=min(workers, cpu_count()) if workers > 0 else -1)


@contextmanager
def cluster(scheduler: str, materials: Mapping[str, ExperimentData]) -> Iterator[None]:
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
    with client, parallel_config(backend="dask", scatter=list(materials.values())):
        try:
            yield
        except (CancelledError, KilledWorker) as error:
            raise LostWorker from error


def do(task: Task, key: str, material: ExperimentData, parent: int | None = None) -> Done:
    """Do one task; an error becomes its sentence, since one bad fit must not end the others.

    A process that was started for this ends with its `parent`, also in the middle of a fit.
    """
    if parent is not None:
        end_with(parent)
    start = time.process_time()
    try:
        with single_thread():
            figures = KINDS[task.kind](material, task.seed, **task.settings)
    except (ValueError, ArithmeticError, MemoryError) as error:
        return Done(task, key, error=f"{type(error).__name__}: {error}")
    return Done(task, key, figures, time.process_time() - start)
