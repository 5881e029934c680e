"""The risk curve of a fitted classifier, made when a risk is first asked for.

It takes the out-of-fold scores of the fit. An automatic fit has them; after a fit with values that
the user gave, the folds are fitted now. That needs the training rows, so a classifier makes its
curve before it is pickled or saved without them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hipad.arrays import FloatArray
from hipad.errors import HipadError
from hipad.estimator.calibration import Calibration, class_means, class_means_at_one
from hipad.estimator.risks.risk_curve import RiskCurve
from hipad.estimator.run import Model
from hipad.estimator.training import TrainingData


class RiskSource:
    """Holds what a curve is made of, and then the curve."""

    def __init__(
        self, origin: tuple[TrainingData, Model] | None = None, curve: RiskCurve | None = None
    ) -> None:
        self._origin, self._curve = origin, curve

    @property
    def curve(self) -> RiskCurve:
        """The curve over the classifier's decision values."""
        if self._curve is None:
            if self._origin is None:
                raise HipadError(
                    "expected a model that knows risks, got one from a file without them: "
                    "fit it again and save it"
                )
            self._curve, self._origin = learnt_curve(*self._origin), None
        return self._curve

    @property
    def known(self) -> bool:
        """Whether risks can be told."""
        return self._curve is not None or self._origin is not None

    @property
    def ready(self) -> bool:
        """Whether they can be told at once, without fits on folds."""
        folds_are_there = self._origin is not None and self._origin[1].held_out is not None
        return self._curve is not None or folds_are_there

    def __getstate__(self) -> dict[str, Any]:
        """With the curve, and without the training rows."""
        return {"_origin": None, "_curve": self.curve if self.known else None}


def learnt_curve(data: TrainingData, model: Model) -> RiskCurve:
    """The curve from out-of-fold scores, over the decision values of this model.

    Scores made now have the class means of training rows at -1 and +1, so the curve is read at
    decision values that are put on that scale. Those of an automatic, calibrated fit are on the
    scale of its decision values already.
    """
    constant = RiskCurve.constant(float(data.weights[data.y > 0].sum() / data.weights.sum()))
    if not model.features.size:
        return constant
    own = decision_values(data, model)
    if class_means(own, data.y, data.weights) is None:
        return constant
    scores, scale = model.fresh_scores(), score_scale(data, model, own)
    weights = data.patient_weights  # several rows of one patient make nobody more certain
    curve = _short(RiskCurve.fit(scores, data.y, weights))
    if asks_who_is_likelier(data):
        curve = curve.even_at(scale.offset, scores, data.y, weights)
    return curve.of_scaled(scale.factor, scale.offset)


def score_scale(data: TrainingData, model: Model, own: FloatArray) -> Calibration:
    """What turns decision values of the model into out-of-fold scores; `own` are the rows' ones."""
    chosen = model.plan.is_automatic or any(one.cut is not None for _, one in model.parts)
    if chosen and model.plan.calibrate:
        return Calibration(1.0, 0.0)
    return class_means_at_one(own, data.y, data.weights, 0.0)


def held_out_values(data: TrainingData, model: Model) -> FloatArray:
    """Out-of-fold scores of the training rows as decision values of the model; NaN where unknown.

    A model without features says the same of everybody.
    """
    own = decision_values(data, model)
    if not model.features.size or class_means(own, data.y, data.weights) is None:
        return own
    scale = score_scale(data, model, own)
    return (model.out_of_fold() - scale.offset) / scale.factor


def fresh_values(data: TrainingData, model: Model) -> FloatArray:
    """The same for each repeat of the folds, at values that the row's own fold did not choose."""
    own = decision_values(data, model)
    if not model.features.size or class_means(own, data.y, data.weights) is None:
        return own[None]
    scale = score_scale(data, model, own)
    return (model.fresh_scores() - scale.offset) / scale.factor


def _short(curve: RiskCurve) -> RiskCurve:
    """A quarter of a point of risk is finer than any patients tell; what is finer still hangs on
    the order of the rows.
    """
    return replace(curve, log_odds=np.round(curve.log_odds, 3))


def asks_who_is_likelier(data: TrainingData) -> bool:
    """Whether classes count by their patients, so that decision and risk ask the same question.

    They are then to give the same answer, unless held-out rows clearly speak against it.
    """
    positive = data.y > 0
    return abs(data.p[positive].sum() - data.weights[positive].sum() / data.weights.sum()) < 1e-9


def decision_values(data: TrainingData, model: Model) -> FloatArray:
    """Those of the training rows."""
    scores = data.X[:, model.features] @ model.coef + model.intercept
    return np.asarray(scores, dtype=float).ravel()
