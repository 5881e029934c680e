"""Out-of-fold scores: what each training patient gets from models that did not see it.

The decision values of a model on its own patients are too good to be true. Those of folds are
honest; calibrated on the patients of their fold, they are on the scale of `decision_function`.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.choosing.choice import AutoChoice
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.parameters import Plan
from hipad.estimator.training import TrainingData


def held_out_scores(data: TrainingData, plan: Plan, lambda1: float, lambda2: float) -> FloatArray:
    """One decision value for each training row, by models that did not see it.

    NaN for rows that every fold needs, and for all where there are too few patients for folds.
    """
    choice = AutoChoice(Posing(data, plan.at(lambda1, lambda2)))
    for _ in choice.steps():
        pass
    if not choice.opinions:
        return np.full(data.y.size, np.nan)
    return choice.opinions[-1].scores
