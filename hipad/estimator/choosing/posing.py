"""The problems that data, rules and settings pose: at any lambda1 and lambda2, on any rows.

A fit, the folds of an automatic choice and the out-of-fold scores all ask here, so that they are
told the same rules at the same worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.knowing.feature_prices import (
    entering_first,
    feature_prices,
    only,
    signs_alone,
)
from hipad.estimator.parameters import Plan
from hipad.estimator.strength import knobs_of, rule_blocks
from hipad.estimator.training import TrainingData
from hipad.rules import Heard, Knobs, ScaledRule, shortest_patient
from hipad.solver import FeaturePrices, Problem, RuleBlock, lambda1_max

NEAR: Final = 0.1  # share of the way to the patients of a rule at which a row counts one half
LEAST_TESTIMONY: Final = 0.02  # mean over the rows: with less, no row can speak on the rules
FAINT = 1e-3  # patients: what a rule of less worth changes is less than what folds can tell


class Say(NamedTuple):
    """What a rule has to say in a choice: its typical patient, outcome and weight.

    `z` is the patient on the columns that the rule names, counted from the middle of the classes.
    """

    columns: np.ndarray
    z: FloatArray
    sign: float
    sigma: float


class Posing:
    """Data and plan of one fit; makes its problems.

    `weights` say for how many patients each rule counts; None, for a rule or for all of them,
    leaves that to the rule and the plan.
    """

    def __init__(
        self, data: TrainingData, plan: Plan, weights: Sequence[float | None] | None = None
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
            return data.problem(self.blocks, lambda1, lambda2, plan.scope, prices)
        p = data.p[rows] / data.p[rows].sum()
        design = data.design.rows(rows)
        return Problem(
            design, data.y[rows], p, lambda1, lambda2, self.blocks, plan.scope, self.prices
        )

    def trial(self, lambda2: float) -> Problem:
        """The problem of an automatic choice, in which rules of hardly any worth have no say."""
        least = FAINT / self.data.total
        rules = tuple(block for block in self.blocks if block.sigma >= least)
        return self.data.problem(rules, 0.0, lambda2, self.plan.scope, self.prices)

    @cached_property
    def knobs(self) -> list[Knobs]:
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
    def prices(self) -> FeaturePrices:
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
        prices = signs_alone(self.plan.known)
        return lambda1_max(self.data.problem((), 0.0, 1.0, self.plan.scope, prices))

    @cached_property
    def first_lambda1(self) -> float:
        """lambda1_max with rules and knowledge, which may let their features in before others."""
        problem = self.trial(1.0)
        return lambda1_max(problem.with_parameters(prices=entering_first(self.plan.known)))

    def says(self) -> tuple[Say, ...]:
        """What the rules have to say in a choice."""
        if not self.plan.anchored:
            return ()
        told = [
            (rule, shortest_patient(rule.B, rule.d), own.sigma)
            for rule, own in zip(self.told, self.knobs, strict=True)
        ]
        return tuple(
            Say(rule.columns, z, rule.sign, sigma)
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

    def _told(self) -> tuple[tuple[ScaledRule, ...], list[Heard | None]]:
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
