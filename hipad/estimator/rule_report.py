"""What each rule and each feature prior does to a fitted model, confirmed by refits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from hipad.estimator.fit import FitRun, Model
from hipad.estimator.problem_factory import TrainingData, penalty_factors, rule_blocks, rule_weights
from hipad.estimator.trust import learns_trust, trust_of
from hipad.rules import (
    CompiledRule,
    Effect,
    FeatureIndex,
    RuleGradient,
    RuleRecord,
    RuleWeights,
    prototype,
    rule_gradients,
    rule_report,
)
from hipad.rules.compiler import CompiledPrior, known_features
from hipad.solvers import Hipad, Problem, Solution
from hipad.utils import FloatArray, count, listed

# --------------------------------------------------------------------------------------------------
# What each rule does to a fitted model, and what it would take: found by fits, not by formulas.
#
# A rule changes the model if the fit without it, at the same lambda1 and lambda2, is another one;
# otherwise it adds nothing. It is outvoted where the model says the opposite of it: about most of
# the training rows that it covers and about the typical row that meets it. How many rows a
# rule must be worth for a feature of it to enter is found by fits at the same lambda1: from what it
# is by itself strong enough upwards until a feature enters, then between the last two values.


MOST_FITS = 60  # for all rules of a report, to find what they would take
MOST_LEFT_OUT = 100  # rules of a report without which a model is fitted
HALVINGS = 5
MOST_SIGMA = 100.0  # no advice is given to weigh a rule by more than a hundred times all rows
SAME = 1e-6  # relative change of the weights that is none


def model_effects(
    data: TrainingData, model: Model, warm: Hipad | None = None
) -> Iterator[Effect | None]:
    """Yield what each rule does to the model; None for rules beyond the first `MOST_LEFT_OUT`."""
    for i, rule in enumerate(model.plan.rules):
        if i >= MOST_LEFT_OUT:
            yield None
            continue
        counts = model.rule_weights[i].sigma > 0 or bool(model.members)
        without = fit_without(i, data, model, warm) if counts else model
        yield rule_effect(rule, model, without, data)


def fit_without(i: int, data: TrainingData, model: Model, warm: Hipad | None = None) -> Model:
    """Return the model that the same fit gives without rule i, at the same lambda1 and lambda2.

    Where trust is learnt, every candidate has values of its own, and so has the fit without it.
    Among many rules, and where an earlier fit learnt it, the trust in the others stays.
    """
    start = [] if warm is None else [warm]
    if model.members and model.mixture is not None:  # what both have is fitted already
        mixture = model.mixture
        if len(model.plan.rules) > model.plan.rule_settings.max_single:
            mixture = mixture.held_at(model.members)
        return FitRun(
            data, mixture.plan, start, interactive=False, mixture=mixture, left_out=i
        ).run()
    others = tuple(rule for k, rule in enumerate(model.plan.rules) if k != i)
    plan = replace(model.plan.at(model.lambda1, model.lambda2), rules=others)
    return FitRun(data, plan, start, interactive=False).run()


def rule_effect(rule: CompiledRule, model: Model, without: Model, data: TrainingData) -> Effect:
    """Return what a rule does, from the model with it and the one without it."""
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
    """Return the margin of the least unusual row that meets the rule; None if there is none."""
    w = np.zeros(data.design.shape[1])
    w[model.features] = model.coef
    design = data.design
    found = prototype(rule.B, rule.d, rule.sign, w, model.intercept, design.mean, design.scale)
    return found.margin if found.feasible else None


def same_model(one: Model, other: Model, data: TrainingData) -> bool:
    """Return whether two models on the same rows have the same features and weights.

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
    """Return the weights of scaled columns at length one."""
    scale = data.design.scale
    weights = model.coef if scale is None else model.coef * scale[model.features]
    return weights / max(float(np.linalg.norm(weights)), 1e-300)


def model_gradients(data: TrainingData, model: Model) -> list[RuleGradient]:
    """Return each rule's gradient at zero, its features in this model, and what it would take."""
    gradients = rule_gradients(
        model.scaled_rules,
        model.rule_weights,
        model.lambda1,
        lambda columns: data.design.columns(columns).T @ (data.p * data.y),
    )
    refits = WeightRefits(model)
    return [refits.needed_of(i, gradient) for i, gradient in enumerate(gradients)]


class WeightRefits:
    """The problem of one model, solved again with one of its rules worth more, less or nothing.

    Rules are named by their position i among those of the model.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.fits = model, 0
        self.now = model.solution

    def needed_of(self, i: int, gradient: RuleGradient) -> RuleGradient:
        """Return the gradient of rule i, its features in the model and, if none, what it takes."""
        inside = self.inside(i, self.now)
        gradient = replace(gradient, inside=inside)
        if inside or gradient.limit != "worth" or gradient.lambda1 == 0:
            return gradient
        return replace(gradient, sigma_needed=self.needed(i, gradient.sigma_needed))

    def inside(self, i: int, found: Solution) -> int:
        """Return how many features of rule i have a weight in a solution."""
        return int(np.isin(self.model.scaled_rules[i].columns, found.features).sum())

    def needed(self, i: int, least: float) -> float:
        """Return the sigma from which on a feature of rule i enters; inf where none does."""
        low, high = 0.0, max(least, self.model.rule_weights[i].sigma)
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
        """Return whether a feature of rule i enters where the rule counts that much."""
        return self.inside(i, self.fitted(i, self.worth(i, sigma))) > 0

    def worth(self, i: int, sigma: float) -> RuleWeights:
        """Return the weights of rule i as if this worth had been written for it."""
        own, rule, plan = self.model.rule_weights[i], self.model.scaled_rules[i], self.model.plan
        written = replace(rule, rule=replace(rule.rule, worth=sigma * own.n_samples))
        return rule_weights(
            written,
            total=own.n_samples,
            rule_weight=plan.rule_weight,
            rho=plan.rho,
            settings=plan.rule_settings,
        )

    def fitted(self, i: int, weights: RuleWeights) -> Solution:
        """Return the solution with other weights of rule i."""
        self.fits += 1
        model = self.model
        changed = [weights if k == i else own for k, own in enumerate(model.rule_weights)]
        blocks = rule_blocks(model.scaled_rules, changed, centered=model.plan.centered)
        problem: Problem = model.problem.with_parameters(rules=blocks)
        return Hipad(problem, replace(model.plan.settings, fastest=True)).run()


def direction(found: Solution) -> np.ndarray:
    """Return weights at length one: calibration sets their scale, so it tells nothing of a rule."""
    return found.w / max(float(np.linalg.norm(found.w)), 1e-300)


# --------------------------------------------------------------------------------------------------
# The rule report of a fitted model: joins the model with what the rule engine knows.


UNSEEN: Final = (
    "no labelled row lies near what the rules speak of, so the trust in them cannot be learnt: "
    "the rule counts as given"
)


def model_report(data: TrainingData, model: Model, warm: Hipad | None = None) -> list[RuleRecord]:
    """Return one record a rule.

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
        gradients=model_gradients(data, model),
        effects=list(model_effects(data, model, warm)),
        weights=model.rule_weights,
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
    """Return whether trust would be learnt, but no labelled row is evidence on the rules."""
    mixture = model.mixture
    return mixture is not None and learns_trust(model.plan) and not mixture.has_evidence


def farkas_residuals(model: Model) -> list[tuple[float | None, float | None]]:
    """Slack (d'u - e b + 1)_+ and residual |M (B'u + s w)| of each rule; None for one left out."""
    problem, found, stack = model.problem, model.solution, model.problem.stack
    slacks = np.maximum(stack.slacks(found.b, found.u), 0.0)
    inside, outside = _split_weights(model)
    active = iter(range(stack.n_rules))
    pairs: list[tuple[float | None, float | None]] = []
    for own in model.rule_weights:
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
    """Return weights on the features that rules name (in their order), and all others."""
    problem, found = model.problem, model.solution
    at, of = problem.rule_positions(found.features)
    inside = np.zeros(problem.stack.features.size)
    inside[of] = found.w[at]
    return inside, np.delete(found.w, at)


# --------------------------------------------------------------------------------------------------
# What became of each statement about features: by the weights, and by a fit without it.
#
# A sign that the data would have chosen anyway is no news. Whether a statement changes the model,
# and whether a feature would speak for the other class without it, is found by fitting the same
# problem at the same lambda1 with all statements but this one.


MOST_PRIOR_FITS = 30  # for all statements of a report
FORBIDDEN = {"raised": -1.0, "lowered": 1.0}


@dataclass(frozen=True)
class FeaturePriorRecord:
    """A statement, the weights of its features, and the outcome of a fit without it.

    `weights` are in the units of the data. `contrary` counts the features that would break the
    statement without it: the other sign, a weight for one that does not matter, or no weight for
    one that is certain. It and `influential` are None where there were too many statements to fit.
    """

    text: str
    meaning: str
    kind: str
    columns: tuple[int, ...]
    features: tuple[str, ...]
    weights: tuple[float, ...]
    influential: bool | None = None
    contrary: int | None = None

    @property
    def inside(self) -> int:
        """How many of its features have a weight."""
        return sum(weight != 0 for weight in self.weights)

    @property
    def lines(self) -> list[str]:
        """The record in sentences."""
        return [self.meaning, *self._about_weights(), *self._about_the_fit()]

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"  {line}" for line in self.lines)])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for files and tables."""
        return {**asdict(self), "inside": self.inside}

    def _about_weights(self) -> Iterator[str]:
        if self.kind == "ignored":
            return
        pairs = zip(self.features, self.weights, strict=True)
        shown = [f"{name} {weight:+.3g}" for name, weight in pairs if weight != 0]
        share = f"{self.inside} of {count(len(self.columns), 'feature')} in the model"
        yield f"{share}: {listed(shown, limit=5)}" if shown else share

    def _about_the_fit(self) -> Iterator[str]:
        if self.influential is None:
            return
        if not self.influential:
            yield "without it the model would be the same"
        elif self.contrary:
            would = {
                "ignored": "would have a weight",
                "certain": "would have none",
            }.get(self.kind, "would speak for the other class")
            yield f"without it {count(self.contrary, 'feature')} {would}"
        else:
            yield "without it the model would be another one"


def statement_report(model: Model, names: FeatureIndex) -> list[FeaturePriorRecord]:
    """Return one record a statement."""
    statements = model.plan.statements
    weights = np.zeros(model.problem.n_features)
    weights[model.features] = model.coef
    records = []
    for i, statement in enumerate(statements):
        own = weights[statement.columns]
        record = FeaturePriorRecord(
            text=statement.statement.text,
            meaning=statement.meaning,
            kind=statement.kind,
            columns=tuple(statement.columns.tolist()),
            features=tuple(names.name(int(j)) for j in statement.columns),
            weights=tuple(own.tolist()),
        )
        records.append(_refitted(record, model, names, i) if i < MOST_PRIOR_FITS else record)
    return records


def _refitted(
    record: FeaturePriorRecord, model: Model, names: FeatureIndex, i: int
) -> FeaturePriorRecord:
    """Return the record with the outcome of a fit without the statement."""
    others = [other for k, other in enumerate(model.plan.statements) if k != i]
    share = model.plan.rule_settings.known_share
    factors = penalty_factors(known_features(others, names), share=share)
    problem = model.problem.with_parameters(penalty_factors=factors)
    without = Hipad(problem, replace(model.plan.settings, fastest=True)).run()
    size = problem.n_features
    now, then = _full_direction(model.solution, size), _full_direction(without, size)
    influential = not np.allclose(now, then, rtol=0.0, atol=SAME)
    broken = _broken(model.plan.statements[i], then)
    return replace(record, influential=influential, contrary=broken)


def _broken(statement: CompiledPrior, weights: FloatArray) -> int:
    """Return how many features break the statement in a model fitted without it."""
    own = weights[statement.columns]
    if statement.kind in FORBIDDEN:
        return int(np.sum(own * FORBIDDEN[statement.kind] > SAME))
    return int(np.sum(own == 0) if statement.kind == "certain" else np.sum(own != 0))


def _full_direction(found: Solution, n_features: int) -> FloatArray:
    """Return the direction of the weights, with zero for every feature that is out."""
    w = np.zeros(n_features)
    w[found.features] = direction(found)
    return w
