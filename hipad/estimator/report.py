"""The rule report of a fitted model: joins the model with what the rule engine knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.heard import model_effects, model_pulls
from hipad.estimator.parameters import PRIOR_TRUST
from hipad.estimator.run import Model
from hipad.estimator.training import TrainingData
from hipad.estimator.trust.mixture import learns_trust, trust_of
from hipad.rules import RuleRecord, RuleTrust, rule_report
from hipad.solver import Hipad


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
        pulls=model_pulls(data, model),
        effects=list(model_effects(data, model, warm)),
        knobs=model.knobs,
        certificates=farkas_residuals(model),
    )
    return [replace(record, trust=_trust(model, i, data.total)) for i, record in enumerate(records)]


def _trust(model: Model, rule: int, rows: float) -> RuleTrust | None:
    """The trust in one rule: learnt, or as before where no row can say anything on it."""
    plan, mixture = model.plan, model.mixture
    if model.members or mixture is None or not learns_trust(plan):
        return trust_of(model.members, rule, rows)
    if mixture.can_testify or plan.rules[rule].rule.worth is not None:
        return None
    prior = plan.rule_trust if isinstance(plan.rule_trust, float) else PRIOR_TRUST
    return RuleTrust(prior, prior, rows)


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
