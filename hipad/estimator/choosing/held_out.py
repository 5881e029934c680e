"""Out-of-fold scores: what each training patient gets from models that did not see it.

The decision values of a model on its own patients are too good to be true. Those of folds are
honest; calibrated on the patients of their fold, they are on the scale of `decision_function`.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.calibration import class_means_at_one
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.parameters import Plan
from hipad.estimator.path import Fold, content_folds, usable_folds
from hipad.estimator.training import TrainingData


def held_out_scores(data: TrainingData, plan: Plan, lambda1: float, lambda2: float) -> FloatArray:
    """One decision value for each training row, by models that did not see it.

    NaN for all rows where there are too few patients for folds.
    """
    posing, y, scores = Posing(data, plan), data.y, np.full(data.y.size, np.nan)
    everyone = np.arange(y.size)
    parts = usable_folds(content_folds(data.design, y, data.p), y)
    for out in parts if len(parts) > 1 else ():
        fold = Fold(np.setdiff1d(everyone, out), out)
        model = fold.fit(
            lambda value, rows: posing.problem(value, lambda2, rows), lambda1, lambda1,
            plan.settings.method == "hipad",
        )  # fmt: skip
        own = data.design.columns(model.features) @ model.w
        rows = fold.rows
        scale = class_means_at_one(own[rows], y[rows], data.weights[rows], model.b)
        scores[out] = scale.factor * own[out] + scale.offset
    return scores
