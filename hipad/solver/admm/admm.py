"""Phase 1: two-block ADMM for the elastic-net SVM with any number of rules.

    minimise  F  over (w, b, u) and copies (a, c, q, t), subject to
    a = e - Y(Xw + be),   c = w,   q_i = d_i'u_i - e_i b + 1,   t = u,   t >= 0

One sweep:

    1. (w, b, u) jointly: a linear system              (the paper's lines 3 to 5, made one block)
    2. a, c, q, t: proximal operators of the over-relaxed images
    3. gamma1, gamma2, gamma3, gamma5: multipliers, in the same projections as 2
    4. now and then, balance the penalties by the relative residuals of each split

Updating (w, b, u) together makes this a two-block method, which converges for all penalties; the
paper's order (w, b), u, v does not have that guarantee. The sparse iterate is c, not w.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.admm.balancing import (
    Residuals,
    balanced,
    relative,
    scaled_pair,
    starting_penalties,
)
from hipad.solver.admm.deferred import DeferredFeatures
from hipad.solver.admm.explicit import DirectFeatures, KrylovFeatures
from hipad.solver.admm.penalties import FeatureSide, Penalties, Shift
from hipad.solver.admm.prox import hinge, nonnegative
from hipad.solver.problem import Problem

LARGEST_FACTOR = 6000  # a dense factor of this size takes 0.3 GB and some seconds


@dataclass(frozen=True)
class AdmmSettings:
    """How phase 1 runs. `penalties=None` scales them to the data."""

    relaxation: float = 1.6
    penalties: Penalties | None = None
    balance: bool = True


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
        return cls(a, problem.p.copy(), rules, rules, rows, rows, penalties)

    def for_problem(self, problem: Problem) -> Multipliers:
        """Reuse what still fits when rules were added, removed or changed."""
        cold = Multipliers.cold(problem, self.penalties)
        if self.q.size != cold.q.size or self.t.size != cold.t.size:
            return replace(cold, a=self.a, gamma1=self.gamma1)
        return self


@dataclass(frozen=True)
class Sweep:
    """What one sweep did."""

    shift: Shift
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
        warm: tuple[Multipliers, FeatureSide] | None = None,
    ) -> None:
        self.problem, self.settings, self.sweeps = problem, settings or AdmmSettings(), 0
        if warm is None:
            mu = self.settings.penalties or starting_penalties(problem)
            state, self.features = Multipliers.cold(problem, mu), choose_features(problem, mu)
        else:
            state = warm[0].for_problem(problem)
            self.features = resume_features(problem, state.penalties, warm[1])
        self.a, self.gamma1 = state.a, state.gamma1
        self.q, self.gamma3 = state.q, state.gamma3
        self.t, self.gamma5 = state.t, state.gamma5
        self.b, self._next_balance = 0.0, 10
        self._first = self.settings.penalties or starting_penalties(problem)

    @property
    def mu(self) -> Penalties:
        """The present penalties."""
        return self.features.mu

    def sweep(self) -> Sweep:
        """Advance by one sweep."""
        stack, y, mu, omega = self.problem.stack, self.problem.y, self.mu, self.settings.relaxation
        price = self.gamma3 + mu.slack * (1.0 - self.q)
        first = self.features.solve(
            v=y * (self.gamma1 + mu.hinge * (1.0 - self.a)),
            r_b=-float(stack.of_b @ price),
            r_u=mu.u * self.t - self.gamma5 - price @ stack.thresholds,
        )
        a_old, q_old, t_old = self.a, self.q, self.t
        margin, slack, self.u = 1.0 - y * first.f, stack.slacks(first.b, first.u), first.u
        a_image, q_image, t_image = (
            omega * image + (1 - omega) * copy
            for image, copy in ((margin, a_old), (slack, q_old), (first.u, t_old))
        )
        self.a, self.gamma1 = hinge(a_image, self.gamma1, mu.hinge, self.problem.p)
        shift = self.features.shrink(omega)
        self.q, self.gamma3 = hinge(q_image, self.gamma3, mu.slack, stack.sigma)
        self.t, self.gamma5 = nonnegative(t_image, self.gamma5, mu.u)
        self.b, self.sweeps = first.b, self.sweeps + 1
        return self._report(shift, margin, slack, a_old, q_old, t_old)

    def state(self) -> tuple[Multipliers, FeatureSide]:
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
        shift: Shift,
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


def choose_features(problem: Problem, mu: Penalties) -> FeatureSide:
    """The cheapest feature side for the shape of the data: the one place where this is decided."""
    n, m = problem.design.shape
    if min(n, m) > LARGEST_FACTOR:
        return KrylovFeatures(problem, mu)
    return DeferredFeatures(problem, mu) if n <= m else DirectFeatures(problem, mu)


def resume_features(problem: Problem, mu: Penalties, previous: FeatureSide) -> FeatureSide:
    """Features that go on from an earlier fit of the same data."""
    features = choose_features(problem, mu)
    features.adopt(previous)
    return features
