"""Which samples to label next: our order against a random one and the nearest to the border.

Half of the rows are a pool whose labels are bought eight at a time, beginning with four a class;
balanced accuracy on the other half (ksvm-s: on its test rows), without rules, all defaults. The
figure is how many labels an order needs for the mean accuracy that random order has at a number of
labels, as a share of that number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import labelled
from benchmarks.reporting import Options, progress, table
from benchmarks.rule_tables import rule_table
from benchmarks.trust import balanced
from hipad import HIPADClassifier
from hipad.datasets import make_ksvm_s
from hipad.evaluation.active_learning import label_next

DATA = ("ksvm-s-10k", "pima")
BATCH, MOST = 8, 104
AT = (40, 72, 104)  # labels in random order whose accuracy is to be reached
Order = Callable[[HIPADClassifier, Any, np.random.Generator], np.ndarray]


class Pool(NamedTuple):
    """Rows whose labels can be bought, and rows to judge by."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def run(options: Options) -> str:
    """One row for each data set and order."""
    rows = []
    for name in DATA:
        if not options.wants(name):
            continue
        curves = measured(name, options.count(20))
        random = curves["random order"]
        for order, curve in curves.items():
            needed = [labels_needed(curve, random[(n - 8) // BATCH]) / n for n in AT]
            shown = [f"{100 * curve[(n - 8) // BATCH]:.1f}" for n in AT]
            rows.append([name, order, *shown, *(f"{share:.2f}" for share in needed)])
    head = ["data", "order", *(f"accuracy at {n}" for n in AT)]
    return table([*head, *(f"labels for random's at {n}" for n in AT)], rows)


def measured(name: str, draws: int) -> dict[str, np.ndarray]:
    """The mean accuracy after each batch, for each order."""
    found: dict[str, list[list[float]]] = {order: [] for order in ORDERS}
    for draw in range(draws):
        pool = pool_of(name, draw)
        for order, take in ORDERS.items():
            found[order].append(accuracies(pool, take, draw))
        text = ", ".join(f"{order} {100 * found[order][-1][-1]:.1f}" for order in ORDERS)
        progress(f"{name}, draw {draw}: {text}")
    return {order: np.mean(one, axis=0) for order, one in found.items()}


def pool_of(name: str, draw: int) -> Pool:
    """One draw of a data set."""
    if name.startswith("ksvm-s"):
        data = make_ksvm_s(name.removeprefix("ksvm-s-"), seed=draw)
        return Pool(data.X_train.tocsr(), data.y_train, data.X_test, data.y_test)
    whole, rng = rule_table(name, draw), np.random.default_rng(draw)
    order = rng.permutation(len(whole.y))
    pool, test = np.array_split(order, 2)
    return Pool(whole.X[pool], whole.y[pool], whole.X[test], whole.y[test])


def accuracies(pool: Pool, take: Order, draw: int) -> list[float]:
    """Balanced accuracy after each batch of labels."""
    rng = np.random.default_rng([draw, 11])
    bought = labelled(pool.y, (4, 4), np.random.default_rng(draw))
    found = []
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = HIPADClassifier().fit(pool.X[bought], pool.y[bought])
        found.append(balanced(clf.decision_function(pool.X_test), pool.y_test))
        if bought.size + BATCH > MOST:
            return found
        left = np.setdiff1d(np.arange(pool.y.size), bought)
        bought = np.r_[bought, left[take(clf, pool.X[left], rng)]]


def labels_needed(curve: Sequence[float] | np.ndarray, accuracy: float) -> float:
    """The least number of labels from which on a curve is not below an accuracy.

    >>> labels_needed([0.5, 0.7, 0.6, 0.8], 0.65)
    32.0
    """
    below = np.flatnonzero(np.asarray(curve) < accuracy)
    first = 0 if not below.size else int(below[-1]) + 1
    return float(BATCH * (first + 1)) if first < len(curve) else float("inf")


def _random(_: HIPADClassifier, X: Any, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(X.shape[0], BATCH, replace=False)


def _border(clf: HIPADClassifier, X: Any, _: np.random.Generator) -> np.ndarray:
    return np.argsort(np.abs(clf.decision_function(X)), kind="stable")[:BATCH]


def _ours(clf: HIPADClassifier, X: Any, _: np.random.Generator) -> np.ndarray:
    return np.array([one.row for one in label_next(clf, X, BATCH)])


ORDERS: dict[str, Order] = {
    "random order": _random,
    "nearest the border": _border,
    "both classes, spread (ours)": _ours,
}
