"""Figure 1 of the paper: the features settle long before the ADMM converges.

50 rows of 300 features; ten features, correlated with each other, carry the class. The ADMM runs to
convergence and its support is recorded after every sweep. Marked are the sweep after which the
support no longer changes, and where the two switch tests would have ended phase 1: the paper's,
which looks at the change of w, and this library's, which looks at the support itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from hipad.estimator.classifier import HIPADClassifier
from hipad.experiments.material import Draw, Material
from hipad.experiments.task import Figures, Task

NAME: Final = "figure 1"
ROWS, FEATURES, RELEVANT = 50, 300, 10
SHIFT, SHARED = 0.75, 0.7  # half the distance of the class means; correlation of the features
SETTINGS: Final[dict[str, Any]] = {
    "lambda1": 0.1,
    "lambda2": 1.0,
    "class_weight": None,
    "calibrate": False,
    "standardize": False,
}


class FewRows(Material):
    """Fifty rows of three hundred features for each seed."""

    def __init__(self) -> None:
        super().__init__(NAME, None, np.zeros(0))

    @property
    def fingerprint(self) -> str:
        return f"{NAME} {ROWS} {FEATURES} {RELEVANT} {SHIFT} {SHARED}"

    def draw(self, seed: int, **_: Any) -> Draw:
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(ROWS) % 2, 1.0, -1.0)
        X = rng.standard_normal((ROWS, FEATURES))
        common = rng.standard_normal((ROWS, 1))
        X[:, :RELEVANT] = np.sqrt(1 - SHARED) * X[:, :RELEVANT] + np.sqrt(SHARED) * common
        X[:, :RELEVANT] += SHIFT * y[:, None]
        return Draw(X, y, X, y)


def early_support(material: Material, seed: int) -> Figures:
    """Support sizes and objectives sweep by sweep, and where everything happens."""
    draw = material.draw(seed)
    admm = HIPADClassifier(method="admm", **SETTINGS)
    sweeps = [s for s in _history(admm, draw) if s.phase == 1]
    changed = [k for k, s in enumerate(sweeps, 1) if s.entered.size + s.left.size]
    return {
        "support_sizes": [int(s.support_size) for s in sweeps],
        "objectives": [float(s.objective) for s in sweeps],
        "converged": len(sweeps),
        "settled": changed[-1] if changed else 0,
        "ours": _phase_one("support", draw),
        "paper": _phase_one("paper", draw),
    }


def _history(clf: HIPADClassifier, draw: Draw) -> list[Any]:
    return clf.start(draw.X_train, draw.y_train).to_end().finish().history_


def _phase_one(switch: str, draw: Draw) -> int:
    """Sweeps until this test ends phase 1."""
    clf = HIPADClassifier(switch=switch, **SETTINGS)
    return sum(step.phase == 1 for step in _history(clf, draw))


def figure_tasks(seed: int = 0) -> list[Task]:
    """One fit tells all."""
    return [Task("early support", NAME, seed)]
