"""Does a unit matter? The same tables in other units, and a marker among columns of large numbers.

units     each column of nine tables times a random power of ten between 1e-6 and 1e6: the largest
          difference of decision values on test rows, and how many answers change; 100 training rows
marker    a column of 0 and 1 that is right in 95 of 100 rows, beside columns of deviation 200 that
          tell nothing; 100 training rows, accuracy on 2,000 others
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.data import available
from benchmarks.defaults import REAL, Draw, draw
from benchmarks.reporting import Options, mean_and_error, progress, table
from hipad import HIPADClassifier

SAME, RIGHT = 1e-6, 0.94  # goals
COLUMNS = (100, 998, 1000, 5000, 20_000)


def run(options: Options) -> str:
    """Both tables."""
    parts = []
    rows = [
        units_row(name, [draw(name, 100, seed) for seed in range(options.count(2))])
        for name in ("ksvm-s", "all-bcrabl", *REAL)
        if options.wants(name) and (name not in REAL or available(name))
    ]
    if rows:
        parts.append(table(["data", "largest difference", "answers changed"], rows))
    if options.wants("marker"):
        found = [marker_row(count, options.count(4)) for count in COLUMNS]
        parts.append(table(["columns", "accuracy"], found))
    return "\n\n".join(parts) or "No data here."


def units_row(name: str, draws: list[Draw]) -> list[str]:
    """The largest difference over some draws."""
    differences, changed, answers = [], 0, 0
    for seed, (X, y, X_test, _) in enumerate(draws):
        units = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, X.shape[1])
        own = HIPADClassifier().fit(X, y).decision_function(X_test)
        scaled, scaled_test = (_times(one, units) for one in (X, X_test))
        other = HIPADClassifier().fit(scaled, y).decision_function(scaled_test)
        differences.append(float(np.max(np.abs(own - other))))
        changed, answers = changed + int(np.sum((own > 0) != (other > 0))), answers + own.size
        progress(f"units, {name}, seed {seed}: {differences[-1]:.1e}")
    worst = max(differences)
    met = "met" if worst <= SAME else "**missed**"
    return [name, f"{worst:.0e} (goal {SAME:g}: {met})", f"{changed:,} of {answers:,}"]


def _times(X: np.ndarray | sp.csr_array, units: np.ndarray) -> np.ndarray | sp.csr_array:
    return sp.csr_array(X @ sp.diags_array(units)) if sp.issparse(X) else X * units


def marker_row(columns: int, draws: int) -> list[str]:
    """Mean accuracy with so many columns."""
    found = np.array([marker_accuracy(columns, seed) for seed in range(draws)])
    progress(f"marker, {columns} columns: {found.round(3).tolist()}")
    met = "met" if found.mean() >= RIGHT else "**missed**"
    return [f"{columns:,}", f"{mean_and_error(found)} (goal >= {RIGHT}: {met})"]


def marker_accuracy(columns: int, seed: int) -> float:
    """Of a model that has one column to find."""
    rng = np.random.default_rng([seed, columns])
    y = np.where(rng.random(2100) < 0.5, 1, -1)
    X = 200.0 * rng.standard_normal((2100, columns), dtype=np.float32)
    X[:, 0] = np.where(rng.random(2100) < 0.95, y > 0, y < 0)
    clf = HIPADClassifier().fit(X[:100], y[:100])
    return float(clf.score(X[100:], y[100:]))
