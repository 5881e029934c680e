"""Coverage of the interval of a cross-validated accuracy, where rows come in groups.

Classifiers that cost little stand in for ours: a ridge regression, and the few columns of largest
t statistic, which differ from fold to fold. The accuracy of the model of all rows on fresh rows is
known exactly, since the rows of a class are normal. Each cell draws a population many times, judges
it by five folds that keep groups together, and counts how often the interval of 95 % holds the true
accuracy. `--seed` draws other populations than those on which `INSTABILITY` and `CHOOSING`
(hipad/evaluation/metrics.py) were settled, which are those of seed 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.model_selection import StratifiedGroupKFold

from benchmarks.reporting import Options, progress, table
from hipad.evaluation.intervals import (
    effective_rows,
    effective_wilson_interval,
    fitted_numbers,
    fold_inflation,
)

FOLDS, TELLING, SHIFT = 5, 3, 0.8
SIZES = ((24, 5), (48, 1), (48, 5), (48, 20), (96, 3), (200, 5))  # groups, rows of each
GOAL = (93.0, 97.0)


class Linear(NamedTuple):
    """A linear classifier: class one where X w + b > 0."""

    w: np.ndarray
    b: float

    def answers(self, X: np.ndarray) -> np.ndarray:
        """Return which rows are of class one."""
        return np.asarray(X @ self.w + self.b > 0)

    @property
    def accuracy(self) -> float:
        """Its accuracy on fresh rows of both classes: rows have variance 2 around their class."""
        spread = np.sqrt(2.0) * np.linalg.norm(self.w)
        shift = SHIFT * self.w[:TELLING].sum()
        return float(np.mean([norm.cdf((shift + self.b) / spread), norm.cdf(-self.b / spread)]))


def ridge(X: np.ndarray, y: np.ndarray, penalty: float) -> Linear:
    """Fit a ridge regression of balanced classes, zero in the middle of their means."""
    scale = X.std(axis=0) + 1e-9
    Z = (X - X.mean(axis=0)) / scale
    share = y.mean()
    target = np.where(y, 0.5 / share, -0.5 / (1.0 - share))
    curvature = Z.T @ Z / len(Z) + penalty * np.eye(Z.shape[1])
    return _centred(np.linalg.solve(curvature, Z.T @ target / len(Z)) / scale, X, y)


def best_columns(X: np.ndarray, y: np.ndarray, count: int) -> Linear:
    """Fit the columns of largest t statistic, each weighted by it."""
    scale = X.std(axis=0) + 1e-9
    t = (X[y].mean(axis=0) - X[~y].mean(axis=0)) / scale
    kept = np.argsort(-np.abs(t))[:count]
    w = np.zeros(X.shape[1])
    w[kept] = t[kept] / scale[kept]
    return _centred(w, X, y)


def _centred(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> Linear:
    return Linear(w, -float((X[y] @ w).mean() + (X[~y] @ w).mean()) / 2)


@dataclass(frozen=True)
class StandIn:
    """A stand-in for our classifier: its fit, its columns, and how many of them it uses."""

    name: str
    fit: Callable[[np.ndarray, np.ndarray], Linear]
    columns: int
    used: int


STAND_INS = (
    StandIn("ridge", lambda X, y: ridge(X, y, 0.1), 12, 12),
    StandIn("3 best columns", lambda X, y: best_columns(X, y, 3), 12, 3),
    StandIn("10 best columns", lambda X, y: best_columns(X, y, 10), 200, 10),
    StandIn("ridge", lambda X, y: ridge(X, y, 0.5), 200, 200),
)


def run(options: Options) -> str:
    """Return one line for each stand-in and population."""
    lines = []
    for model in STAND_INS:
        for alike in (True, False):
            for groups, rows in SIZES:
                if rows == 1 and not alike:
                    continue
                held = [
                    covered(model, groups, rows, alike=alike, seed=[options.seed, draw])
                    for draw in range(options.count(500, 50))
                ]
                known = [one for one in held if one is not None]
                share = 100.0 * float(np.mean(known))
                inside = GOAL[0] <= share <= GOAL[1]
                outcome = "of the group" if alike else "of the row"
                lines.append([
                    f"{model.name} of {model.columns}", outcome, f"{groups} x {rows}",
                    f"{share:.1f}" if inside else f"**{share:.1f}**",
                ])  # fmt: skip
                progress(" ".join(lines[-1]))
    return table(["classifier", "outcome", "groups x rows", "coverage, %"], lines)


def covered(
    model: StandIn, n_groups: int, n_rows: int, *, alike: bool, seed: list[int]
) -> bool | None:
    """Tell whether the interval holds the true accuracy; None where a class has too few groups."""
    rng = np.random.default_rng([*seed, n_groups, n_rows, model.columns])
    groups = np.repeat(np.arange(n_groups), n_rows)
    if alike:
        y = (rng.random(n_groups) < 0.5)[groups]
    else:
        y = rng.normal(size=n_groups)[groups] + rng.normal(size=groups.size) > 0
    own = rng.normal(size=(n_groups, model.columns))[groups]
    X = own + rng.normal(size=own.shape)
    X[:, :TELLING] += SHIFT * y[:, None]
    if min(np.unique(groups[y]).size, np.unique(groups[~y]).size) < FOLDS:
        return None
    right = np.zeros(y.size, dtype=bool)
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for learnt, judged in folds.split(X, y, groups):
        if np.unique(y[learnt]).size < 2:
            return None
        right[judged] = model.fit(X[learnt], y[learnt]).answers(X[judged]) == y[judged]
    independent = effective_rows(right, groups) if n_rows > 1 else float(y.size)
    fitted = fitted_numbers(model.used, model.columns)
    rows = independent / fold_inflation(FOLDS, fitted, independent)
    low, high = effective_wilson_interval(float(right.mean()), rows)
    return low <= model.fit(X, y).accuracy <= high
