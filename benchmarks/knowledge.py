"""Knowledge that is not an implication: "ABL1 is raised in BCR/ABL", with no threshold known.

The statement alone, the same features also certain, and the experts' rules with their thresholds,
against no knowledge at all. And what statements cost that are wrong (the other direction) or of no
use (three columns that tell least of the outcome, in all rows).

Figures are points of balanced accuracy on the rest of the rows, over the same draws.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks.curves import judged, tables
from benchmarks.data import Table, labelled, rest_of
from benchmarks.reporting import Options, mean_and_error, progress, table
from hipad import HIPADClassifier

SAID = {"pima": "Glucose, BMI and Age", "all-bcrabl": "ABL1"}
WAYS = ("without", "raised", "raised and certain", "rules", "contrary", "irrelevant")
IRRELEVANT = 3


def run(options: Options) -> str:
    """One table of balanced accuracy, one of the number of features."""
    scores, sizes = [], []
    for data in tables():
        if data.name not in SAID or not options.wants(data.name):
            continue
        for size in (8,) if options.quick else (8, 16):
            found, kept = measured(data, size, options.count(20))
            head = [data.name, 2 * size]
            scores.append([*head, *(mean_and_error(100 * found[way], 1) for way in WAYS)])
            sizes.append([*head, *(f"{np.median(kept[way]):.0f}" for way in WAYS)])
    header = ["data", "labelled rows", *WAYS]
    parts = ["Balanced accuracy:", table(header, scores), "Features kept (median):"]
    return "\n\n".join([*parts, table(header, sizes)])


def measured(
    data: Table, size: int, draws: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Balanced accuracy and number of features of every way, one number for each draw."""
    texts = said(data)
    found: dict[str, list[tuple[float, int]]] = {way: [] for way in WAYS}
    for draw in range(draws):
        rows = labelled(data.y, (size, size), np.random.default_rng([draw, size]))
        rest = rest_of(data.y, rows)
        for way in WAYS:
            clf = HIPADClassifier(texts[way] or None, blocks=data.blocks)
            clf.fit(frame(data, rows), data.y[rows])
            values = clf.decision_function(frame(data, rest))
            found[way].append((judged(data.y[rest], values)[1], clf.support_.size))
        text = ", ".join(f"{way} {values[-1][0]:.2f}" for way, values in found.items())
        progress(f"{data.name}, {2 * size} labelled rows, draw {draw}: {text}")
    both = {way: np.array(values, dtype=float) for way, values in found.items()}
    return {way: v[:, 0] for way, v in both.items()}, {way: v[:, 1] for way, v in both.items()}


def said(data: Table) -> dict[str, str]:
    """What each way is told."""
    names = SAID[data.name]
    useless = " and ".join(f"`{name}`" for name in irrelevant(data))
    return {
        "without": "",
        "raised": f"{names} raise the risk",
        "raised and certain": f"{names} raise the risk\n{names} are certain",
        "rules": data.rules,
        "contrary": f"{names} lower the risk",
        "irrelevant": f"{useless} raise the risk",
    }


def irrelevant(data: Table) -> list[str]:
    """The columns that vary, and in which both classes have the same mean rank."""
    assert data.names is not None
    ranks = rankdata(data.X, axis=0)
    apart = np.abs(ranks[data.y > 0].mean(axis=0) - ranks[data.y < 0].mean(axis=0))
    order = np.argsort(np.where(np.ptp(data.X, axis=0) > 0, apart, np.inf), kind="stable")
    return [data.names[j] for j in order[:IRRELEVANT]]


def frame(data: Table, rows: np.ndarray) -> pd.DataFrame | np.ndarray:
    """Some rows with the names of their columns."""
    return data.X[rows] if data.names is None else pd.DataFrame(data.X[rows], columns=data.names)
