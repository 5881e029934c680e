"""Real gene expression data: HIPAD against LIBSVM and the rivals of defaults.py.

All parameters are chosen on training rows.

leukemia        trained on its 38 training rows, judged on its 34 test rows
colon-cancer    5 x 5-fold cross-validation, all classifiers on the same folds
duke            the same

The comparison is paired by fold. Folds share training rows, so the standard error of a difference
is that of Nadeau and Bengio (2003): variance times (1/folds + test rows/training rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.data import Table, available, real_table
from benchmarks.reporting import Options, mean_and_error, progress, table
from benchmarks.rivals import UNWEIGHTED, Hipad, Libsvm, LinearModel, Rival, TunedHipad
from benchmarks.rivals.tuned import TUNED

PAPER = {"leukemia": (0.853, 393), "colon-cancer": (0.844, 195), "duke": (0.90, 168)}
N_FOLDS = 5
SUPPORT_SHARE = 0.10
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Scores:
    """One classifier over all splits."""

    name: str
    accuracy: np.ndarray
    support: np.ndarray


def run(options: Options) -> str:
    """One table for all data sets, one row per classifier."""
    rows: list[list[str]] = []
    for name, (accuracy, support) in PAPER.items():
        if not options.wants(name):
            continue
        if not available(name):
            progress(f"{name} is not here: left out")
            continue
        data = real_table(name)
        found = [scores(rival, data, splits(data, options)) for rival in rivals()]
        rows += describe(data, found, options)
        rows.append([name, "HIPAD in the paper", f"{accuracy:.3f}", "", f"{support}"])
    header = ["data", "classifier", "accuracy", "difference to LIBSVM", "support"]
    return table(header, rows)


def rivals() -> list[Rival]:
    """LIBSVM first: the others are compared with it."""
    return [
        Libsvm(C=None),
        *TUNED,
        Hipad("HIPAD, all default"),
        Hipad("HIPAD, classes unweighted", settings=UNWEIGHTED),
        TunedHipad(),
    ]


def splits(data: Table, options: Options) -> list[Split]:
    """The data's own split, or folds that repeat in every run."""
    if data.name == "leukemia" and data.split is not None:
        return [data.split]
    repeats = options.count(5, 1)
    folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=repeats, random_state=options.seed)
    return list(folds.split(data.X, data.y))


def scores(rival: Rival, data: Table, parts: Sequence[Split]) -> Scores:
    """Accuracy and support size on every split."""
    found = []
    for train, test in parts:
        model: LinearModel = rival.fit(data.X[train], data.y[train])
        found.append((model.accuracy(data.X[test], data.y[test]), model.support_size))
        progress(f"{data.name}, {rival.name}: {found[-1][0]:.3f}, {found[-1][1]} features")
    accuracy, support = (np.array(column, dtype=float) for column in zip(*found, strict=True))
    return Scores(rival.name, accuracy, support)


def describe(data: Table, found: Sequence[Scores], options: Options) -> list[list[str]]:
    """Rows of the table; the first classifier is what the others are compared with."""
    base, limit = found[0], SUPPORT_SHARE * data.X.shape[1]
    test_share = 0.0 if len(base.accuracy) == 1 else 1 / (N_FOLDS - 1)
    rows = []
    for one in found:
        difference = "" if one is base else paired(one.accuracy - base.accuracy, test_share)
        size = f"{np.median(one.support):.0f} (at most {one.support.max():.0f})"
        if one.name.startswith("HIPAD"):
            size += f", goal < {limit:.0f}: {'met' if one.support.max() < limit else '**missed**'}"
        rows.append([data.name, one.name, mean_and_error(one.accuracy), difference, size])
    return rows


def paired(differences: np.ndarray, test_share: float) -> str:
    """Mean difference over splits and its corrected standard error."""
    if differences.size == 1:
        return f"{differences[0]:+.3f}"
    error = sqrt(differences.var(ddof=1) * (1 / differences.size + test_share))
    return f"{differences.mean():+.3f} ± {error:.3f}"
