"""Who does the fits: this process, several processes here, or the workers of a Dask cluster.

    for done in perform(tasks, materials, ledger, workers=2):
        ...

Fits are independent and seeded, so the figures are the same whoever does them, in whatever order.
Data go to each worker once: memory-mapped to processes here, scattered to a cluster. A worker that
dies takes only the fits with it that it was doing; they are given to another one. `stop` is asked
between two fits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Final

from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from hipad.errors import HipadError
from hipad.experiments.contests import contest
from hipad.experiments.figure import early_support
from hipad.experiments.ledger import Ledger
from hipad.experiments.material import Material
from hipad.experiments.searches.tuned import nested, tune
from hipad.experiments.task import Done, Figures, Task
from hipad.experiments.watching import end_with
from hipad.optional import require
from hipad.solver.threads import single_thread

MOST_DEATHS: Final = 5  # workers that may die in one experiment before it is given up
ANSWER: Final = "10s"  # for a scheduler to answer
HELD: Final = "1M"  # data above this size are memory-mapped to the workers

KINDS: Final[dict[str, Callable[..., Figures]]] = {
    "contest": contest,
    "early support": early_support,
    "tune": tune,
    "nested": nested,
}

Keyed = tuple[Task, str]


class LostWorker(Exception):
    """A worker of a cluster died, and took with it data or fits that others waited for."""


def perform(
    tasks: Sequence[Task],
    materials: Mapping[str, Material],
    ledger: Ledger,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Done]:
    """Each outcome as it is known: first those in the ledger, then the others as they end."""
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
    missing: Sequence[Keyed], materials: Mapping[str, Material], workers: int, scheduler: str | None
) -> Generator[Done, None, None]:
    """The outcomes in any order."""
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
    materials: Mapping[str, Material], workers: int, scheduler: str | None
) -> AbstractContextManager[Any]:
    if scheduler is not None:
        return cluster(scheduler, materials)
    return parallel_config(backend="loky", n_jobs=min(workers, cpu_count()) if workers > 0 else -1)


@contextmanager
def cluster(scheduler: str, materials: Mapping[str, Material]) -> Iterator[None]:
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


def do(task: Task, key: str, material: Material, parent: int | None = None) -> Done:
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
