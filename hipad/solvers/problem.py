"""The optimisation problem: data, rules (B, d, sign), penalty factors, and its objective.

F(w, b, u) = lambda2/2 |w|^2 + sum_j penalty_j(w_j) + sum_i p_i (1 - y_i (x_i'w + b))_+
           + sum_r [ rho_r/2 |B_r'u_r + s_r w|^2 + sigma_r (d_r'u_r - s_r b + 1)_+ ],   u_r >= 0

with the hinge, as here, or another loss of the samples (losses.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from hipad.designs import Design
from hipad.solvers.losses import HINGE, Loss, RowLosses
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# What each feature pays for a weight: lambda1, unless more is known of it.
#
# A weight costs up w where it is positive and down |w| where it is negative. Without knowledge both
# are lambda1. A penalty of infinity forbids the sign, one of zero lets the feature in for
# nothing:
#
#     never negative   up = lambda1, down = inf         never positive   the other way round
#     excluded         up = down = inf                  unpenalized      up = down = 0
#
# Everything that solvers ask of |w| follows from the two numbers. A feature stays out while its
# gradient lies within [-down, up], and the best weight for a gradient is what exceeds them, over
# the ridge.


class SignPenalties(NamedTuple):
    """Penalties of a positive and of a negative weight, feature by feature."""

    up: FloatArray
    down: FloatArray

    @property
    def unpenalized(self) -> np.ndarray:
        """Where any weight costs nothing."""
        return (self.up == 0) & (self.down == 0)

    def over(self, gradient: FloatArray) -> FloatArray:
        """By how much each gradient exceeds what it must to let its feature in."""
        return np.maximum(gradient - self.up, -gradient - self.down)

    def shrink(self, gradient: FloatArray) -> FloatArray:
        """What the penalties leave of a gradient: the soft threshold, where both are equal."""
        left = np.clip(gradient, -self.down, self.up)
        return np.subtract(gradient, left, out=left)

    def cost(self, w: FloatArray) -> float:
        """The sum of penalties; infinite where a sign is forbidden."""
        penalty = np.where(w > 0, self.up, self.down)
        return float(penalty[w != 0] @ np.abs(w[w != 0]))

    def allowed(self, w: FloatArray) -> FloatArray:
        """The weights, with zero where their sign is forbidden."""
        forbidden = np.isinf(np.where(w > 0, self.up, self.down))
        return np.where(forbidden, 0.0, w)


def _nothing() -> FloatArray:
    return np.zeros(0)


def _nobody() -> np.ndarray:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class PenaltyFactors:
    """The few features (sorted) whose penalties are not lambda1, in multiples of it."""

    features: np.ndarray = field(default_factory=_nobody)
    up: FloatArray = field(default_factory=_nothing)
    down: FloatArray = field(default_factory=_nothing)

    @cached_property
    def unpenalized(self) -> np.ndarray:
        """Features that are always in: any weight costs nothing."""
        return self.features[(self.up == 0) & (self.down == 0)]

    @cached_property
    def costless(self) -> np.ndarray:
        """Features that some weight costs nothing: they may be in at every lambda1."""
        return self.features[(self.up == 0) | (self.down == 0)]

    @cached_property
    def excluded(self) -> np.ndarray:
        """Features that are never in: no weight is allowed."""
        return self.features[np.isinf(self.up) & np.isinf(self.down)]

    def at(self, features: np.ndarray, lambda1: float) -> SignPenalties:
        """The penalties of some features (any order)."""
        up, down = np.full(len(features), lambda1), np.full(len(features), lambda1)
        if self.features.size:
            place = np.minimum(np.searchsorted(self.features, features), self.features.size - 1)
            own = np.flatnonzero(self.features[place] == features)
            up[own] = _times(lambda1, self.up[place[own]])
            down[own] = _times(lambda1, self.down[place[own]])
        return SignPenalties(up, down)

    def over(self, gradient: FloatArray, lambda1: float) -> FloatArray:
        """By how much the gradient on every feature exceeds its penalty."""
        over = np.abs(gradient) - lambda1
        if self.features.size:
            over[self.features] = self.at(self.features, lambda1).over(gradient[self.features])
        return over

    def needed(self, gradient: FloatArray) -> FloatArray:
        """The lambda1 that holds every feature out against its gradient; infinite where none does.

        A matrix of gradients has one column a problem.
        """
        needed = np.abs(gradient)
        if self.features.size:
            own, shape = gradient[self.features], (-1, *[1] * (gradient.ndim - 1))
            with np.errstate(divide="ignore", invalid="ignore"):
                up, down = own / self.up.reshape(shape), -own / self.down.reshape(shape)
            needed[self.features] = np.maximum(np.nan_to_num(np.fmax(up, down), posinf=np.inf), 0.0)
        return needed


def _times(lambda1: float, factor: FloatArray) -> FloatArray:
    """lambda1 times the factor; infinity stays, even where lambda1 is zero."""
    return np.where(np.isinf(factor), np.inf, lambda1 * np.where(np.isinf(factor), 0.0, factor))


# --------------------------------------------------------------------------------------------------
# The optimisation problem: what the solvers are given, and how its objective is evaluated.
#
# ENK-SVM with R rules (R = 0 is the plain elastic-net SVM), over weights w, intercept b and one
# multiplier vector u_i >= 0 for each rule:
#
#     F(w, b, u) = lambda2/2 |w|^2 + lambda1 |w|_1 + sum_j p_j (1 - y_j (x_j'w + b))_+
#                + sum_i [ rho_i/2 |M_i (B_i'u_i + s_i w)|^2 + sigma_i (d_i'u_i - e_i b + 1)_+ ]
#
# Rule i says: B_i x <= d_i implies s_i (w'x + b) >= 1. M_i is the identity for the scope
# "population"; for "typical" it keeps the features that rule i names. In the paper e_i = s_i. The
# intercept alone can then meet a single rule, and no weight moves. A centered rule has e_i = 0: it
# says s_i w'x >= 1, where x counts from the middle between the classes.
#
# Where more is known of a feature, its |w_j| has other penalties than lambda1 (problem.py).
#
# Expanding the squares, the quadratic part in w is diagonal. It is `ridge` below: lambda2 plus the
# rho_i whose residual covers the feature. That one fact carries both scopes through every solver.


Scope = Literal["population", "typical"]


@dataclass(frozen=True)
class RuleBlock:
    """One rule as the solver knows it: B x <= d => sign (w'x + b) >= 1, in the design's units.

    Where it is centered, b is left out, and x counts from where the two classes meet.
    """

    B: sp.csr_array
    d: FloatArray
    sign: float
    sigma: float
    rho: float
    centered: bool = False


@dataclass(frozen=True)
class RuleStack:
    """The conditions of all rules as one matrix over the few features that they name.

    Row r of `B` belongs to rule `owner[r]`. Rows have unit norm: a condition does not change when
    it is multiplied by a positive number, and u then has comparable entries. `of_b` says how a rule
    meets the intercept: with its sign, or with 0 where it is centered.
    """

    features: np.ndarray
    B: FloatArray
    d: FloatArray
    owner: np.ndarray
    sign: FloatArray
    of_b: FloatArray
    sigma: FloatArray
    rho: FloatArray
    row_norms: FloatArray

    @classmethod
    def of(cls, rules: tuple[RuleBlock, ...], n_features: int) -> RuleStack:
        """Put the rules one below the other; without rules the stack is empty."""
        rows = (
            sp.vstack([rule.B for rule in rules], format="csr")
            if rules
            else sp.csr_array((0, n_features))
        )
        features = np.unique(rows.indices[rows.data != 0])
        B = np.asfortranarray(rows[:, features].toarray(), dtype=float)
        norms = np.linalg.norm(B, axis=1)
        norms[norms == 0] = 1.0
        d = np.concatenate([np.atleast_1d(rule.d) for rule in rules]) if rules else np.zeros(0)
        owner = np.repeat(np.arange(len(rules)), [rule.B.shape[0] for rule in rules])
        per_rule = [np.array([getattr(r, key) for r in rules]) for key in ("sign", "sigma", "rho")]
        sign, sigma, rho = (values.astype(float) for values in per_rule)
        of_b = np.where([rule.centered for rule in rules], 0.0, sign)
        return cls(features, B / norms[:, None], d / norms, owner, sign, of_b, sigma, rho, norms)

    @property
    def n_rules(self) -> int:
        return self.sign.size

    @property
    def n_rows(self) -> int:
        """Conditions of all rules together."""
        return self.d.size

    @cached_property
    def coupling(self) -> FloatArray:
        """Rows rho_i s_i B_i: the cross term of u and w in the quadratic part."""
        return (self.rho * self.sign)[self.owner, None] * self.B

    @cached_property
    def curvature(self) -> FloatArray:
        """Block-diagonal matrix of rho_i B_i B_i': the quadratic part in u."""
        same_rule = self.owner[:, None] == self.owner[None, :]
        return np.where(same_rule, self.rho[self.owner, None] * (self.B @ self.B.T), 0.0)

    @cached_property
    def thresholds(self) -> FloatArray:
        """n_rules x n_rows matrix whose row i holds d_i, so that `thresholds @ u` is d_i'u_i."""
        matrix = np.zeros((self.n_rules, self.n_rows))
        matrix[self.owner, np.arange(self.n_rows)] = self.d
        return matrix

    @cached_property
    def ceilings(self) -> FloatArray:
        """Upper bounds of the dual variables: sigma, but zero for a rule that no x at all can meet.

        Its u can grow along B_i'u = 0, d_i'u < 0, which makes the dual unbounded elsewhere.
        """
        empty = [self._is_empty(self.owner == i) for i in range(self.n_rules)]
        return np.where(empty, 0.0, self.sigma)

    def _is_empty(self, rows: np.ndarray) -> bool:
        B, d = self.B[rows], self.d[rows]
        if not B.any():
            return bool((d < 0).any())
        if d.size == 1:
            return False
        return linprog(np.zeros(B.shape[1]), A_ub=B, b_ub=d, bounds=(None, None)).status == 2

    def slacks(self, b: float, u: FloatArray) -> FloatArray:
        """d_i'u_i - e_i b + 1, one number for each rule: positive where the rule is violated."""
        return self.thresholds @ u - self.of_b * b + 1.0


@dataclass(frozen=True)
class Problem:
    """Data, rules and parameters of one fit. `p` are the sample weights; they sum to one.

    `penalty_factors` are those of features that do not pay lambda1 for either sign of their weight.
    """

    design: Design
    y: FloatArray
    p: FloatArray
    lambda1: float
    lambda2: float
    rules: tuple[RuleBlock, ...] = ()
    scope: Scope = "population"
    penalty_factors: PenaltyFactors = field(default_factory=PenaltyFactors)
    loss: Loss = HINGE
    stack: RuleStack = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stack", RuleStack.of(self.rules, self.design.shape[1]))

    @property
    def n_samples(self) -> int:
        return self.design.shape[0]

    @property
    def n_features(self) -> int:
        return self.design.shape[1]

    @cached_property
    def rows(self) -> RowLosses:
        """Weights, bounds and curvatures of the dual variables: of samples, then of rules."""
        return RowLosses.of(self.loss, self.p, self.stack.sigma)

    @cached_property
    def ridge_off(self) -> float:
        """Quadratic coefficient of a feature that no rule names."""
        return self.lambda2 + (self.stack.rho.sum() if self.scope == "population" else 0.0)

    @cached_property
    def ridge_rules(self) -> FloatArray:
        """Quadratic coefficients of `stack.features`."""
        stack = self.stack
        if self.scope == "population":
            return np.full(stack.features.size, self.ridge_off)
        named = np.zeros((stack.n_rules, stack.features.size), dtype=bool)
        np.logical_or.at(named, stack.owner, stack.B != 0)
        return self.lambda2 + stack.rho @ named

    def ridge(self, features: np.ndarray) -> FloatArray:
        """Quadratic coefficients of the given features (any order)."""
        values = np.full(len(features), self.ridge_off)
        at, of = self.rule_positions(features)
        values[at] = self.ridge_rules[of]
        return values

    def limits(self, features: np.ndarray, lambda1: float | None = None) -> SignPenalties:
        """Penalties of the weights of the given features (any order)."""
        return self.penalty_factors.at(features, self.lambda1 if lambda1 is None else lambda1)

    @cached_property
    def always_in(self) -> np.ndarray:
        """Features that solvers never leave out: those of rules, and those that pay nothing."""
        named = np.setdiff1d(self.stack.features, self.penalty_factors.excluded)
        return np.union1d(named, self.penalty_factors.unpenalized).astype(int)

    def rule_positions(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where rule features occur: positions in `features`, and positions in `stack.features`."""
        named = self.stack.features
        if named.size == 0:
            return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
        place = np.minimum(np.searchsorted(named, features), named.size - 1)
        at = np.flatnonzero(named[place] == features)
        return at, place[at]

    def with_parameters(self, **changes: object) -> Problem:
        """The same data with other rules or parameters."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def objective(
        self, features: np.ndarray, w: FloatArray, scores: FloatArray, b: float, u: FloatArray
    ) -> float:
        """F at weights w on `features` (zero elsewhere), where scores = Xw without b."""
        stack = self.stack
        short = 1.0 - self.y * (scores + b)
        value: Any = self.loss.value(short, self.p).sum()
        value += self.limits(features).cost(w) + 0.5 * self.ridge(features) @ (w * w)
        if stack.n_rules:
            at, of = self.rule_positions(features)
            value += u @ (stack.coupling[:, of] @ w[at]) + 0.5 * u @ stack.curvature @ u
            value += stack.sigma @ np.maximum(stack.slacks(b, u), 0.0)
        return float(value)
