"""All-default HIPAD without rules against usual classifiers, each tuned by inner folds.

Nine tables, 100 and 500 training rows (two thirds of a table that has fewer), the same draws for
everybody; balanced accuracy on the rest, on at most 2,000 rows of it. These are the tables that the
defaults were chosen on; others are in real.py.

The second table asks how good the choice itself is: on five families of synthetic data, how far
the chosen values are from the best pair in hindsight, how far they move with `random_state`, and
how long a choice takes beside a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score

from benchmarks.data import FOLDER, available, sample_table
from benchmarks.reporting import Options, mean_and_error, progress, table, timed
from benchmarks.rivals import Hipad
from benchmarks.rivals.base import Rival
from benchmarks.rivals.tuned import TUNED
from hipad import HIPADClassifier
from hipad.datasets import make_ksvm_s

REAL = (
    "pima", "wpbc60", "promoters", "rcv1-vw", "farm-ads", "gisette-like", "fmri-haxby",
)  # fmt: skip
SIZES = (100, 500)
MOST_TEST_ROWS = 2000
BEHIND = 2.0  # points that the default may be below the best
Draw = tuple[Any, np.ndarray, Any, np.ndarray]
OURS = "HIPAD, all default"


def run(options: Options) -> str:
    """Both tables."""
    parts = [against_rivals(options)]
    if options.wants("families"):
        parts.append(families(options))
    return "\n\n".join(parts)


def against_rivals(options: Options) -> str:
    """Balanced accuracy, ranks and processor time."""
    rivals: list[Rival] = [Hipad(OURS), *TUNED]
    names, rows, means, seconds = [one.name for one in rivals], [], [], []
    for name, size, draws in cases(options):
        found = [[scored(rival, draw, name) for rival in rivals] for draw in draws]
        scores, times = np.moveaxis(np.array(found), 2, 0)
        rows.append([name, size, *(mean_and_error(100 * column, 1) for column in scores.T)])
        means.append(scores.mean(axis=0))
        seconds.append(times.mean(axis=0))
    if not means:
        return "No data here."
    ranks = np.mean([rankdata(-mean) for mean in means], axis=0)
    behind = [100 * float(mean.max() - mean[0]) for mean in means]
    rows.append(["average rank", "", *(f"{rank:.2f}" for rank in ranks)])
    rows.append(["seconds", "", *(f"{mean:.1f}" for mean in np.mean(seconds, axis=0))])
    verdict = (
        f"Average rank {ranks[0]:.2f}, that of the best rival {ranks[1:].min():.2f}; "
        f"at most {max(behind):.1f} points below the best (goal {BEHIND:g})."
    )
    return table(["data", "rows", *names], rows) + "\n\n" + verdict


def scored(rival: Rival, draw: Draw, name: str) -> tuple[float, float]:
    """Balanced accuracy on the test rows, and processor seconds of the fit."""
    X, y, X_test, y_test = draw
    model, seconds = timed(lambda: rival.fit(X, y))
    score = float(balanced_accuracy_score(y_test, model.predict(X_test)))
    progress(f"{name}, {len(y)} rows, {rival.name}: {score:.3f}, {seconds:.1f} s")
    return score, seconds


def cases(options: Options) -> Iterator[tuple[str, int, list[Draw]]]:
    """Each table with each number of training rows that it has."""
    for name in ("ksvm-s", "all-bcrabl", *REAL):
        if not options.wants(name) or (name in REAL and not available(name)):
            continue
        for size in SIZES[: 1 if options.quick else None]:
            draws = [draw(name, size, seed) for seed in range(options.count(5))]
            if size == SIZES[0] or len(draws[0][1]) > 0.9 * size:
                yield name, len(draws[0][1]), draws


def draw(name: str, size: int, seed: int) -> Draw:
    """Training rows at the prevalence of all, and test rows."""
    if name == "ksvm-s":
        return synthetic_draw(size, seed)
    X, y = matrix(name)
    rng = np.random.default_rng([seed, size])
    wanted = min(size, 2 * len(y) // 3)
    parts = [rng.permutation(np.flatnonzero(y == sign)) for sign in (-1, 1)]
    train = np.concatenate([part[: round(wanted * len(part) / len(y))] for part in parts])
    train = rng.permutation(train)
    test = rng.permutation(np.setdiff1d(np.arange(len(y)), train))[:MOST_TEST_ROWS]
    return X[train], y[train], X[test], y[test]


def synthetic_draw(size: int, seed: int) -> Draw:
    """ksvm-s-10k; more than its 200 training rows come from further seeds."""
    parts = [make_ksvm_s("10k", seed=seed + 1000 * k) for k in range(-(-size // 200))]
    X = sp.csr_array(sp.vstack([part.X_train for part in parts]))
    y = np.concatenate([part.y_train for part in parts])
    rows = np.random.default_rng(seed).permutation(len(y))[:size]
    return X[rows], y[rows], sp.csr_array(parts[0].X_test), parts[0].y_test


def matrix(name: str) -> tuple[Any, np.ndarray]:
    """A table as numbers, dense or sparse, and labels in {-1, +1}."""
    if name == "all-bcrabl":
        sample = sample_table(name)
        return sample.X, sample.y
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        y = file["y"].astype(int)
        if "X" in file.files:
            return file["X"].astype(float), y
        indices, starts = (file[key].astype(np.int32) for key in ("indices", "indptr"))
        parts = (file["data"].astype(float), indices, starts)
        return sp.csr_array(parts, shape=tuple(file["shape"])), y


def sparse_signal(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Ten of a thousand columns tell the classes apart."""
    return rng.standard_normal((y.size, 1000)) + 0.5 * np.outer(y, np.arange(1000) < 10)


def dense_signal(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Every column tells a little."""
    return rng.standard_normal((y.size, 1000)) + np.outer(y, 0.12 * rng.standard_normal(1000))


def correlated_signal(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Blocks of twenty columns that go together; one block tells."""
    shared = np.repeat(rng.standard_normal((y.size, 25)), 20, axis=1)
    own = rng.standard_normal((y.size, 500))
    return 0.8 * shared + 0.6 * own + 0.5 * np.outer(y, np.arange(500) < 20)


def unbalanced_signal(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """The sparse signal, for one positive in five."""
    return sparse_signal(rng, y)


def weak_signal(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Five of two hundred columns, hardly above noise."""
    return rng.standard_normal((y.size, 200)) + 0.25 * np.outer(y, np.arange(200) < 5)


FAMILIES: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "sparse": sparse_signal,
    "dense": dense_signal,
    "correlated": correlated_signal,
    "unbalanced": unbalanced_signal,
    "weak": weak_signal,
}
TRAINING, TESTING, STATES = 80, 2000, 10


def families(options: Options) -> str:
    """Chosen values against the best in hindsight, their spread, and the time of a choice."""
    rows = []
    for name, make in FAMILIES.items():
        found = np.array([one_family(name, make, seed) for seed in range(options.count(10))])
        chosen, best, spread, ratio = found.T
        rows.append([
            name, mean_and_error(chosen), mean_and_error(best), f"{np.mean(best - chosen):.3f}",
            f"{spread.mean():.3f}", f"{ratio.mean():.1f}",
        ])  # fmt: skip
    header = ["family", "chosen", "best in hindsight", "gap"]
    header += ["deviation over `random_state`", "time of the choice for one lambda2 / of a fit"]
    return table(header, rows)


def one_family(
    name: str, make: Callable[[np.random.Generator, np.ndarray], np.ndarray], seed: int
) -> tuple[float, float, float, float]:
    """Balanced accuracy as chosen and at best, its deviation over states, and the time ratio."""
    rng = np.random.default_rng(seed)
    share = 0.2 if name == "unbalanced" else 0.5
    y = np.where(np.arange(TRAINING + TESTING) % 10 < 10 * share, 1, -1)
    X = make(rng, y)
    train, test = np.arange(TRAINING), np.arange(TRAINING, y.size)

    def score(clf: HIPADClassifier) -> float:
        return float(balanced_accuracy_score(y[test], clf.predict(X[test])))

    chosen, seconds = timed(lambda: HIPADClassifier().fit(X[train], y[train]))
    values = {"lambda1": chosen.lambda1_, "lambda2": chosen.lambda2_}
    _, once = timed(lambda: HIPADClassifier(**values).fit(X[train], y[train]))
    others = [
        HIPADClassifier(random_state=state).fit(X[train], y[train]) for state in range(1, STATES)
    ]
    grid = [
        HIPADClassifier(lambda1=point.lambda1, lambda2=point.lambda2).fit(X[train], y[train])
        for point in chosen.path_
    ]
    best = max(score(clf) for clf in [chosen, *grid])
    spread = float(np.std([score(clf) for clf in [chosen, *others]]))
    ridges = len({point.lambda2 for point in chosen.path_})
    progress(f"{name}, seed {seed}: chosen {score(chosen):.3f}, best {best:.3f}")
    return score(chosen), best, spread, seconds / ridges / max(once, 1e-9)
