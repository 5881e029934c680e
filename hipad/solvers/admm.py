"""Phase 1: two-block ADMM for the elastic-net SVM with any number of rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from hipad.solvers.losses import HINGE
from hipad.solvers.problem import Problem
from hipad.solvers.weight_blocks import (
    DirectFeatures,
    KrylovFeatures,
    LazyFeatures,
    Penalties,
    UpdateInfo,
    WeightBlock,
    nonnegative,
)
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# Penalties of the ADMM: a first guess from the data, then balance by what the residuals say.
#
# The speed of ADMM depends a hundredfold on the penalties. Each split has its own, and it is right
# when the split's relative primal and dual residuals fall together.


REACH = 1e5  # how far a penalty may move from its first value
FLOOR = 0.1  # the copy or the multiplier of a split may vanish; the other then sets the scale

Pair = tuple[float, float]


@dataclass(frozen=True)
class Residuals:
    """Relative (primal, dual) residual of each split."""

    hinge: Pair
    w: Pair
    slack: Pair
    u: Pair

    @property
    def primal(self) -> float:
        """The largest over all splits: how far copies are from what they copy."""
        return max(self.hinge[0], self.w[0], self.slack[0], self.u[0])

    @property
    def dual(self) -> float:
        """The largest over all splits: how far multipliers still move."""
        return max(self.hinge[1], self.w[1], self.slack[1], self.u[1])


def relative(
    image: FloatArray, copy: FloatArray, step: FloatArray, multiplier: FloatArray, mu: float
) -> Pair:
    """Relative primal residual |image - copy| and dual residual |mu step| of one split."""
    if copy.size == 0:
        return 0.0, 0.0
    residual, moved = float(np.linalg.norm(image - copy)), mu * float(np.linalg.norm(step))
    scale = max(float(np.linalg.norm(image)), float(np.linalg.norm(copy)))
    return scaled_pair(residual, moved, scale, float(np.linalg.norm(multiplier)), mu)


def scaled_pair(residual: float, moved: float, scale: float, weight: float, mu: float) -> Pair:
    """Residuals relative to the size of the copy and of the multiplier."""
    size = max(scale, FLOOR * weight / mu, 1e-300)
    return residual / size, moved / max(weight, FLOOR * mu * scale, 1e-300)


def starting_penalties(problem: Problem) -> Penalties:
    """Scale each penalty to what it meets: sample weights, ridge, curvature of the rules.

    Of the choices tried on ksvm-s these settle the support first, mostly within ten sweeps.
    """
    stack = problem.stack
    curvature = float(np.mean(np.diag(stack.curvature))) if stack.n_rows else 1.0
    thresholds = float(np.mean(stack.d**2)) if stack.n_rows else 1.0
    u = (curvature or 1.0) / 3
    # not above the samples' own curvature in b: a threshold near zero would freeze the slack
    slack = min(u / max(thresholds, 1e-12), 1.0)
    return Penalties(hinge=1 / problem.n_samples, w=problem.ridge_off, slack=slack, u=u)


def balanced(
    mu: Penalties, residuals: Residuals, first: Penalties, tolerance: float = 5.0
) -> Penalties:
    """Penalties moved towards equal residuals; unchanged where they are within the tolerance.

    They stay within reach of the first ones. A split that has nothing left to say (an equality, a
    constant column) would else take its penalty to zero, and with it the factorisation.
    """

    def moved(name: str) -> float:
        value, (primal, dual) = getattr(mu, name), getattr(residuals, name)
        if primal <= tolerance * dual and dual <= tolerance * primal:
            return float(value)
        value = value * np.clip(np.sqrt(primal / max(dual, 1e-300)), 0.1, 10.0)
        start = getattr(first, name)
        return float(np.clip(value, start / REACH, start * REACH))

    return Penalties(hinge=moved("hinge"), w=moved("w"), slack=moved("slack"), u=moved("u"))


# --------------------------------------------------------------------------------------------------
# Phase 1: two-block ADMM for the elastic-net SVM with any number of rules.
#
#     minimise  F  over (w, b, u) and copies (a, c, q, t), subject to
#     a = e - Y(Xw + be),   c = w,   q_i = d_i'u_i - e_i b + 1,   t = u,   t >= 0
#
# One sweep:
#
#     1. (w, b, u) jointly: a linear system              (the paper's lines 3 to 5, made one block)
#     2. a, c, q, t: proximal operators of the over-relaxed images
#     3. gamma1, gamma2, gamma3, gamma5: multipliers, in the same projections as 2
#     4. now and then, balance the penalties by the relative residuals of each split
#
# Updating (w, b, u) together makes this a two-block method, which converges for all penalties; the
# paper's order (w, b), u, v does not have that guarantee. The sparse iterate is c, not w.


LARGEST_FACTOR = 6000  # a dense factor of this size takes 0.3 GB and some seconds


@dataclass(frozen=True)
class AdmmSettings:
    """How phase 1 runs. `penalties=None` scales them to the data.

    With `far` all of them start at so many times lambda2, and `first_try` is the sweep from which
    the optimum is tried: a way to the same optimum that is long enough to be watched.
    """

    relaxation: float = 1.6
    penalties: Penalties | None = None
    balance: bool = True
    far: float | None = None
    first_try: int = 20

    def first_penalties(self, problem: Problem) -> Penalties:
        """Return the penalties that a cold start begins with."""
        if self.far is not None:
            return Penalties(*[self.far * problem.lambda2] * 4)
        return self.penalties or starting_penalties(problem)


# Of 1 to 100 times lambda2, tried on all samples and other draws of ksvm-s with rules and without,
# 30 times shows most: many features enter and leave again, within sixty sweeps.
WATCHED = AdmmSettings(far=30.0, first_try=60)


@dataclass(frozen=True)
class Multipliers:
    """The part of the state that a refit can start from, besides the features."""

    a: FloatArray
    gamma1: FloatArray
    q: FloatArray
    gamma3: FloatArray
    t: FloatArray
    gamma5: FloatArray
    penalties: Penalties

    @classmethod
    def cold(cls, problem: Problem, penalties: Penalties) -> Multipliers:
        """Every sample violates its margin at w = 0, which keeps the first supports small."""
        rules, rows = np.zeros(problem.stack.n_rules), np.zeros(problem.stack.n_rows)
        a = np.ones(problem.n_samples)
        dual = problem.loss.dual(a, problem.p)
        return cls(a, dual, rules, rules, rows, rows, penalties)

    def for_problem(self, problem: Problem) -> Multipliers:
        """Reuse what still fits when rules were added, removed or changed."""
        cold = Multipliers.cold(problem, self.penalties)
        if self.q.size != cold.q.size or self.t.size != cold.t.size:
            return replace(cold, a=self.a, gamma1=self.gamma1)
        return self


@dataclass(frozen=True)
class Sweep:
    """What one sweep did."""

    shift: UpdateInfo
    b: float
    primal: float
    dual: float
    rule_slacks: FloatArray


class Admm:
    """State of phase 1; `sweep()` advances it."""

    def __init__(
        self,
        problem: Problem,
        settings: AdmmSettings | None = None,
        warm: tuple[Multipliers, WeightBlock] | None = None,
    ) -> None:
        self.problem, self.settings, self.sweeps = problem, settings or AdmmSettings(), 0
        if warm is None:
            mu = self.settings.first_penalties(problem)
            state, self.features = Multipliers.cold(problem, mu), choose_features(problem, mu)
        else:
            state = warm[0].for_problem(problem)
            self.features = resume_features(problem, state.penalties, warm[1])
        self.a, self.gamma1 = state.a, state.gamma1
        self.q, self.gamma3 = state.q, state.gamma3
        self.t, self.gamma5 = state.t, state.gamma5
        self.b, self._next_balance = 0.0, 10
        self._first = self.settings.first_penalties(problem)

    @property
    def mu(self) -> Penalties:
        """The present penalties."""
        return self.features.mu

    def sweep(self) -> Sweep:
        """Advance by one sweep."""
        stack, y, mu, omega = self.problem.stack, self.problem.y, self.mu, self.settings.relaxation
        dual = self.gamma3 + mu.slack * (1.0 - self.q)
        first = self.features.solve(
            v=y * (self.gamma1 + mu.hinge * (1.0 - self.a)),
            r_b=-float(stack.of_b @ dual),
            r_u=mu.u * self.t - self.gamma5 - dual @ stack.thresholds,
        )
        a_old, q_old, t_old = self.a, self.q, self.t
        margin, slack, self.u = 1.0 - y * first.f, stack.slacks(first.b, first.u), first.u
        a_image, q_image, t_image = (
            omega * image + (1 - omega) * copy
            for image, copy in ((margin, a_old), (slack, q_old), (first.u, t_old))
        )
        loss, p = self.problem.loss, self.problem.p
        self.a, self.gamma1 = loss.proximal_step(a_image, self.gamma1, mu.hinge, p)
        shift = self.features.shrink(omega)
        self.q, self.gamma3 = HINGE.proximal_step(q_image, self.gamma3, mu.slack, stack.sigma)
        self.t, self.gamma5 = nonnegative(t_image, self.gamma5, mu.u)
        self.b, self.sweeps = first.b, self.sweeps + 1
        return self._report(shift, margin, slack, a_old, q_old, t_old)

    def state(self) -> tuple[Multipliers, WeightBlock]:
        """What a later run can start from."""
        multipliers = Multipliers(
            self.a, self.gamma1, self.q, self.gamma3, self.t, self.gamma5, self.mu
        )
        return multipliers, self.features

    def objective(self) -> float:
        """F at the sparse iterate (c, b, t)."""
        kept, c = self.features.support()
        return self.problem.objective(kept, c, self.features.scores(), self.b, self.t)

    def _report(
        self,
        shift: UpdateInfo,
        margin: FloatArray,
        slack: FloatArray,
        a_old: FloatArray,
        q_old: FloatArray,
        t_old: FloatArray,
    ) -> Sweep:
        """Residuals of all splits after a sweep; from time to time they move the penalties."""
        mu = self.mu
        splits = Residuals(
            hinge=relative(margin, self.a, self.a - a_old, self.gamma1, mu.hinge),
            w=scaled_pair(shift.primal, mu.w * shift.change, shift.norm, shift.multiplier, mu.w),
            slack=relative(slack, self.q, self.q - q_old, self.gamma3, mu.slack),
            u=relative(self.u, self.t, self.t - t_old, self.gamma5, mu.u),
        )
        if self.settings.balance and self.sweeps >= self._next_balance:
            self._balance(splits)
        return Sweep(shift, self.b, splits.primal, splits.dual, slack)

    def _balance(self, splits: Residuals) -> None:
        """Move the penalties; ever more rarely, since they must settle for ADMM to converge."""
        self._next_balance = max(self.sweeps + 10, int(1.5 * self.sweeps))
        mu = balanced(self.mu, splits, self._first)
        if mu != self.mu:
            self.features.set_penalties(mu)


def choose_features(problem: Problem, mu: Penalties) -> WeightBlock:
    """The cheapest feature side for the shape of the data: the one place where this is decided."""
    n, m = problem.design.shape
    if min(n, m) > LARGEST_FACTOR:
        return KrylovFeatures(problem, mu)
    return LazyFeatures(problem, mu) if n <= m else DirectFeatures(problem, mu)


def resume_features(problem: Problem, mu: Penalties, previous: WeightBlock) -> WeightBlock:
    """Features that go on from an earlier fit of the same data."""
    features = choose_features(problem, mu)
    features.adopt(previous)
    return features


# --------------------------------------------------------------------------------------------------
# When has phase 1 found the features?
#
# The paper stops when |w_new - w| / max(|w|, 1) < 1e-2. On data where |w| is about 0.1 that fires
# after a few sweeps, with most features still in, or before the first one entered. `SupportTest`
# looks at the support itself, and says when the optimum is worth a try; `PaperTest` is the paper's
# rule, for reproduction.


class SwitchTest(Protocol):
    """Decides after each sweep whether phase 1 has done its part."""

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        """Asked once after each sweep: a test may count them."""


class SupportTest:
    """Indices and signs unchanged for some sweeps, small relative change and small residuals."""

    def __init__(self, patience: int = 5, change: float = 1e-2, primal: float = 2e-2) -> None:
        self.patience, self.change, self.primal = patience, change, primal
        self.quiet = 0

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        """Whether the support has settled; an empty one never counts."""
        shift = sweep.shift
        moved = shift.entered.size + shift.left.size + shift.flipped > 0
        self.quiet = 0 if moved else self.quiet + 1
        if support_size == 0 or self.quiet < self.patience:
            return False
        return shift.change <= self.change * shift.norm and sweep.primal <= self.primal


def transition(w: FloatArray, w_old: FloatArray, tolerance: float = 1e-2) -> bool:
    """The paper's sign that phase 2 may begin: |w - w_old| / max(|w_old|, 1) < tolerance."""
    return bool(np.linalg.norm(w - w_old) < tolerance * max(float(np.linalg.norm(w_old)), 1.0))


class PaperTest:
    """|w_new - w| / max(|w|, 1) below the tolerance, on w itself, as the paper prints it."""

    def __init__(self, weights: Callable[[], FloatArray], tolerance: float = 1e-2) -> None:
        self._weights, self.tolerance = weights, tolerance
        self._before: FloatArray | None = None

    def passed(self, sweep: Sweep, support_size: int) -> bool:
        """Whether w moved little since the sweep before."""
        before, self._before = self._before, self._weights().copy()
        return before is not None and transition(self._before, before, self.tolerance)
