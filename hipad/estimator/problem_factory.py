"""The problems that data, rules and settings pose, at any lambda1 and lambda2, on any rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hipad.designs import LAST_DIGITS, Design, make_design
from hipad.estimator.parameters import FitSettings
from hipad.estimator.settings import RULE_SETTINGS, RuleSettings
from hipad.estimator.training_data import TrainingData, shares, standardised_design
from hipad.rules import RuleEvidence, RuleWeights, ScaledRule, shortest_patient
from hipad.rules.compiler import SignConstraints
from hipad.solvers import Hipad, PenaltyFactors, Problem, RuleBlock, Solution, lambda1_max
from hipad.solvers.certificate import relative_gap
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# From what the user says of a rule (its weight in rows, rho) to the solver's sigma and rho.
#
# One training sample weighs 1/N in the objective, so sigma = n/N says "this rule counts as n
# rows". With z the shortest vector that meets the premise, the gradient of a rule on feature j at
# w = 0 is
#
#     min( sigma, rho / |z|^2 ) |z_j|,
#
# and a feature enters only when this gradient exceeds lambda1. A rho beyond sigma |z|^2 adds
# nothing to it. It adds a ridge on every feature that the rule does not name, so a rule of hardly
# any weight would still favour its own. The automatic rho is therefore a small multiple of
# sigma |z|^2: the gradient is whole until most of the distance is gone, and a rule vanishes with
# its weight. A rho of the user's own is held within reach of it for the same reason.


NEAREST = 1.0  # a premise next to the average row is taken to be one deviation away


def default_weight(
    rule_weight: float | str, total: float, settings: RuleSettings = RULE_SETTINGS
) -> float:
    """Return for how many of `total` rows a rule counts where no weight is written or learnt.

    >>> default_weight("auto", 200), default_weight(5, 200)
    (30.0, 5.0)
    """
    return settings.default_share * total if isinstance(rule_weight, str) else float(rule_weight)


def automatic_rho(
    B: csr_array, d: FloatArray, sigma: float, settings: RuleSettings = RULE_SETTINGS
) -> float:
    """Return a multiple of sigma |z|^2, from which on the weight alone limits the gradient."""
    z = shortest_patient(B, d)
    square = 0.0 if z is None else float(z @ z)
    return settings.rho_factor * sigma * max(square, NEAREST)


def rule_weights(
    rule: ScaledRule,
    *,
    total: float,
    rule_weight: float | str,
    rho: float | str,
    evidence: RuleEvidence | None = None,
    settings: RuleSettings = RULE_SETTINGS,
) -> RuleWeights:
    """Return sigma and rho of a rule in the design's units; `total` is the number of rows.

    `evidence` counts the rows that it covers, and those with its outcome.
    """
    worth = rule.rule.worth
    sigma = (default_weight(rule_weight, total, settings) if worth is None else worth) / total
    follows = isinstance(rho, str)
    automatic = automatic_rho(rule.B, rule.d, sigma, settings)
    used = automatic if isinstance(rho, str) else min(float(rho), settings.rho_limit * automatic)
    if worth is None and rule_weight == "equal":
        sigma = used = automatic if isinstance(rho, str) else float(rho)
    return RuleWeights(sigma, used, total, rho_follows=follows, evidence=evidence)


def rule_blocks(
    rules: tuple[ScaledRule, ...], weights: list[RuleWeights], *, anchored: bool = False
) -> tuple[RuleBlock, ...]:
    """Solver rules. One that is worth nothing is left out: its residual would still shrink w."""
    return tuple(
        RuleBlock(rule.B, rule.d, rule.sign, own.sigma, own.rho, anchored)
        for rule, own in zip(rules, weights, strict=True)
        if own.sigma > 0
    )


# --------------------------------------------------------------------------------------------------
# From what is said of single features to the solver's penalties of their weights.
#
# Who says that a gene is raised in a disease means that it matters. With thousands of features a
# known sign alone changes nothing: the feature would have to be the strongest of all to enter. So
# it also pays a share of lambda1 only. It enters before others of the same gradient, and the
# data may still leave it out: a statement that is wrong, or of no use, does little harm. A feature
# that is certain pays nothing.


def penalty_factors(
    known: SignConstraints, *, share: float = RULE_SETTINGS.known_share, certain: float = 0.0
) -> PenaltyFactors:
    """Return the penalty factors of the features of which something is known.

    In multiples of lambda1, `share` for a known direction and `certain` for certain features.

    >>> factors = penalty_factors(SignConstraints(raised=np.array([4]), certain=np.array([2])))
    >>> factors.features.tolist(), factors.up.tolist(), factors.down.tolist()
    ([2, 4], [0.0, 0.25], [0.0, inf])
    """
    directed = np.union1d(known.raised, known.lowered)
    features = np.unique(np.concatenate([directed, known.ignored, known.certain])).astype(int)
    up = np.ones(features.size)
    up[np.searchsorted(features, directed)] = share
    up[np.searchsorted(features, known.certain)] = certain
    down = up.copy()
    up[np.searchsorted(features, np.union1d(known.lowered, known.ignored))] = np.inf
    down[np.searchsorted(features, np.union1d(known.raised, known.ignored))] = np.inf
    return PenaltyFactors(features, up, down)


def only(factors: PenaltyFactors, among: np.ndarray, count: int) -> PenaltyFactors:
    """Return the same factors for some of `count` features; all others are excluded.

    >>> factors = only(PenaltyFactors(), np.array([1]), 3)
    >>> factors.excluded.tolist()
    [0, 2]
    """
    up, down = np.full((2, count), np.inf)
    own = factors.at(among, 1.0)
    up[among], down[among] = own.up, own.down
    return PenaltyFactors(np.arange(count), up, down)


def signs_alone(known: SignConstraints) -> PenaltyFactors:
    """Forbidden signs and ignored features; all others pay as if nothing were known."""
    return penalty_factors(known, share=1.0, certain=1.0)


def entering_first(
    known: SignConstraints, *, share: float = RULE_SETTINGS.known_share
) -> PenaltyFactors:
    """As if certain features paid a share too: a path that begins here lets the known in first."""
    return penalty_factors(known, share=share, certain=share)


# --------------------------------------------------------------------------------------------------
# The problems that data, rules and settings pose: at any lambda1 and lambda2, on any rows.
#
# A fit, the folds of an automatic choice and the out-of-fold scores all ask here, so that they
# have the same rules at the same weight.


FAINT = 1e-3  # rows: folds cannot measure the effect of a rule of less weight


class RuleVote(NamedTuple):
    """The vote of a rule in the choice of lambda1 and lambda2: typical row, outcome and weight.

    `z` is the row on the columns that the rule names, counted from the middle of the classes.
    """

    columns: np.ndarray
    z: FloatArray
    sign: float
    sigma: float


class ProblemFactory:
    """Data and plan of one fit; makes its problems.

    `weights` are the rows that each rule counts for; None, for a rule or for all of them,
    leaves that to the rule and the plan.
    """

    def __init__(
        self, data: TrainingData, plan: FitSettings, weights: Sequence[float | None] | None = None
    ) -> None:
        self.data, self.plan = data, plan
        self.weights = [None] * len(plan.rules) if weights is None else list(weights)
        self.scaled_rules, self.evidence = self._rules_in_units()

    def problem(
        self,
        lambda1: float,
        lambda2: float,
        rows: np.ndarray | None = None,
        among: np.ndarray | None = None,
    ) -> Problem:
        """The problem at these values, on all rows or some of them.

        Of the features that neither rules name nor the user knows, only those `among` these may
        have a weight, where they are given.
        """
        data, plan = self.data, self.plan
        if rows is None:
            factors = self.penalty_factors
            if among is not None:
                named = [rule.columns for rule in self.scaled_rules]
                free = np.unique(np.concatenate([among, self.penalty_factors.features, *named]))
                factors = only(factors, free.astype(int), data.design.shape[1])
            return data.problem(self.blocks, lambda1, lambda2, plan.scope, factors, plan.loss)
        p = data.p[rows] / data.p[rows].sum()
        design = data.design.rows(rows)
        return Problem(
            design,
            data.y[rows],
            p,
            lambda1,
            lambda2,
            self.blocks,
            plan.scope,
            self.penalty_factors,
            plan.loss,
        )

    def trial(self, lambda2: float) -> Problem:
        """The problem of an automatic choice, without rules of hardly any weight."""
        least, plan = FAINT / self.data.total, self.plan
        rules = tuple(block for block in self.blocks if block.sigma >= least)
        return self.data.problem(rules, 0.0, lambda2, plan.scope, self.penalty_factors, plan.loss)

    @cached_property
    def rule_weights(self) -> list[RuleWeights]:
        """sigma and rho of every rule."""
        total, plan = self.data.total, self.plan
        return [
            rule_weights(
                rule if weight is None else replace(rule, rule=replace(rule.rule, worth=weight)),
                total=total,
                rule_weight=plan.rule_weight,
                rho=plan.rho,
                evidence=evidence,
                settings=plan.rule_settings,
            )
            for rule, evidence, weight in zip(
                self.scaled_rules, self.evidence, self.weights, strict=True
            )
        ]

    @cached_property
    def penalty_factors(self) -> PenaltyFactors:
        """What is known of single features, for the solver."""
        return penalty_factors(self.plan.known, share=self.plan.rule_settings.known_share)

    @cached_property
    def blocks(self) -> tuple[RuleBlock, ...]:
        """The rules for the solver."""
        return rule_blocks(self.scaled_rules, self.rule_weights, anchored=self.plan.centered)

    @cached_property
    def largest_lambda1(self) -> float:
        """lambda1_max without the rules: the scale on which the data speak.

        Features that pay less, or nothing, count as others do: what they leave over is no scale.
        """
        plan = self.plan
        factors = signs_alone(plan.known)
        return lambda1_max(self.data.problem((), 0.0, 1.0, plan.scope, factors, plan.loss))

    @cached_property
    def first_lambda1(self) -> float:
        """lambda1_max with rules and knowledge, which may let their features in before others."""
        share = self.plan.rule_settings.known_share
        factors = entering_first(self.plan.known, share=share)
        return lambda1_max(self.trial(1.0).with_parameters(penalty_factors=factors))

    def rule_votes(self) -> tuple[RuleVote, ...]:
        """The votes of the rules in the choice of lambda1 and lambda2."""
        if not self.plan.centered:
            return ()
        candidates = [
            (rule, shortest_patient(rule.B, rule.d), own.sigma)
            for rule, own in zip(self.scaled_rules, self.rule_weights, strict=True)
        ]
        return tuple(
            RuleVote(rule.columns, z, rule.sign, sigma)
            for rule, z, sigma in candidates
            if z is not None and z.any() and sigma >= FAINT / self.data.total
        )

    @cached_property
    def reach(self) -> FloatArray:
        """Projection of each row on the direction to each rule's typical row; 0 to inf.

        One column a rule. A rule that has no such row is reached by all.
        """
        data = self.data
        found = np.ones((data.y.size, len(self.scaled_rules)))
        halves = data.weights.astype(float)
        for sign in (-1.0, 1.0):
            halves[data.y == sign] *= 0.5 / halves[data.y == sign].sum()
        for i, rule in enumerate(self.scaled_rules):
            z = shortest_patient(rule.B, rule.d)
            if z is None or not z.any():
                continue
            values = data.design.columns(rule.columns)
            found[:, i] = np.abs((values - halves @ values) @ z) / float(z @ z)
            if data.gaps:
                found[data.gaps.rows(rule.columns), i] = 0.0  # a missing value is no evidence
        return found

    @cached_property
    def in_sight(self) -> bool:
        """Whether labelled rows lie near enough to the rules' typical rows to be evidence."""
        own = self.plan.rule_settings
        evidence = relevance(self.reach.max(axis=1, initial=0.0), own.near)
        return float(np.average(evidence, weights=self.data.weights)) >= own.least_evidence

    def _rules_in_units(self) -> tuple[tuple[ScaledRule, ...], list[RuleEvidence | None]]:
        """The rules in the solver's units, and the evidence of the training rows on each."""
        data, rules = self.data, self.plan.rules
        if not rules or not self.plan.centered:
            return data.scaled(rules), [None] * len(rules)
        columns = data.rule_columns(rules)
        scaled = columns.all_representatives(rules, data.design.scale)
        return scaled, list(columns.all_evidence(rules))


def relevance(reach: FloatArray, near: float = RULE_SETTINGS.near) -> FloatArray:
    """Return how far rows count as evidence on rules, from 0 to 1.

    `reach` is the distance from the middle between the classes in multiples of that of the typical
    row of the nearest rule: a row at `near` of it counts one half.

    >>> relevance(np.array([0.0, 0.01, 0.1, 1.0])).round(2).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    return reach**4 / (reach**4 + near**4)


# --------------------------------------------------------------------------------------------------
# How sparse a model can get: the lambda1 above which the data alone let no feature in.


def largest_lambda1(
    X: Any,
    y: FloatArray,
    *,
    standardize: bool = True,
    class_weight: str | None = "balanced",
    lambda2: float = 0.0,
) -> float:
    """From this lambda1 on a fit without rules keeps no feature; y is +1 or -1.

    With classes of equal weight it is the least such value, otherwise it may be a little more.

    >>> X, y = np.array([[0.0, 3.0], [0.0, 5.0]]), np.array([-1.0, 1.0])
    >>> round(largest_lambda1(X, y), 6)
    1.0
    """
    ones = np.ones(len(y))
    design = standardised_design(X, y, ones) if standardize else make_design(X)
    return lambda1_max(Problem(design, y, shares(y, ones, class_weight), 0.0, lambda2))


# --------------------------------------------------------------------------------------------------
# Models without a feature: when they are the right answer, and in which words to say why.


TRACE = 1e-6  # of the margin: scores of less are looked at for rounding


def noise(design: Design) -> float:
    """The gradient that rounding alone may give a feature that tells nothing."""
    size = design.column_norms()
    if design.mean is not None:
        size = size + np.abs(design.mean if design.scale is None else design.mean / design.scale)
    return 1e-12 * float(np.max(size, initial=0.0))


def score_noise(design: Design, features: np.ndarray, w: FloatArray) -> float:
    """How far scores w'x may be off by the last digits of the values and their means."""
    size = np.zeros(w.size) if design.mean is None else np.abs(design.mean[features])
    scale = 1.0 if design.scale is None else design.scale[features]
    return LAST_DIGITS * float(np.abs(w) @ (size / scale))


def explained(hipad: Hipad, message: str) -> Solution:
    """The solution with a message; one without features says why in its certificate."""
    found, lambda1 = _without_noise(hipad, hipad.solution()), hipad.problem.lambda1
    if found.features.size:
        message = message or found.certificate.message
        return replace(found, certificate=replace(found.certificate, message=message))
    largest = lambda1_max(hipad.problem)
    if lambda1 < largest and not hipad.finished:
        reason = "stopped before a feature entered"
    elif largest > noise(hipad.problem.design):
        reason = f"no feature survives lambda1 = {lambda1:.4g}: choose one below {largest:.4g}"
    else:
        reason = "no feature tells the classes apart"
    message = f"{reason}; as it is, everyone gets the same answer"
    return replace(found, certificate=replace(found.certificate, message=message))


def _without_noise(hipad: Hipad, found: Solution) -> Solution:
    """The solution, or the model without features where rounding alone put them in.

    Unpenalized features are in at every gradient, be it the last digit of a sum. Their scores are
    then a trace of the margin, and no gradient is above rounding.
    """
    problem, own = hipad.problem, hipad.problem.penalty_factors
    largest_score = problem.design.column_norms()[found.features] @ np.abs(found.w)
    if not found.features.size or not hipad.finished or largest_score > TRACE:
        return found
    up, down = (np.where(factor == 0, 1.0, factor) for factor in (own.up, own.down))
    paying = replace(own, up=up, down=down)
    if lambda1_max(problem.with_parameters(penalty_factors=paying)) > noise(problem.design):
        return found
    none, nothing = np.zeros(0, dtype=int), np.zeros(0)
    objective = problem.objective(none, nothing, np.zeros(problem.n_samples), found.b, found.u)
    certificate = replace(
        found.certificate,
        primal_objective=objective,
        gap=relative_gap(objective, found.certificate.dual_objective),
        covers=found.certificate.covers.replace(f"the {found.features.size} ", "the 0 "),
        certain=0,
        undecided=0,
    )
    return replace(found, features=none, w=nothing, certificate=certificate)
