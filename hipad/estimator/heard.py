"""What each rule does to a fitted model, and what it would take: told by fits, not by formulas.

A rule changes the model if the fit without it, at the same lambda1 and lambda2, is another one;
otherwise it adds nothing. It is outvoted where the model says the opposite of it: about most of the
training rows that it covers and about the typical patient who meets it. How many patients a rule
must be worth for a feature of it to enter is found by fits at the same lambda1: from what it pulls
by itself upwards until a feature enters, then between the last two values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hipad.estimator.run import FitRun, Model
from hipad.estimator.strength import knobs_of, rule_blocks
from hipad.estimator.training import TrainingData
from hipad.estimator.trust.rule_candidates import MOST_SINGLE
from hipad.rules import CompiledRule, Effect, Knobs, Pull, prototype, rule_pulls
from hipad.solver import Hipad, Problem, Solution

MOST_FITS = 60  # for all rules of a report, to find what they would take
MOST_LEFT_OUT = 100  # rules of a report without which a model is fitted
HALVINGS = 5
MOST_SIGMA = 100.0  # a rule worth more than a hundred times all patients is no advice
SAME = 1e-6  # relative change of the weights that is none


def model_effects(
    data: TrainingData, model: Model, warm: Hipad | None = None
) -> Iterator[Effect | None]:
    """What each rule does to the model; None for rules beyond the first `MOST_LEFT_OUT`."""
    for i, rule in enumerate(model.plan.rules):
        if i >= MOST_LEFT_OUT:
            yield None
            continue
        counts = model.knobs[i].sigma > 0 or bool(model.members)
        without = fit_without(i, data, model, warm) if counts else model
        yield rule_effect(rule, model, without, data)


def fit_without(i: int, data: TrainingData, model: Model, warm: Hipad | None = None) -> Model:
    """The model that the same fit gives without rule i, at the same lambda1 and lambda2.

    Where trust is learnt, every candidate has values of its own, and so has the fit without it.
    Among many rules, and where an earlier fit learnt it, the trust in the others stays.
    """
    start = [] if warm is None else [warm]
    if model.members and model.mixture is not None:  # what both have is fitted already
        mixture = model.mixture
        if len(model.plan.rules) > MOST_SINGLE:
            mixture = mixture.held_at(model.members)
        return FitRun(data, mixture.plan, start, quick=True, mixture=mixture, left_out=i).run()
    others = tuple(rule for k, rule in enumerate(model.plan.rules) if k != i)
    plan = replace(model.plan.at(model.lambda1, model.lambda2), rules=others)
    return FitRun(data, plan, start, quick=True).run()


def rule_effect(rule: CompiledRule, model: Model, without: Model, data: TrainingData) -> Effect:
    """What a rule does, from the model with it and the one without it."""
    fires, mean = rule.fires(data.X, data.gaps), data.design.mean
    covered = data.X[fires][:, model.features]
    scores = rule.sign * np.asarray(covered @ model.coef + model.intercept).ravel()
    weights = data.weights[fires]
    center = np.zeros(model.features.size) if mean is None else mean[model.features]
    return Effect(
        changes=not same_model(model, without, data),
        covered=float(weights.sum()),
        against=float(weights[scores < 0].sum()),
        typical=_typical_margin(rule, data, model),
        average=rule.sign * (model.intercept + float(center @ model.coef)),
    )


def _typical_margin(rule: CompiledRule, data: TrainingData, model: Model) -> float | None:
    """The margin of the least unusual patient who meets the rule; None if nobody can."""
    w = np.zeros(data.design.shape[1])
    w[model.features] = model.coef
    design = data.design
    found = prototype(rule.B, rule.d, rule.sign, w, model.intercept, design.mean, design.scale)
    return found.margin if found.feasible else None


def same_model(one: Model, other: Model, data: TrainingData) -> bool:
    """Whether two models on the same rows have the same features and weights.

    Calibration sets scale and intercept by the weights; without it, they count as well.
    """
    if not np.array_equal(one.features, other.features):
        return False
    if one.plan.calibrate:
        first, second = (_direction_of(model, data) for model in (one, other))
        return np.allclose(first, second, rtol=0.0, atol=SAME)
    size = max(float(np.linalg.norm(one.solution.w)), abs(one.solution.b), 1e-300)
    change = np.append(one.solution.w - other.solution.w, one.solution.b - other.solution.b)
    return bool(np.abs(change).max() <= SAME * size)


def _direction_of(model: Model, data: TrainingData) -> np.ndarray:
    """The weights of scaled columns at length one."""
    scale = data.design.scale
    weights = model.coef if scale is None else model.coef * scale[model.features]
    return weights / max(float(np.linalg.norm(weights)), 1e-300)


def model_pulls(data: TrainingData, model: Model) -> list[Pull]:
    """How each rule pulls, how many of its features are in this model, and what it would take."""
    pulls = rule_pulls(
        model.told,
        model.knobs,
        model.lambda1,
        lambda columns: data.design.columns(columns).T @ (data.p * data.y),
    )
    refits = WorthRefits(model)
    return [refits.told(i, pull) for i, pull in enumerate(pulls)]


class WorthRefits:
    """The problem of one model, solved again with one of its rules worth more, less or nothing.

    Rules are named by their position i among those of the model.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.fits = model, 0
        self.now = model.solution

    def told(self, i: int, pull: Pull) -> Pull:
        """The pull of rule i, its features in the model and, if there are none, what it takes."""
        inside = self.inside(i, self.now)
        pull = replace(pull, inside=inside)
        if inside or pull.limit != "worth" or pull.lambda1 == 0:
            return pull
        return replace(pull, sigma_needed=self.needed(i, pull.sigma_needed))

    def inside(self, i: int, found: Solution) -> int:
        """How many features of rule i have a weight in a solution."""
        return int(np.isin(self.model.told[i].columns, found.features).sum())

    def needed(self, i: int, least: float) -> float:
        """The sigma from which on a feature of rule i enters; inf where none does."""
        low, high = 0.0, max(least, self.model.knobs[i].sigma)
        while high <= MOST_SIGMA and self.fits < MOST_FITS and not self.enters(i, high):
            low, high = high, 2.0 * high
        if high > MOST_SIGMA:
            return float("inf")
        low = low or 0.5 * high
        for _ in range(HALVINGS):
            middle = float(np.sqrt(low * high))
            if self.fits >= MOST_FITS or high < 1.02 * low:
                break
            low, high = (low, middle) if self.enters(i, middle) else (middle, high)
        return high

    def enters(self, i: int, sigma: float) -> bool:
        """Whether a feature of rule i enters where the rule counts that much."""
        return self.inside(i, self.fitted(i, self.worth(i, sigma))) > 0

    def worth(self, i: int, sigma: float) -> Knobs:
        """The knobs of rule i as if this worth had been written for it."""
        own, rule, plan = self.model.knobs[i], self.model.told[i], self.model.plan
        written = replace(rule, rule=replace(rule.rule, worth=sigma * own.n_samples))
        return knobs_of(
            written, total=own.n_samples, patients=plan.patients, stiffness=plan.stiffness
        )

    def fitted(self, i: int, knobs: Knobs) -> Solution:
        """The solution with other knobs of rule i."""
        self.fits += 1
        model = self.model
        changed = [knobs if k == i else own for k, own in enumerate(model.knobs)]
        blocks = rule_blocks(model.told, changed, anchored=model.plan.anchored)
        problem: Problem = model.problem.with_parameters(rules=blocks)
        return Hipad(problem, replace(model.plan.settings, quick=True)).run()


def direction(found: Solution) -> np.ndarray:
    """The weights at length one: calibration sets their scale, so it tells nothing of a rule."""
    return found.w / max(float(np.linalg.norm(found.w)), 1e-300)
