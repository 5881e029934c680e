"""What a rule tells the solver: of whom it speaks, and how far the training patients bear it out.

A rule as written, B x <= d, draws a border. Who wrote it has the patients beyond it in mind, and at
the border itself would not decide. So the solver is told of the typical patient who meets the rule:
each row of d moves inwards by the mean excess over the threshold among the training rows that meet
the premise. Labels play no part in this. It moves by a quarter of the deviation of B x at least,
and by half of it where fewer than two patients meet the premise.

The solver's rule counts from the middle m between the class means, d - B m: a model with its
intercept there is undecided, and the rule says on which side of it its patients lie. Without that a
single rule could be met by the intercept alone.

The rows that meet a rule are also evidence on it, which is shown beside the rule (`Heard`). What
the rule counts for is decided by all labelled rows (estimator/trust).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import betainc

from hipad.arrays import BoolArray, FloatArray, IntArray
from hipad.data.gaps import Gaps
from hipad.rules.compiling.compiled import CompiledRule, ScaledRule
from hipad.rules.compiling.rows import on_columns, rows_met

FLOOR, ALONE = 0.25, 0.5  # least excess of the typical patient, in deviations of B x
FEWEST = 2.0  # patients who show what is typical
ROOM = 0.9  # how far inwards, where the rows of a premise end in one another
SURE = 0.95  # probability that a rule is wrong more often than right, from which on that is said


@dataclass(frozen=True)
class Heard:
    """Training patients who meet a rule, and those among them who bear it out, by weight.

    `agreement` is the share who bear it out where both classes count one half, so that a rule that
    says nothing has one half, whatever the prevalence.
    """

    fired: float
    right: float
    agreement: float = float("nan")

    @property
    def wrong(self) -> float:
        """The weight of patients who meet the rule and have the other outcome."""
        return self.fired - self.right

    @property
    def doubtful(self) -> bool:
        """True where the patients show that the rule is wrong more often than right.

        >>> Heard(5, 0, 0.0).doubtful, Heard(1, 0, 0.0).doubtful
        (True, False)
        """
        if not self.fired or np.isnan(self.agreement):
            return False
        right = self.fired * self.agreement
        return float(betainc(1 + right, 1 + self.fired - right, 0.5)) > SURE

    def contradiction(self, name: str) -> str:
        """How many patients contradict a rule of this name.

        >>> Heard(5, 1).contradiction("r1")
        '4 of the 5 training patients r1 speaks of contradict it'
        """
        patients = f"{self.wrong:.3g} of the {self.fired:.3g} training patients"
        return f"{patients} {name} speaks of contradict it"


@dataclass(frozen=True)
class Witnesses:
    """The columns of training rows that rules name; y in {-1, +1}, weights count patients."""

    columns: IntArray
    values: FloatArray
    y: FloatArray
    weights: FloatArray
    unlabelled: FloatArray | None = None  # the same columns of rows without a label
    gaps: BoolArray | None = None  # cells of the values that were filled, then of the unlabelled

    @classmethod
    def of(
        cls,
        rules: Sequence[CompiledRule],
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        unlabelled: Any = None,
        gaps: Gaps | None = None,
    ) -> Witnesses:
        """The part of the data that rules look at, in the user's units.

        `gaps` are the cells that were filled: of X, then of the rows without a label.
        """
        columns = np.unique(np.concatenate([np.empty(0, np.int64), *(r.columns for r in rules)]))
        others = None if unlabelled is None else _dense(unlabelled[:, columns])
        marks = gaps.mask(columns) if gaps else None
        return cls(columns, _dense(X[:, columns]), y, weights, others, marks)

    @property
    def halves(self) -> FloatArray:
        """Weights that give each class one half."""
        return self._halves(self.weights)

    def _halves(self, weights: FloatArray) -> FloatArray:
        shares = weights.astype(np.float64)
        for side in (self.y < 0, self.y > 0):
            shares[side] *= 0.5 / max(float(shares[side].sum()), 1e-300)
        return shares

    def middle(self, n_features: int) -> FloatArray:
        """The middle between the class means; zero for features that no rule names."""
        found = np.zeros(n_features)
        found[self.columns] = self.halves @ self.values
        return found

    def spoken(
        self, rule: CompiledRule, middle: FloatArray, scale: FloatArray | None
    ) -> ScaledRule:
        """The rule of the typical patient, in the design's units from the middle on."""
        return replace(rule, d=rule.d - self.excess(rule)).scaled(middle, scale)

    def all_spoken(
        self, rules: Sequence[CompiledRule], scale: FloatArray | None = None
    ) -> tuple[ScaledRule, ...]:
        """All rules as the solver is told them."""
        if not rules:
            return ()
        middle = self.middle(rules[0].B.shape[1])
        return tuple(self.spoken(rule, middle, scale) for rule in rules)

    def excess(self, rule: CompiledRule) -> FloatArray:
        """How far beyond each threshold the typical patient lies who meets the rule."""
        B, own = self._on(rule)
        weights, known = self.weights, self._measured(rule)
        if self.unlabelled is not None:
            named = np.searchsorted(self.columns, rule.columns)
            own = np.hstack([own, self.unlabelled[:, named].T])
            weights = np.r_[weights, np.ones(len(self.unlabelled))]
        if known is not None:
            own, weights = own[:, known], weights[known]
        if not weights.sum() > 0:
            return np.zeros(len(rule.d))
        values, fires = B @ own, np.asarray(rows_met(B, rule.d, own).all(axis=0))
        share = weights / weights.sum()
        centred = values - (values @ share)[:, None]
        deviation = np.sqrt(centred**2 @ share)
        met = weights * fires
        excess = ALONE * deviation
        if met.sum() >= FEWEST:
            mean = np.maximum(rule.d - values @ met / met.sum(), 0.0)
            excess = np.maximum(mean, FLOOR * deviation)
        return excess * _room(B, rule.d, excess)

    def fires(self, rule: CompiledRule) -> np.ndarray:
        """Who meets the premise."""
        B, own = self._on(rule)
        met = np.asarray(rows_met(B, rule.d, own).all(axis=0))
        known = self._measured(rule)
        return met if known is None else met & known[: len(met)]

    def _measured(self, rule: CompiledRule) -> BoolArray | None:
        """The rows with all values that the rule names, those without a label last; None: all."""
        if self.gaps is None:
            return None
        named = self.gaps[:, np.searchsorted(self.columns, rule.columns)]
        return np.asarray(~named.any(axis=1))

    def _on(self, rule: CompiledRule) -> tuple[sparse.csr_array, FloatArray]:
        """B on the columns that the rule names, and the patients' values of these, side by side."""
        named = rule.columns
        own = self.values[:, np.searchsorted(self.columns, named)]
        return on_columns(rule.B, named), np.ascontiguousarray(own.T)

    def heard(self, rule: CompiledRule) -> Heard:
        """What the patients who meet a rule say of it."""
        met, known = self.fires(rule), self._measured(rule)
        weights = self.weights if known is None else self.weights * known[: len(met)]
        right, halves = met & (self.y == rule.sign), self._halves(weights)
        fired = float(halves @ met)
        agreement = float(halves @ right) / fired if fired else float("nan")
        return Heard(float(self.weights @ met), float(self.weights @ right), agreement)

    def all_heard(self, rules: Sequence[CompiledRule]) -> list[Heard]:
        """What the patients say of each rule."""
        return [self.heard(rule) for rule in rules]


def _dense(part: Any) -> FloatArray:
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def _room(B: sparse.csr_array, d: FloatArray, excess: FloatArray) -> float:
    """The share of the excess that leaves somebody to speak of: two rows may end in one another."""
    if B.nnz == len(np.unique(B.indices)):
        return 1.0
    rows = np.hstack([B.toarray(), excess[:, None]])
    size = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-300)
    goal = np.append(np.zeros(B.shape[1]), -1.0)
    bounds = [(None, None)] * B.shape[1] + [(0.0, 1.0 / ROOM)]
    found = linprog(goal, A_ub=rows / size[:, None], b_ub=d / size, bounds=bounds)
    return ROOM * float(found.x[-1]) if found.status == 0 else 0.0
