"""The rule report of a fitted model: joins the model with what the rule engine knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.heard import model_effects, model_pulls
from hipad.estimator.run import Model
from hipad.estimator.training import TrainingData
from hipad.estimator.trust.mixture import learns_trust, trust_of
from hipad.rules import RuleRecord, rule_report
from hipad.solver import Hipad

UNSEEN: Final = (
    "no labelled row lies near what the rules speak of, so the trust in them cannot be learnt: "
    "the rule counts as given"
)


def model_report(data: TrainingData, model: Model, warm: Hipad | None = None) -> list[RuleRecord]:
    """One record a rule.

    Margins and worst cases are those of the model as it predicts, in the user's units; slack and
    residual those of the optimisation problem. Fits without a rule start from `warm`.
    """
    w = np.zeros(data.design.shape[1])
    w[model.features] = model.coef
    records = rule_report(
        model.plan.rules,
        w=w,
        b=model.intercept,
        lo=data.box.lo,
        hi=data.box.hi,
        mean=data.design.mean,
        scale=data.design.scale,
        train=(data.X, data.y),
        missing=data.gaps,
        pulls=model_pulls(data, model),
        effects=list(model_effects(data, model, warm)),
        knobs=model.knobs,
        certificates=farkas_residuals(model),
    )
    unseen = (UNSEEN,) if _unseen(model) else ()
    return [
        replace(
            record,
            trust=trust_of(model.members, i, data.total),
            remarks=record.remarks + (unseen if record.written is None else ()),
        )
        for i, record in enumerate(records)
    ]


def _unseen(model: Model) -> bool:
    """Whether trust would be learnt, but no labelled row can say anything on the rules."""
    mixture = model.mixture
    return mixture is not None and learns_trust(model.plan) and not mixture.can_testify


def farkas_residuals(model: Model) -> list[tuple[float | None, float | None]]:
    """Slack (d'u - e b + 1)_+ and residual |M (B'u + s w)| of each rule; None for one left out."""
    problem, found, stack = model.problem, model.solution, model.problem.stack
    slacks = np.maximum(stack.slacks(found.b, found.u), 0.0)
    inside, outside = _split_weights(model)
    active = iter(range(stack.n_rules))
    pairs: list[tuple[float | None, float | None]] = []
    for own in model.knobs:
        if own.sigma <= 0:
            pairs.append((None, None))
            continue
        i = next(active)
        rows = stack.owner == i
        residual = stack.B[rows].T @ found.u[rows] + stack.sign[i] * inside
        if problem.scope == "typical":
            residual = residual[np.any(stack.B[rows] != 0, axis=0)]
            outside = np.zeros(0)
        size = float(np.sqrt(residual @ residual + outside @ outside))
        pairs.append((float(slacks[i]), size))
    return pairs


def _split_weights(model: Model) -> tuple[FloatArray, FloatArray]:
    """Weights on the features that rules name (in their order), and all others."""
    problem, found = model.problem, model.solution
    at, of = problem.rule_positions(found.features)
    inside = np.zeros(problem.stack.features.size)
    inside[of] = found.w[at]
    return inside, np.delete(found.w, at)
