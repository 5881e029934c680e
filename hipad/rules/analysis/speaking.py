"""What a rule tells the solver: of whom it speaks, and how far the training patients bear it out.

A rule as written, B x <= d, draws a border. Who wrote it has the patients beyond it in mind, and at
the border itself would not decide. So the solver is told of the typical patient who meets the rule:
each row of d moves inwards by the mean excess over the threshold among the training rows that meet
the premise. Labels play no part in this. It moves by a quarter of the deviation of B x at least,
and by half of it where fewer than two patients meet the premise.

The solver's rule counts from the middle m between the class means, d - B m: a model with its
intercept there is undecided, and the rule says on which side of it its patients lie. Without that a
single rule could be met by the intercept alone.

The patients who meet a rule are also evidence on it. Each class counts one half of them, so that a
rule which says nothing is right on one half, whatever the prevalence. With r of k right, and
`PRIOR` more patients of whom `EXPECTED` are right, the rule is right on a share q. Where q is
`CONVINCING` or more, it keeps all of its worth, and ((q - 1/2) / (CONVINCING - 1/2))^SHARPNESS of
it below: a rule that is hardly better than a coin has next to nothing left. Where few patients are
labelled, more of them are needed to shake a rule: it is worth more there (estimator/strength.py).
Rules on the same features are one opinion, told from two sides: the patients of all of them are
evidence on each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from hipad.arrays import FloatArray, IntArray
from hipad.rules.compiling.compiled import CompiledRule, ScaledRule
from hipad.rules.compiling.rows import on_columns, rows_met

FLOOR, ALONE = 0.25, 0.5  # least excess of the typical patient, in deviations of B x
FEWEST = 2.0  # patients who show what is typical
ROOM = 0.9  # how far inwards, where the rows of a premise end in one another
PRIOR, EXPECTED = 4.0, 0.8  # patients before the first, and how many of them are right
FEW = 16.0  # labelled patients, below which the prior ones are more
CONVINCING, SHARPNESS = 0.74, 4.0  # share that is enough, and how steep it goes down from there
DOUBTFUL = 0.5


@dataclass(frozen=True)
class Heard:
    """Training patients who meet a rule, and those among them who bear it out, by weight.

    `trust` is the share of its automatic worth that a rule keeps after them. `shared` says that
    they are those of all rules on the same features, because these leave it less.
    """

    fired: float
    right: float
    trust: float = 1.0
    shared: bool = False

    @property
    def wrong(self) -> float:
        """The weight of patients who meet the rule and have the other outcome."""
        return self.fired - self.right

    @property
    def doubtful(self) -> bool:
        """True where the patients leave less than half of the trust."""
        return self.trust < DOUBTFUL

    def contradiction(self, name: str) -> str:
        """How many patients contradict a rule of this name.

        >>> Heard(5, 1).contradiction("r1")
        '4 of the 5 training patients r1 speaks of contradict it'
        """
        who, whom = ("and other rules on the same features speak", "them")
        if not self.shared:
            who, whom = "speaks", "it"
        patients = f"{self.wrong:.3g} of the {self.fired:.3g} training patients"
        return f"{patients} {name} {who} of contradict {whom}"

    def __str__(self) -> str:
        return f"{self.contradiction('it')}: {self.trust:.0%} of its automatic worth is left"


@dataclass(frozen=True)
class Witnesses:
    """The columns of training rows that rules name; y in {-1, +1}, weights count patients."""

    columns: IntArray
    values: FloatArray
    y: FloatArray
    weights: FloatArray

    @classmethod
    def of(
        cls, rules: Sequence[CompiledRule], X: Any, y: FloatArray, weights: FloatArray
    ) -> Witnesses:
        """The part of the data that rules look at, in the user's units."""
        columns = np.unique(np.concatenate([np.empty(0, np.int64), *(r.columns for r in rules)]))
        part = X[:, columns]
        values = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
        return cls(columns, values, y, weights)

    @property
    def halves(self) -> FloatArray:
        """Weights that give each class one half."""
        shares = self.weights.astype(np.float64)
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
        values, fires = B @ own, self.fires(rule)
        share = self.weights / self.weights.sum()
        centred = values - (values @ share)[:, None]
        deviation = np.sqrt(centred**2 @ share)
        met = self.weights * fires
        excess = ALONE * deviation
        if met.sum() >= FEWEST:
            mean = np.maximum(rule.d - values @ met / met.sum(), 0.0)
            excess = np.maximum(mean, FLOOR * deviation)
        return excess * _room(B, rule.d, excess)

    def fires(self, rule: CompiledRule) -> np.ndarray:
        """Who meets the premise."""
        B, own = self._on(rule)
        return np.asarray(rows_met(B, rule.d, own).all(axis=0))

    def _on(self, rule: CompiledRule) -> tuple[sparse.csr_array, FloatArray]:
        """B on the columns that the rule names, and the patients' values of these, side by side."""
        named = rule.columns
        own = self.values[:, np.searchsorted(self.columns, named)]
        return on_columns(rule.B, named), np.ascontiguousarray(own.T)

    def heard(self, rule: CompiledRule, kin: Sequence[CompiledRule] = ()) -> Heard:
        """What the patients say of a rule, and of it together with others on its features."""
        alone = self._evidence([rule])
        if not kin:
            return alone
        joined = replace(self._evidence([rule, *kin]), shared=True)
        return min(alone, joined, key=lambda one: one.trust)

    def all_heard(self, rules: Sequence[CompiledRule]) -> list[Heard]:
        """What the patients say of each rule."""
        return [self.heard(rule, kin_of(rule, rules)) for rule in rules]

    def _evidence(self, rules: Sequence[CompiledRule]) -> Heard:
        """Patients who meet any of these rules, each once, and the share of them that agree."""
        fires = np.array([self.fires(rule) for rule in rules])
        right = fires & np.array([self.y == rule.sign for rule in rules])
        met, bears_out = fires.any(axis=0), right.sum(axis=0) / np.maximum(fires.sum(axis=0), 1)
        total = float(self.weights.sum())
        evidence, prior = self.halves * total, prior_patients(total)
        q = (EXPECTED * prior + evidence @ bears_out) / (prior + evidence @ met)
        trust = float(np.clip((q - 0.5) / (CONVINCING - 0.5), 0.0, 1.0)) ** SHARPNESS
        return Heard(float(self.weights @ met), float(self.weights @ bears_out), trust)


def prior_patients(total: float) -> float:
    """For how many patients a rule speaks before any is seen, where `total` are labelled.

    >>> [prior_patients(total) for total in (8, 16, 200)]
    [16.0, 4.0, 4.0]
    """
    return PRIOR * max((FEW / total) ** 2, 1.0)


def kin_of(rule: CompiledRule, rules: Iterable[CompiledRule]) -> list[CompiledRule]:
    """The other rules that name the same features."""
    return [
        other
        for other in rules
        if other is not rule and np.array_equal(other.columns, rule.columns)
    ]


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
