"""The problems that data, rules and settings pose, at any lambda1 and lambda2, on any rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hipad.designs import LAST_DIGITS, Design, make_design
from hipad.estimator.parameters import FitSettings
from hipad.estimator.training_data import TrainingData, shares, standardised_design
from hipad.rules import RuleEvidence, RuleWeights, ScaledRule, shortest_patient
from hipad.rules.compiler import SignConstraints
from hipad.solvers import Hipad, PenaltyFactors, Problem, RuleBlock, Solution, lambda1_max
from hipad.solvers.certificate import relative_gap
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# From what the user says of a rule (worth in patients, stiffness) to the solver's sigma and rho.
#
# One training sample weighs 1/N in the objective, so sigma = n/N says "this rule counts as n
# patients". With z the shortest patient who meets the premise, a rule pulls on feature j at w = 0
# by
#
#     min( sigma, rho / |z|^2 ) |z_j|,
#
# and a feature enters only when its pull exceeds lambda1. Stiffness beyond sigma |z|^2 adds no
# pull. It adds a ridge on every feature that the rule does not name, so a rule of hardly any worth
# would still favour its own. The automatic stiffness is therefore a small multiple of sigma |z|^2:
# the pull is whole until most of the way is gone, and a rule vanishes with its worth. A stiffness
# of the user's own is held within reach of it for the same reason.


STIFFNESS_FACTOR = 3.0
STIFFEST = 100.0  # times the automatic stiffness: beyond it a rule is a ridge and nothing else
NEAREST = 1.0  # a premise next to the average patient is taken to be one deviation away
RULE_SHARE = 0.15  # of the rows: what a rule counts for where no weight is written or learnt


def default_patients(patients: float | str, total: float) -> float:
    """For how many of `total` rows a rule counts where no weight is written or learnt.

    >>> default_patients("auto", 200), default_patients(5, 200)
    (30.0, 5.0)
    """
    return RULE_SHARE * total if isinstance(patients, str) else float(patients)


def automatic_stiffness(B: csr_array, d: FloatArray, sigma: float) -> float:
    """Three times the stiffness from which on the worth alone limits the pull: sigma |z|^2."""
    z = shortest_patient(B, d)
    square = 0.0 if z is None else float(z @ z)
    return STIFFNESS_FACTOR * sigma * max(square, NEAREST)


def knobs_of(
    rule: ScaledRule,
    *,
    total: float,
    patients: float | str,
    stiffness: float | str,
    heard: RuleEvidence | None = None,
) -> RuleWeights:
    """sigma and rho of a rule in the design's units; `total` is the number of patients.

    `heard` is what the patients whom it covers say of the rule.
    """
    worth = rule.rule.worth
    sigma = (default_patients(patients, total) if worth is None else worth) / total
    follows = isinstance(stiffness, str)
    softest = automatic_stiffness(rule.B, rule.d, sigma)
    rho = softest if follows else min(float(stiffness), STIFFEST * softest)
    if worth is None and patients == "equal":
        sigma = rho = softest if follows else float(stiffness)
    return RuleWeights(sigma, rho, total, rho_follows=follows, heard=heard)


def rule_blocks(
    rules: tuple[ScaledRule, ...], knobs: list[RuleWeights], *, anchored: bool = False
) -> tuple[RuleBlock, ...]:
    """Solver rules. One that is worth nothing is left out: its residual would still shrink w."""
    return tuple(
        RuleBlock(rule.B, rule.d, rule.sign, own.sigma, own.rho, anchored)
        for rule, own in zip(rules, knobs, strict=True)
        if own.sigma > 0
    )


# --------------------------------------------------------------------------------------------------
# From what is said of single features to the solver's prices of their weights.
#
# Who says that a gene is raised in a disease means that it matters. With thousands of features a
# known sign alone changes nothing: the feature would have to be the strongest of all to enter. So
# it also pays a share of lambda1 only. It enters before others that are pulled as hard, and the
# data may still leave it out: a statement that is wrong, or of no use, does little harm. A feature
# that is certain pays nothing.


KNOWN_SHARE = 0.25  # of lambda1, for a feature whose direction is known (measured)


def feature_prices(
    known: SignConstraints, *, share: float = KNOWN_SHARE, certain: float = 0.0
) -> PenaltyFactors:
    """The prices of the features of which something is known.

    In multiples of lambda1, `share` for a known direction and `certain` for certain features.

    >>> prices = feature_prices(SignConstraints(raised=np.array([4]), certain=np.array([2])))
    >>> prices.features.tolist(), prices.up.tolist(), prices.down.tolist()
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


def only(prices: PenaltyFactors, among: np.ndarray, count: int) -> PenaltyFactors:
    """The same prices for some of `count` features; all others are excluded.

    >>> prices = only(PenaltyFactors(), np.array([1]), 3)
    >>> prices.excluded.tolist()
    [0, 2]
    """
    up, down = np.full((2, count), np.inf)
    own = prices.at(among, 1.0)
    up[among], down[among] = own.up, own.down
    return PenaltyFactors(np.arange(count), up, down)


def signs_alone(known: SignConstraints) -> PenaltyFactors:
    """Forbidden signs and ignored features; all others pay as if nothing were known."""
    return feature_prices(known, share=1.0, certain=1.0)


def entering_first(known: SignConstraints) -> PenaltyFactors:
    """As if certain features paid a share too: a path that begins here lets the known in first."""
    return feature_prices(known, certain=KNOWN_SHARE)


# --------------------------------------------------------------------------------------------------
# The problems that data, rules and settings pose: at any lambda1 and lambda2, on any rows.
#
# A fit, the folds of an automatic choice and the out-of-fold scores all ask here, so that they are
# told the same rules at the same worth.


NEAR: Final = 0.1  # share of the way to the patients of a rule at which a row counts one half
LEAST_TESTIMONY: Final = 0.02  # mean over the rows: with less, no row can speak on the rules
FAINT = 1e-3  # patients: what a rule of less worth changes is less than what folds can tell


class RuleVote(NamedTuple):
    """What a rule has to say in a choice: its typical patient, outcome and weight.

    `z` is the patient on the columns that the rule names, counted from the middle of the classes.
    """

    columns: np.ndarray
    z: FloatArray
    sign: float
    sigma: float


class ProblemFactory:
    """Data and plan of one fit; makes its problems.

    `weights` say for how many patients each rule counts; None, for a rule or for all of them,
    leaves that to the rule and the plan.
    """

    def __init__(
        self, data: TrainingData, plan: FitSettings, weights: Sequence[float | None] | None = None
    ) -> None:
        self.data, self.plan = data, plan
        self.weights = [None] * len(plan.rules) if weights is None else list(weights)
        self.told, self.heard = self._told()

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
            prices = self.prices
            if among is not None:
                named = [rule.columns for rule in self.told]
                free = np.unique(np.concatenate([among, self.prices.features, *named]))
                prices = only(prices, free.astype(int), data.design.shape[1])
            return data.problem(self.blocks, lambda1, lambda2, plan.scope, prices, plan.loss)
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
            self.prices,
            plan.loss,
        )

    def trial(self, lambda2: float) -> Problem:
        """The problem of an automatic choice, in which rules of hardly any worth have no say."""
        least, plan = FAINT / self.data.total, self.plan
        rules = tuple(block for block in self.blocks if block.sigma >= least)
        return self.data.problem(rules, 0.0, lambda2, plan.scope, self.prices, plan.loss)

    @cached_property
    def knobs(self) -> list[RuleWeights]:
        """sigma and rho of every rule."""
        total, plan = self.data.total, self.plan
        return [
            knobs_of(
                rule if weight is None else replace(rule, rule=replace(rule.rule, worth=weight)),
                total=total,
                patients=plan.patients,
                stiffness=plan.stiffness,
                heard=heard,
            )
            for rule, heard, weight in zip(self.told, self.heard, self.weights, strict=True)
        ]

    @cached_property
    def prices(self) -> PenaltyFactors:
        """What is known of single features, for the solver."""
        return feature_prices(self.plan.known)

    @cached_property
    def blocks(self) -> tuple[RuleBlock, ...]:
        """The rules for the solver."""
        return rule_blocks(self.told, self.knobs, anchored=self.plan.anchored)

    @cached_property
    def largest_lambda1(self) -> float:
        """lambda1_max without the rules: the scale on which the data speak.

        Features that pay less, or nothing, count as others do: what they leave over is no scale.
        """
        plan = self.plan
        prices = signs_alone(plan.known)
        return lambda1_max(self.data.problem((), 0.0, 1.0, plan.scope, prices, plan.loss))

    @cached_property
    def first_lambda1(self) -> float:
        """lambda1_max with rules and knowledge, which may let their features in before others."""
        problem = self.trial(1.0)
        return lambda1_max(problem.with_parameters(prices=entering_first(self.plan.known)))

    def says(self) -> tuple[RuleVote, ...]:
        """What the rules have to say in a choice."""
        if not self.plan.anchored:
            return ()
        told = [
            (rule, shortest_patient(rule.B, rule.d), own.sigma)
            for rule, own in zip(self.told, self.knobs, strict=True)
        ]
        return tuple(
            RuleVote(rule.columns, z, rule.sign, sigma)
            for rule, z, sigma in told
            if z is not None and z.any() and sigma >= FAINT / self.data.total
        )

    @cached_property
    def reach(self) -> FloatArray:
        """How far each row lies along the way to each rule's typical patient, either way; 0 to inf.

        One column a rule. A rule that has no such patient is reached by all.
        """
        data = self.data
        found = np.ones((data.y.size, len(self.told)))
        halves = data.weights.astype(float)
        for sign in (-1.0, 1.0):
            halves[data.y == sign] *= 0.5 / halves[data.y == sign].sum()
        for i, rule in enumerate(self.told):
            z = shortest_patient(rule.B, rule.d)
            if z is None or not z.any():
                continue
            values = data.design.columns(rule.columns)
            found[:, i] = np.abs((values - halves @ values) @ z) / float(z @ z)
            if data.gaps:
                found[data.gaps.rows(rule.columns), i] = 0.0  # no value says nothing on the rule
        return found

    @cached_property
    def in_sight(self) -> bool:
        """Whether labelled rows lie near enough to what rules speak of to say anything on them."""
        heard = relevance(self.reach.max(axis=1, initial=0.0))
        return float(np.average(heard, weights=self.data.weights)) >= LEAST_TESTIMONY

    def _told(self) -> tuple[tuple[ScaledRule, ...], list[RuleEvidence | None]]:
        """The rules as the solver is told them, and what the patients say of each."""
        data, rules = self.data, self.plan.rules
        if not rules or not self.plan.anchored:
            return data.scaled(rules), [None] * len(rules)
        patients = data.patients(rules)
        spoken = patients.all_spoken(rules, data.design.scale)
        return spoken, list(patients.all_heard(rules))


def relevance(reach: FloatArray) -> FloatArray:
    """How much rows may say on rules, from 0 to 1.

    `reach` is the share of the way from the middle between the classes to the typical patient of
    the rule that lies nearest: a row that is a tenth of the way counts one half.

    >>> relevance(np.array([0.0, 0.01, 0.1, 1.0])).round(2).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    return reach**4 / (reach**4 + NEAR**4)


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
    """How hard rounding alone may pull on a feature that tells nothing."""
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
        told = message or found.certificate.message
        return replace(found, certificate=replace(found.certificate, message=told))
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

    Features that pay nothing are in at every pull, be it the last digit of a sum. Their scores are
    then a trace of the margin, and no pull on any feature is above rounding.
    """
    problem, own = hipad.problem, hipad.problem.prices
    largest_score = problem.design.column_norms()[found.features] @ np.abs(found.w)
    if not found.features.size or not hipad.finished or largest_score > TRACE:
        return found
    up, down = (np.where(price == 0, 1.0, price) for price in (own.up, own.down))
    paying = replace(own, up=up, down=down)
    if lambda1_max(problem.with_parameters(prices=paying)) > noise(problem.design):
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
