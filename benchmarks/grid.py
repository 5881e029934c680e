"""A grid of settings by cross-validation: HIPADClassifierCV beside GridSearchCV over SGDClassifier.

10 x 10 values of (lambda1, lambda2), 5 folds, 200 patients and 10,000 features of which 20 tell the
classes apart, both on 2 processes that were started before. The rival minimises the same elastic
net of hinge losses: alpha = lambda1 + lambda2 and l1_ratio = lambda1 / alpha. Besides the seconds
on the wall those of the processors are told, which neighbours on the machine do not stretch.

The rival would take most of an hour. It does every fourth combination, spread over the whole grid,
and its seconds are four times those.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from benchmarks.reporting import Options, progress, table, verdict
from hipad import HIPADClassifierCV

PROCESSES, FOLDS, GOAL = 2, 5, 20
LAMBDA2 = (0.01, 10.0)
EVERY = 4  # combination of the grid, for the rival


def run(options: Options) -> str:
    """Both searches in one run, and how many times faster the first is."""
    count, m = (3, 2000) if options.quick else (10, 10_000)
    X, y = patients(200, m)
    lambda2 = np.geomspace(*LAMBDA2, count)
    Parallel(n_jobs=PROCESSES)(delayed(time.sleep)(0.5) for _ in range(2 * PROCESSES))
    own = HIPADClassifierCV(lambda1=count, lambda2=lambda2, cv=FOLDS, n_jobs=PROCESSES)
    wall, processor = measured(lambda: own.fit(X, y))
    progress(f"HIPADClassifierCV {wall:.1f} s, processors {processor:.1f} s")
    rival = rival_search(own.cv_results_["params"][::EVERY])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # epochs that did not suffice
        wall_2, processor_2 = (EVERY * spent for spent in measured(lambda: rival.fit(X, y)))
    progress(f"GridSearchCV {wall_2:.1f} s, processors {processor_2:.1f} s")
    found = [
        ["HIPADClassifierCV", f"{wall:.1f}", f"{processor:.1f}", f"{own.best_score_:.3f}", ""],
        [
            "GridSearchCV, SGDClassifier", f"{wall_2:.1f}", f"{processor_2:.1f}",
            f"{rival.best_score_:.3f}", verdict(processor_2 / processor, GOAL, digits=1),
        ],
    ]  # fmt: skip
    size = f"{count} x {count} values, {FOLDS} folds, 200 x {m:,}"
    header = [size, "s on the wall", "s of processors", "best accuracy in folds", "times slower"]
    return table(header, found)


def patients(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of noise with twenty features that tell the classes apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m))
    return X, np.where(X[:, :20].sum(axis=1) + 2 * rng.standard_normal(n) > 0, 1, -1)


def rival_search(candidates: list[dict[str, float]]) -> GridSearchCV:
    """The same grid for stochastic gradient descent on standardised columns."""
    grid = [
        {"sgdclassifier__alpha": [a], "sgdclassifier__l1_ratio": [candidate["lambda1"] / a]}
        for candidate in candidates
        for a in [candidate["lambda1"] + candidate["lambda2"]]
    ]
    model = SGDClassifier(
        loss="hinge", penalty="elasticnet", class_weight="balanced", random_state=0
    )
    return GridSearchCV(
        make_pipeline(StandardScaler(), model), grid, cv=FOLDS, n_jobs=PROCESSES, refit=False
    )


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the wall, and of the processors by this process and those below it."""
    wall, before = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - wall, processor_seconds() - before


def processor_seconds() -> float:
    """Of this process and all below it, where the system tells; else of this one."""
    try:
        return sum(map(_ticks, _family(os.getpid()))) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.process_time()


def _family(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    below = [int(child) for t in threads for child in (t / "children").read_text().split()]
    return [pid, *(member for child in below for member in _family(child))]


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])
