"""How strongly rules act: their gradient at w = 0, and the evidence of training rows for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import betainc

from hipad.data.preprocessing import MissingValues
from hipad.rules.compiled_rule import CompiledRule, ScaledRule, on_columns, rows_met
from hipad.rules.guarantees import least_norm
from hipad.utils import BoolArray, FloatArray, IntArray, listed

# --------------------------------------------------------------------------------------------------
# What a rule tells the solver: of whom it speaks, and how far the training patients bear it out.
#
# A rule as written, B x <= d, draws a border. Who wrote it has the patients beyond it in mind, and
# at the border itself would not decide. So the solver is told of the typical patient who meets the
# rule: each row of d moves inwards by the mean excess over the threshold among the training rows
# that meet the premise. Labels play no part in this. It moves by a quarter of the deviation of B x
# at least, and by half of it where fewer than two patients meet the premise.
#
# The solver's rule counts from the middle m between the class means, d - B m: a model with its
# intercept there is undecided, and the rule says on which side of it its patients lie. Without that
# a single rule could be met by the intercept alone.
#
# The rows that meet a rule are also evidence on it, which is shown beside the rule
# (`RuleEvidence`). What the rule counts for is decided by all labelled rows (estimator/trust).


FLOOR, ALONE = 0.25, 0.5  # least excess of the typical patient, in deviations of B x
FEWEST = 2.0  # patients who show what is typical
REACHABLE = 0.9  # how far inwards, where the rows of a premise end in one another
SURE = 0.95  # probability that a rule is wrong more often than right, from which on that is said


@dataclass(frozen=True)
class RuleEvidence:
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

        >>> RuleEvidence(5, 0, 0.0).doubtful, RuleEvidence(1, 0, 0.0).doubtful
        (True, False)
        """
        if not self.fired or np.isnan(self.agreement):
            return False
        right = self.fired * self.agreement
        return float(betainc(1 + right, 1 + self.fired - right, 0.5)) > SURE

    def contradiction(self, name: str) -> str:
        """Return how many patients contradict a rule of this name.

        >>> RuleEvidence(5, 1).contradiction("r1")
        '4 of the 5 training patients r1 speaks of contradict it'
        """
        patients = f"{self.wrong:.3g} of the {self.fired:.3g} training patients"
        return f"{patients} {name} speaks of contradict it"


@dataclass(frozen=True)
class RuleColumns:
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
        gaps: MissingValues | None = None,
    ) -> RuleColumns:
        """Return the part of the data that rules look at, in the user's units.

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
        """Return the middle between the class means; zero for features that no rule names."""
        found = np.zeros(n_features)
        found[self.columns] = self.halves @ self.values
        return found

    def representative(
        self, rule: CompiledRule, middle: FloatArray, scale: FloatArray | None
    ) -> ScaledRule:
        """Return the rule of the typical patient, in the design's units from the middle on."""
        return replace(rule, d=rule.d - self.excess(rule)).scaled(middle, scale)

    def all_representatives(
        self, rules: Sequence[CompiledRule], scale: FloatArray | None = None
    ) -> tuple[ScaledRule, ...]:
        """Return all rules as the solver is told them."""
        if not rules:
            return ()
        middle = self.middle(rules[0].B.shape[1])
        return tuple(self.representative(rule, middle, scale) for rule in rules)

    def excess(self, rule: CompiledRule) -> FloatArray:
        """Return how far beyond each threshold the typical patient lies who meets the rule."""
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
        return excess * _reachable_share(B, rule.d, excess)

    def fires(self, rule: CompiledRule) -> np.ndarray:
        """Who meets the premise."""
        B, own = self._on(rule)
        met = np.asarray(rows_met(B, rule.d, own).all(axis=0))
        known = self._measured(rule)
        return met if known is None else met & known[: len(met)]

    def _measured(self, rule: CompiledRule) -> BoolArray | None:
        """Return the rows with all values that the rule names, those without a label last; None:
        all.
        """
        if self.gaps is None:
            return None
        named = self.gaps[:, np.searchsorted(self.columns, rule.columns)]
        return np.asarray(~named.any(axis=1))

    def _on(self, rule: CompiledRule) -> tuple[sparse.csr_array, FloatArray]:
        """B on the columns that the rule names, and the patients' values of these, side by side."""
        named = rule.columns
        own = self.values[:, np.searchsorted(self.columns, named)]
        return on_columns(rule.B, named), np.ascontiguousarray(own.T)

    def evidence(self, rule: CompiledRule) -> RuleEvidence:
        """Return what the patients who meet a rule say of it."""
        met, known = self.fires(rule), self._measured(rule)
        weights = self.weights if known is None else self.weights * known[: len(met)]
        right, halves = met & (self.y == rule.sign), self._halves(weights)
        fired = float(halves @ met)
        agreement = float(halves @ right) / fired if fired else float("nan")
        return RuleEvidence(float(self.weights @ met), float(self.weights @ right), agreement)

    def all_evidence(self, rules: Sequence[CompiledRule]) -> list[RuleEvidence]:
        """Return what the patients say of each rule."""
        return [self.evidence(rule) for rule in rules]


def _dense(part: Any) -> FloatArray:
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def _reachable_share(B: sparse.csr_array, d: FloatArray, excess: FloatArray) -> float:
    """Return the share of the excess that leaves somebody to speak of: two rows may end in one
    another.
    """
    if B.nnz == len(np.unique(B.indices)):
        return 1.0
    rows = np.hstack([B.toarray(), excess[:, None]])
    size = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-300)
    goal = np.append(np.zeros(B.shape[1]), -1.0)
    bounds = [(None, None)] * B.shape[1] + [(0.0, 1.0 / REACHABLE)]
    found = linprog(goal, A_ub=rows / size[:, None], b_ub=d / size, bounds=bounds)
    return REACHABLE * float(found.x[-1]) if found.status == 0 else 0.0


# --------------------------------------------------------------------------------------------------
# The gradient of a rule on its features at w = 0, and which of its weights holds it back.
#
# With z the shortest patient that meets the premise (in scaled units, counted from the middle
# between the classes), the multiplier that is best at w = 0 gives
#
#     gradient_j = min( sigma, rho / |z|^2 ) |z_j|
#
# which for one condition is min( sigma |d| |B_j| / |B|^2, rho |B_j| / |d| ). A feature can enter
# only if its gradient exceeds lambda1. A premise that is met in the middle has z = 0: the rule's
# gradient is zero.
#
# The training patients have a gradient as well, X'(p y), and so have other rules: a rule that is
# too weak alone may bring a feature in together with them.


DataGradient = Callable[[IntArray], FloatArray]
"""Columns -> X'(p y) on them, in scaled units: the gradient of the patients' loss at w = 0."""


@dataclass(frozen=True)
class RuleWeights:
    """What a rule counts for: sigma and rho in the objective, for n_samples training rows.

    `rho_follows` says that rho was set by sigma, so that there is one number to choose; `evidence`
    is what the training patients whom the rule covers say of it.
    """

    sigma: float
    rho: float
    n_samples: float
    rho_follows: bool = False
    evidence: RuleEvidence | None = None


@dataclass(frozen=True)
class RuleGradient:
    """The largest gradient of a rule at zero, what it must exceed, and what it takes to exceed it.

    `limit` is "worth", "stiffness", "premise" (met in the middle between the classes) or "never"
    (no patient can meet it). The sigma and rho that are needed are inf where no value would do.
    `together` is the largest gradient on a feature of the rule, towards its outcome, of patients
    and all rules. After a fit `inside` counts the features of the rule in the model; before it,
    it is None. A fit without the rule (`Effect`), not the gradient, says what it does.
    """

    strongest: float
    lambda1: float
    limit: str
    sigma_needed: float
    rho_needed: float
    together: float | None = None
    inside: int | None = None

    @property
    def alone(self) -> bool:
        """True if the rule alone is strong enough for a feature to enter, and nothing holds it."""
        held = self.inside == 0 or (self.together is not None and self.together <= self.lambda1)
        return self.strongest > self.lambda1 and not held

    @property
    def enters(self) -> bool:
        """True if a feature of the rule is in or, before a fit, can be expected to enter."""
        if self.limit == "never":
            return False
        if self.inside is not None:
            return self.inside > 0
        return self.alone or (self.together or 0.0) > self.lambda1

    @property
    def state(self) -> str:
        """Whether a feature of the rule is in or, before a fit, can be expected to enter."""
        if self.inside is not None:
            return "a feature of it is in" if self.enters else "no feature of it is in"
        if self.enters:
            return "enough for a feature" if self.alone else "enough for a feature with the data"
        return "too weak for a feature to enter"

    def __str__(self) -> str:
        return (
            f"gradient {self.strongest:.3g} against lambda1 {self.lambda1:.3g}: {self.state}, "
            f"limited by its {self.limit}"
        )


def shortest_patient(B: sparse.csr_array, d: FloatArray) -> FloatArray | None:
    """Return z on the columns that B names, or None if no patient meets the premise."""
    return least_norm(on_columns(B, np.unique(B.indices)), d)


def rule_gradient(
    B: sparse.csr_array, d: FloatArray, *, sigma: float, rho: float, lambda1: float
) -> RuleGradient:
    """Return the gradient of a rule at zero in scaled units.

    >>> B, d = sparse.csr_array([[-0.5, -0.5]]), np.array([-4.0])
    >>> gradient = rule_gradient(B, d, sigma=0.25, rho=100.0, lambda1=0.1)
    >>> gradient.strongest, gradient.limit, gradient.enters
    (1.0, 'worth', True)
    """
    return _gradient_at_zero(shortest_patient(B, d), sigma, rho, lambda1)


def _gradient_at_zero(
    z: FloatArray | None, sigma: float, rho: float, lambda1: float
) -> RuleGradient:
    if z is None:
        return RuleGradient(0.0, lambda1, "never", np.inf, np.inf)
    square, largest = float(z @ z), float(np.abs(z).max(initial=0.0))
    if largest == 0.0:
        return RuleGradient(0.0, lambda1, "premise", np.inf, np.inf)
    return RuleGradient(
        strongest=min(sigma, rho / square) * largest,
        lambda1=lambda1,
        limit="worth" if sigma <= rho / square else "stiffness",
        sigma_needed=lambda1 / largest,
        rho_needed=lambda1 * square / largest,
    )


def rule_gradients(
    rules: Sequence[ScaledRule],
    weights: Sequence[RuleWeights],
    lambda1: float,
    data_gradient: DataGradient | None = None,
) -> list[RuleGradient]:
    """Return the gradients of rules at zero in scaled units, each alone and, if the patients' is
    known, together.
    """
    shortest = [shortest_patient(rule.B, rule.d) for rule in rules]
    alone = [
        _gradient_at_zero(z, own.sigma, own.rho, lambda1)
        for z, own in zip(shortest, weights, strict=True)
    ]
    if data_gradient is None or not rules:
        return alone
    named = np.unique(np.concatenate([rule.columns for rule in rules]))
    forces = list(map(_force, rules, shortest, weights))
    places = [np.searchsorted(named, rule.columns) for rule in rules]
    total = np.array(data_gradient(named), dtype=np.float64)
    for at, force in zip(places, forces, strict=True):
        total[at] += force
    return [
        _joined(gradient, z, force, np.sign(force) * total[at])
        for gradient, z, at, force in zip(alone, shortest, places, forces, strict=True)
    ]


def _joined(
    gradient: RuleGradient, z: FloatArray | None, force: FloatArray, towards: FloatArray
) -> RuleGradient:
    """Return the gradient with what patients and other rules add to it, or take away."""
    gradient = replace(gradient, together=float(np.max(towards, initial=0.0)))
    if z is None or not z.any() or not force.any():
        return gradient
    missing = gradient.lambda1 - (towards - np.abs(force))  # what the rule itself must bring
    needed = np.min(missing[z != 0] / np.abs(z[z != 0]))
    return replace(gradient, sigma_needed=max(float(needed), 0.0))


def _force(rule: ScaledRule, z: FloatArray | None, weights: RuleWeights) -> FloatArray:
    """Return the gradient of a rule on each feature that it names, with its sign."""
    if z is None or not z.any():
        return np.zeros(len(rule.columns))
    return rule.sign * min(weights.sigma, weights.rho / float(z @ z)) * z


def weight_advice(gradient: RuleGradient, weights: RuleWeights) -> str:
    """Return which weights must change, and how far, for a feature of the rule to enter."""
    if gradient.sigma_needed == np.inf:
        return "lower lambda1: no worth of it brings a feature in"
    steps = []
    if weights.sigma <= gradient.sigma_needed:
        patients = gradient.sigma_needed * weights.n_samples
        steps.append(f"make it worth more than {patients:.3g} patients")
    if weights.rho <= gradient.rho_needed and not weights.rho_follows:
        steps.append(f"raise its stiffness above {gradient.rho_needed:.3g}")
    lowest = gradient.strongest if gradient.together is None else gradient.together
    if lowest == 0.0:
        return listed(steps)
    return f"{listed(steps)}, or lower lambda1 below {lowest:.3g}"
