"""Coverage of the interval of `hipad plan`: how often it holds the patients that are truly needed.

A population is known, its tables are drawn from it: pima by a smoothed bootstrap (rows drawn again
with a little noise, so that no two are the same), ksvm-s by its recipe, with few features. From
each of 100 tables a plan is made with 20 draws; the truth comes from 400 fits for each size, tested
on 20,000 fresh rows. Classifiers that cost little stand in for ours: a ridge regression, with the
weights of the rules added or without, and for ksvm-s the difference of the means. Asked is the
figure that is truly reached with each of four numbers of patients. An interval that is open
above holds all that is above its lower end: how often it is, stands beside.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.reporting import Options, progress, table
from benchmarks.worth import data_named
from hipad.datasets import BLOCK_MEANS, make_ksvm_s
from hipad.experiments.methods import ExperimentData, at_prevalence
from hipad.experiments.runner import Done, Task
from hipad.experiments.study_plan import FIGURES, needed_by_method, plan_curves, plan_sizes

ASKED = (24, 48, 96, 192)  # patients with which the targets are reached
REFERENCE, FITS = 20_000, 400
NOISE = 0.35  # standard deviations
PENALTY = 1.0
TOLD = {"Glucose": 0.6, "BMI": 0.3}  # what the rules of pima say, as weights
SMALL: dict[str, Any] = {"n_features": 120, "block_size": 10}
GOAL = (0.90, 0.98)

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


class Population(NamedTuple):
    """Rows without end, the size of a table, and what rules say of the weights."""

    draw: Draw
    patients: int
    told: np.ndarray
    ridge: bool


def pima() -> Population:
    """The diabetes table, smoothed."""
    own = data_named("pima")
    spread = own.X.std(axis=0)

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        rows = rng.integers(own.y.size, size=n)
        return own.X[rows] + NOISE * spread * rng.standard_normal((n, spread.size)), own.y[rows]

    assert own.feature_names is not None
    told = np.array([TOLD.get(name, 0.0) for name in own.feature_names])
    return Population(draw, 768, told, ridge=True)


def ksvm() -> Population:
    """ksvm-s with few features."""
    blocks = make_ksvm_s("10k", seed=0, n_train=4, n_test=4, **SMALL).blocks
    told = np.zeros(SMALL["n_features"])
    for name, columns in blocks.items():
        told[columns] = 0.2 * np.sign(BLOCK_MEANS[name])

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        seed = int(rng.integers(2**31))
        data = make_ksvm_s("10k", seed=seed, n_train=n + n % 2, n_test=4, **SMALL)
        order = rng.permutation(len(data.y_train))[:n]
        return np.asarray(data.X_train.toarray())[order], data.y_train[order].astype(np.float64)

    return Population(draw, 400, told, ridge=False)


def scores(own: Population, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, rules: bool) -> Any:
    """Scores of a linear model that the rows, and the rules, say."""
    mean, scale = X.mean(axis=0), X.std(axis=0) + 1e-9
    Z = (X - mean) / scale
    share = float(np.mean(y > 0))
    target = np.where(y > 0, 0.5 / share, -0.5 / (1.0 - share))
    w = Z.T @ target / len(Z)
    if own.ridge:
        w = np.linalg.solve(Z.T @ Z / len(Z) + PENALTY * np.eye(len(w)), w)
    w = w + own.told if rules else w
    known = Z @ w
    middle = (known[y > 0].mean() + known[y < 0].mean()) / 2.0
    return ((X_test - mean) / scale) @ w - middle


def truth(own: Population, fits: int, rules: bool) -> dict[int, float]:
    """The area that so many patients truly reach."""
    rng = np.random.default_rng(1)
    X_test, y_test = own.draw(rng, REFERENCE)
    found = {}
    for n in ASKED:
        negative, positive = at_prevalence(y_test, n)
        values = []
        for _ in range(fits):
            X, y = own.draw(rng, 4 * n + 40)
            rows = np.r_[np.flatnonzero(y < 0)[:negative], np.flatnonzero(y > 0)[:positive]]
            told = scores(own, X[rows], y[rows], X_test[::4], rules)
            values.append(FIGURES["auroc"].parts(told, y_test[::4] > 0)[0])
        found[n] = float(np.mean(values))
    return found


def planned(own: Population, seed: int, draws: int) -> tuple[ExperimentData, list[Done]]:
    """A table of the population, and the fits of its plan."""
    X, y = own.draw(np.random.default_rng((2, seed)), own.patients)
    data = ExperimentData("table", X, y)
    found = []
    for draw in range(draws):
        for n in plan_sizes(data):
            part = data.draw(draw, train=n)
            for method in ("HIPAD", "no rules"):
                told = scores(own, part.X_train, part.y_train, part.X_test, method == "HIPAD")
                task = Task("plan", "table", draw, {"method": method, "rows": {"train": n}})
                figures = {"tested": part.test_rows, "scores": told}
                found.append(Done(task, f"{draw} {n} {method}", figures))
    return data, found


def run(options: Options) -> str:
    """One line for each population, way and number of patients."""
    lines = []
    tables = 10 if options.quick else 100
    for name, make in (("pima", pima), ("ksvm-s", ksvm)):
        if not options.wants(name):
            continue
        own = make()
        known = {m: truth(own, FITS // 10 if options.quick else FITS, m == "HIPAD")
                 for m in ("HIPAD", "no rules")}  # fmt: skip
        held: dict[tuple[str, int], list[tuple[bool, bool, float]]] = {}
        for seed in range(tables):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                curves = plan_curves(*planned(own, options.seed * 1000 + seed,
                                              options.count(20, 6)), "auroc")  # fmt: skip
            for k, method in enumerate(curves.methods):
                for n in ASKED:
                    one = needed_by_method(curves, known[method][n])[k]
                    # below its smallest size a curve says no more than that these are enough
                    holds = (one.low <= max(n, one.least)) and (n <= one.high)
                    held.setdefault((method, n), []).append((holds, one.is_open, one.value / n))
            if not (seed + 1) % 20:
                progress(f"{name}: {seed + 1} of {tables} tables")
        first = len(lines)
        for (method, n), found in held.items():
            holds, opened, ratio = np.array(found, dtype=float).T
            met = GOAL[0] <= holds.mean() <= GOAL[1]
            lines.append(
                [
                    name,
                    "with rules" if method == "HIPAD" else "without",
                    n,
                    f"{known[method][n]:.3f}",
                    f"{100 * holds.mean():.0f} %" + ("" if met else " (**missed**)"),
                    f"{100 * opened.mean():.0f} %",
                    f"{np.median(ratio):.2f}",
                ]
            )
        for line in lines[first:]:
            progress(", ".join(map(str, line)))
    head = ["population", "way", "patients truly needed", "AUROC", "interval holds it",
            "open above", "median of planned / needed"]  # fmt: skip
    return table(head, lines)
