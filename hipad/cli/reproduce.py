"""Run the paper's experiment on ksvm-s beside the paper's figures and LIBSVM.

Means over seeds: accuracy on the test rows; precision and recall of the support against the 200
features of the blocks; steps of phase 1; seconds of one fit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.svm import SVC

from hipad.cli.bar import counted
from hipad.datasets import SyntheticData, make_ksvm_s
from hipad.errors import DataError
from hipad.estimator.classifier import HIPADClassifier

PAPER = {"10k": {"HIPAD-ENK": 0.990, "LIBSVM": 0.861}, "50k": {"HIPAD-ENK": 0.988, "LIBSVM": 0.748}}
NAMES = tuple(f"ksvm-s-{size}" for size in PAPER)


@dataclass(frozen=True)
class Outcome:
    """Figures of one fit; nan where a method has none."""

    accuracy: float
    precision: float
    recall: float
    features: float
    steps: float
    seconds: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which experiment, and how often."""
    parser.add_argument("experiment", choices=NAMES)
    parser.add_argument("--seeds", type=int, default=10, help="draws of the data (10)")
    parser.add_argument("--lambda1", type=float, default=0.08, help="sparsity (0.08)")


def run(options: argparse.Namespace) -> int:
    """Fit all methods on every draw and print their means."""
    if options.seeds < 1:
        raise DataError(f"expected --seeds of 1 or more, got {options.seeds}")
    size = options.experiment.removeprefix("ksvm-s-")
    hipad(make_ksvm_s(size, seed=0), options.lambda1)  # a first fit loads libraries: not counted
    outcomes: dict[str, list[Outcome]] = {name: [] for name in METHODS}
    for seed in counted(range(options.seeds), "draw"):
        data = make_ksvm_s(size, seed=seed)
        for name, method in METHODS.items():
            outcomes[name].append(method(data, options.lambda1))
    print(table(options.experiment, outcomes, PAPER[size]))
    return 0


def hipad(data: SyntheticData, lambda1: float) -> Outcome:
    """HIPAD-ENK with our defaults."""
    clf = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=lambda1, standardize=False)
    return _judged(clf, data)


def literal(data: SyntheticData, lambda1: float) -> Outcome:
    """HIPAD-ENK with the paper's literal settings: equal rho, no weights, no calibration."""
    clf = HIPADClassifier.paper(data.rules, blocks=data.blocks, lambda1=lambda1)
    return _judged(clf, data)


def libsvm(data: SyntheticData, lambda1: float) -> Outcome:
    """A linear SVM without rules."""
    return _judged(SVC(kernel="linear"), data)


METHODS: dict[str, Callable[[SyntheticData, float], Outcome]] = {
    "HIPAD-ENK": hipad,
    "paper's settings": literal,
    "LIBSVM": libsvm,
}


def _judged(clf: Any, data: SyntheticData) -> Outcome:
    start = time.perf_counter()
    clf.fit(data.X_train, data.y_train)
    seconds = time.perf_counter() - start
    accuracy = float(clf.score(data.X_test, data.y_test))
    if not isinstance(clf, HIPADClassifier):
        unknown = float("nan")
        return Outcome(accuracy, unknown, unknown, data.X_train.shape[1], unknown, seconds)
    true = np.concatenate(list(data.blocks.values()))
    hits = np.intersect1d(clf.support_, true).size
    steps = sum(record.phase == 1 for record in clf.history_)
    precision = hits / max(clf.support_.size, 1)
    return Outcome(accuracy, precision, hits / true.size, clf.support_.size, steps, seconds)


def table(title: str, outcomes: dict[str, list[Outcome]], paper: dict[str, float]) -> str:
    """Means of the figures, one method per line."""
    names = [field.name for field in fields(Outcome)]
    head = ["method", "in the paper", *names]
    lines = [head]
    for method, found in outcomes.items():
        means = [float(np.mean([getattr(one, name) for one in found])) for name in names]
        told = f"{paper[method]:.3f}" if method in paper else "-"
        lines.append([method, told, *(_shown(n, v) for n, v in zip(names, means, strict=True))])
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    draws = len(next(iter(outcomes.values())))
    return "\n".join(
        [f"{title}, mean of {draws} draw{'s' if draws > 1 else ''}"]
        + [
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
    )


def _shown(name: str, value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:,.0f}" if name in ("features", "steps") else f"{value:.3f}"
