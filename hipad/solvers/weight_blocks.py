"""The update of (w, b, u) inside an ADMM sweep, for every shape of data.

For N <= m most features are lazy: their multipliers are x_j'T with one shared vector T, and
screening tells which of them may have left zero. For m < N, or both large, every feature has its
own number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lu_factor, lu_solve
from scipy.sparse.linalg import LinearOperator, cg

from hipad.designs import Design
from hipad.solvers.problem import PenaltyFactors, Problem, SignPenalties
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# Proximal operators of the ADMM's second block, and the multiplier step that goes with each. Those
# of the losses are in losses.py: for the hinge it is the paper's S.
#
# Every function takes the over-relaxed image h of the first block, the multiplier g and the penalty
# mu of one constraint (image = copy), and returns the new copy and the new multiplier. By Moreau's
# identity the multiplier is a projection, so it is computed first and the copy follows from it.


Step = tuple[FloatArray, FloatArray]


def soft_threshold(h: FloatArray, g: FloatArray, mu: float, limits: SignPenalties) -> Step:
    """Copy of up h_+ + down h_-: the paper's T with threshold lambda1/mu, where both are lambda1.

    The multiplier stays within [-down, up].
    """
    return _project(h, g, mu, -limits.down, limits.up)


def nonnegative(h: FloatArray, g: FloatArray, mu: float) -> Step:
    """Copy that is never negative; multiplier never positive."""
    return _project(h, g, mu, -np.inf, 0.0)


def _project(h: FloatArray, g: FloatArray, mu: float, low, high) -> Step:  # type: ignore[no-untyped-def]
    moved = g + mu * h
    multiplier = np.clip(moved, low, high)
    return (moved - multiplier) / mu, multiplier


# --------------------------------------------------------------------------------------------------
# What the ADMM and its feature sides share: penalties, results of a step, the (b, u) block.


@dataclass(frozen=True)
class Penalties:
    """One penalty for each split: a (hinge), c (w), q (rule slack), t (u >= 0).

    They are the paper's mu1, mu2, mu3 = mu4 and mu5 = mu6.
    """

    hinge: float
    w: float
    slack: float
    u: float


@dataclass(frozen=True)
class FirstBlock:
    """Outcome of the joint step in (w, b, u); f = Xw + be, w stays with the feature side."""

    f: FloatArray
    b: float
    u: FloatArray


@dataclass(frozen=True)
class UpdateInfo:
    """How the sparse copy c moved in one sweep.

    `primal` is |w - c|, `change` is |c - c_old|, `norm` is |c|, `multiplier` is |gamma2|.
    """

    entered: np.ndarray
    left: np.ndarray
    flipped: int
    primal: float
    change: float
    norm: float
    multiplier: float


class WeightBlock(Protocol):
    """The part of an ADMM sweep that knows the features."""

    mu: Penalties

    @property
    def passes(self) -> int:
        """How often all of X was read."""

    def set_penalties(self, mu: Penalties) -> None:
        """Take other penalties."""

    def solve(self, v: FloatArray, r_b: float, r_u: FloatArray) -> FirstBlock:
        """Minimise the Lagrangian over (w, b, u); keeps w."""

    def shrink(self, omega: float) -> UpdateInfo:
        """Take the second block on the features (new c and gamma2); return what moved."""

    def scores(self) -> FloatArray:
        """X c, without the intercept."""

    def support(self) -> tuple[np.ndarray, FloatArray]:
        """Indices of the non-zero features and their weights."""

    def adopt(self, previous: WeightBlock) -> None:
        """Start from the features of an earlier fit of the same data."""

    def full(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(w, c, gamma2) on every feature."""


def factorised(system: FloatArray) -> tuple[FloatArray, bool]:
    """The Cholesky factor of a positive definite matrix, for `cho_solve`; its diagonal may change.

    Columns that are constant to the last digits leave it singular after rounding. A trace of a
    ridge then makes up for what rounding took; the certificate tells how far the result is.
    """
    kept, trace = np.diag(system).copy(), 0.0
    while True:
        try:
            return cho_factor(system, lower=True, check_finite=False)
        except LinAlgError:
            if trace > 1e-6:
                raise
            trace = max(100.0 * trace, 1e-15)
            np.fill_diagonal(system, kept * (1.0 + trace))


def bu_block(problem: Problem, mu: Penalties) -> FloatArray:
    """The (b, u) block of the Lagrangian's Hessian."""
    stack = problem.stack
    block = np.empty((1 + stack.n_rows, 1 + stack.n_rows))
    block[0, 0] = mu.hinge * problem.n_samples + mu.slack * float(stack.of_b @ stack.of_b)
    block[0, 1:] = block[1:, 0] = -mu.slack * (stack.of_b @ stack.thresholds)
    block[1:, 1:] = stack.curvature + mu.slack * stack.thresholds.T @ stack.thresholds
    block[1:, 1:] += mu.u * np.eye(stack.n_rows)
    return block


# --------------------------------------------------------------------------------------------------
# Which lazy features may have left zero? Answered without touching them.
#
# A lazy feature j has the multiplier x_j'T with one shared N-vector T, and it stays lazy
# while |x_j'T| <= lambda1. From a reference point T_ref at which all correlations are known,
#
#     |x_j'T| <= |x_j'T_ref| + |x_j| |T - T_ref|,
#
# so j is safe while |T - T_ref| is below its radius (lambda1 - |x_j'T_ref|) / |x_j|. Radii are
# sorted once for each reference; a sweep then looks at the few candidates whose radius was passed.
# Their columns are kept. Where a feature has penalties of its own, x_j'T must stay within [-down,
# up], and the same bound gives its radius. When candidates have cost as much as one pass over X, a
# new reference is cheaper.


class Screen:
    """Finds each inactive feature with x_j'T beyond its penalty, and marks it active."""

    # The bound is tightened by this much so that rounding never hides a crossing.
    safety = 1e-12

    def __init__(
        self,
        design: Design,
        lambda1: float,
        active: np.ndarray,
        factors: PenaltyFactors | None = None,
    ) -> None:
        self.design, self.factors = design, factors or PenaltyFactors()
        self.lambda1 = lambda1
        self.active = active
        self.passes = 0
        self._norms = design.column_norms()
        self._refresh(np.zeros(design.shape[0]), np.zeros(design.shape[1]))

    def crossing(self, T: FloatArray) -> np.ndarray:
        """Indices of inactive features whose correlation with T exceeds their penalty, sorted."""
        distance = float(np.linalg.norm(T - self._reference)) * (1 + self.safety)
        count = int(np.searchsorted(self._radius, distance))
        new = count - self._columns.shape[1]
        if count >= self._radius.size < self._norms.size or self._too_dear(count, new):
            return self._cross_by_pass(T)
        if count == 0:
            return np.zeros(0, dtype=int)
        self._extend(count, new)
        self._spent += self._columns[:, :count].size
        near = self._order[:count]
        limits = self.factors.at(near, self.lambda1)
        crossed = near[limits.over(self._columns[:, :count].T @ T) > 0]
        crossed = np.sort(crossed[~self.active[crossed]])
        self.active[crossed] = True
        return crossed

    def adopt(self, other: Screen) -> None:
        """Go on from the reference of another screen on the same data, whatever its lambda1."""
        self._refresh(other._reference, other._correlation)

    def _too_dear(self, count: int, new: int) -> bool:
        """Whether looking at so many columns costs more than a pass over all data."""
        n = self.design.shape[0]
        return self._spent + n * (count + 2 * max(new, 0)) > self.design.cost

    def _cross_by_pass(self, T: FloatArray) -> np.ndarray:
        """The same by a pass over all data, which also gives a new reference."""
        correlation = self.design.correlate(T)
        self.passes += 1
        over = self.factors.over(correlation, self.lambda1)
        crossed = np.flatnonzero((over > 0) & ~self.active)
        self.active[crossed] = True
        self._refresh(T.copy(), correlation)
        return crossed

    def _refresh(self, reference: FloatArray, correlation: FloatArray) -> None:
        """From now on measure from this T: how far it may move before each feature can cross."""
        self._reference, self._correlation, self._spent = reference, correlation, 0
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = -self.factors.over(correlation, self.lambda1) / self._norms
        radius[self._norms == 0] = np.inf
        radius[self.active] = np.inf
        kept = min(radius.size, max(512, radius.size // 16))
        nearest = np.argpartition(radius, kept - 1)[:kept] if radius.size else np.zeros(0, int)
        self._order = nearest[np.argsort(radius[nearest])]
        self._radius = radius[self._order]
        self._columns = np.zeros((self.design.shape[0], 0), order="F")

    def _extend(self, count: int, new: int) -> None:
        """Fetch the columns of the nearest features that are not held yet."""
        if new > 0:
            have = self._columns.shape[1]
            more = self.design.columns(self._order[have:count])
            self._columns = np.asfortranarray(np.hstack([self._columns, more]))


# --------------------------------------------------------------------------------------------------
# The feature side of the ADMM for N <= m: exact sweeps that leave most of X untouched.
#
# First block. With tau = v - mu1 (Xw + be), kappa = ridge + mu2 and g0 = mu2 c - gamma2,
#
#     w = ( X'tau + g0 - sum_i rho_i s_i B_i'u_i ) / kappa,
#
# and (tau, b, u) solve a symmetric system of size N + 1 + K, factorised once for each mu:
#
#     [ I/mu1 + X K^-1 X'    E ] [ tau ]   [ v/mu1 - X K^-1 g0 ]      E = [ e, -X K^-1 C' ]
#     [        E'           -D ] [  y  ] = [  r_b, -r_u        ]      y = (b, u),  C = rho_i s_i B_i
#
# Second block, lazy features. A feature outside every rule with c_j = 0 obeys
#
#     gamma2_j <- (1 - alpha) gamma2_j + alpha x_j'tau,      alpha = omega mu2 / kappa,
#
# so gamma2_j = x_j'T with one shared vector T, while that lies within the penalties of the feature.
# Only the active features (those of the rules, the unpenalized ones, and all that were ever
# non-zero) have numbers of their own. A sweep costs O(N^2 + N |active|). A feature that is to be
# kept out has infinite penalties, and stays lazy for ever.


class LazyFeatures:
    """Weights w, their sparse copy c and multipliers gamma2, on the active features alone."""

    def __init__(self, problem: Problem, mu: Penalties) -> None:
        self.problem = problem
        self.design = problem.design
        self.n_rule_features = problem.stack.features.size
        own = np.setdiff1d(problem.penalty_factors.unpenalized, problem.stack.features)
        self.active = np.r_[problem.stack.features, own]
        self.c = np.zeros(self.active.size)
        self.gamma2 = np.zeros(self.active.size)
        self.T = np.zeros(problem.n_samples)
        self._is_active = np.zeros(problem.n_features, dtype=bool)
        self._is_active[self.active] = True
        self._store = self.design.columns(self.active)
        self._XT, self._GT = np.zeros(self.active.size), np.zeros(problem.n_samples)
        self._screen = Screen(
            self.design, problem.lambda1, self._is_active, problem.penalty_factors
        )
        self.set_penalties(mu)

    @property
    def passes(self) -> int:
        """How often all of X was read; the Gram matrix and the column norms come on top, once."""
        return self._screen.passes

    @property
    def X(self) -> FloatArray:
        """Columns of the active features."""
        return self._store[:, : self.active.size]

    def set_penalties(self, mu: Penalties) -> None:
        """Take other penalties: factorise the system of the first block again."""
        problem, stack, G = self.problem, self.problem.stack, self.design.gram()
        self.mu = mu
        self.kappa_off = problem.ridge_off + mu.w
        self._kappa_rules = problem.ridge_rules + mu.w
        self._look_up()
        H = G / self.kappa_off
        X_rules = self.X[:, : self.n_rule_features]
        if problem.scope == "typical" and self.n_rule_features:
            H += (X_rules * (1 / self._kappa_rules - 1 / self.kappa_off)) @ X_rules.T
        H[np.diag_indices_from(H)] += 1 / mu.hinge
        self._factor = factorised(H)
        P = (stack.coupling / self._kappa_rules) @ X_rules.T
        self._E = np.column_stack([np.ones(problem.n_samples), -P.T])
        self._AE = cho_solve(self._factor, self._E, check_finite=False)
        D = bu_block(problem, mu)
        D[0, 0] -= mu.hinge * problem.n_samples  # tau carries this part
        D[1:, 1:] -= (stack.coupling / self._kappa_rules) @ stack.coupling.T
        self._schur = lu_factor(D + self._E.T @ self._AE, check_finite=False)

    def solve(self, v: FloatArray, r_b: float, r_u: FloatArray) -> FirstBlock:
        """Minimise the Lagrangian over (w, b, u); keeps w on the active features."""
        stack, rules = self.problem.stack, slice(0, self.n_rule_features)
        g0 = self.mu.w * self.c - self.gamma2
        Xg = self.X @ (g0 / self.kappa + self._XT / self.kappa_off) - self._GT / self.kappa_off
        r_u = r_u - stack.coupling @ (g0[rules] / self.kappa[rules])
        r1 = v / self.mu.hinge - Xg
        At = cho_solve(self._factor, r1, check_finite=False)
        y = lu_solve(self._schur, self._E.T @ At - np.r_[r_b, -r_u], check_finite=False)
        tau, b, u = At - self._AE @ y, float(y[0]), y[1:]
        self._tau, self._Xtau = tau, self.X.T @ tau
        gradient = self._Xtau + g0
        gradient[rules] -= stack.coupling.T @ u
        self.w = gradient / self.kappa
        return FirstBlock(f=(v - tau) / self.mu.hinge, b=b, u=u)

    def shrink(self, omega: float) -> UpdateInfo:
        """Take the second block on the features (new c and gamma2); return what moved."""
        before = self.c
        self.c, self.gamma2 = soft_threshold(
            omega * self.w + (1 - omega) * self.c, self.gamma2, self.mu.w, self._limits
        )
        alpha = omega * self.mu.w / self.kappa_off
        entering = self._screen.crossing(self.T + alpha * (self._tau - self.T))
        if entering.size:
            before = np.r_[before, np.zeros(entering.size)]
            self._activate(entering, omega)
        primal = self._advance_lazy(alpha)
        signs, old = np.sign(self.c), np.sign(before)
        return UpdateInfo(
            entered=self.active[(old == 0) & (signs != 0)],
            left=self.active[(old != 0) & (signs == 0)],
            flipped=int(np.sum(old * signs < 0)),
            primal=primal,
            change=float(np.linalg.norm(self.c - before)),
            norm=float(np.linalg.norm(self.c)),
            multiplier=self._multiplier_norm(),
        )

    def scores(self) -> FloatArray:
        """X c, without the intercept."""
        kept = np.flatnonzero(self.c)
        return self.X[:, kept] @ self.c[kept] if kept.size < self.c.size // 2 else self.X @ self.c

    def support(self) -> tuple[np.ndarray, FloatArray]:
        """Sorted indices of the non-zero features and their weights."""
        kept = np.flatnonzero(self.c)
        order = kept[np.argsort(self.active[kept])]
        return self.active[order], self.c[order]

    def adopt(self, previous: object) -> None:
        """Start from the features of an earlier fit of the same data."""
        if not isinstance(previous, LazyFeatures):
            return
        self.T = previous.T
        known = np.flatnonzero(~self._is_active[previous.active])
        columns = previous.X[:, known]
        self._append(columns)
        self.active = np.r_[self.active, previous.active[known]]
        self._is_active[self.active] = True
        self._look_up()
        self._XT, self._GT = self.X.T @ self.T, self.design.gram() @ self.T
        self.c, self.gamma2 = np.zeros(self.active.size), self._XT.copy()
        _, mine, theirs = np.intersect1d(self.active, previous.active, return_indices=True)
        self.c[mine], self.gamma2[mine] = previous.c[theirs], previous.gamma2[theirs]
        self._screen.adopt(previous._screen)

    def full(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(w, c, gamma2) on every feature: costs passes over X, for tests and inspection."""
        gamma2 = self.design.correlate(self.T)
        w = self.design.correlate(self._tau - self._T_before) / self.kappa_off
        c = np.zeros(self.problem.n_features)
        w[self.active], c[self.active], gamma2[self.active] = self.w, self.c, self.gamma2
        return w, c, gamma2

    def _advance_lazy(self, alpha: float) -> float:
        """Move T, and with it every lazy multiplier; returns |w - c| over all features."""
        G, step, X_step = self.design.gram(), self._tau - self.T, self._Xtau - self._XT
        G_step = G @ step
        lazy = max(float(step @ G_step - X_step @ X_step), 0.0) / self.kappa_off**2
        own = self.w - self.c
        self._T_before, self.T = self.T, self.T + alpha * step
        self._GT += alpha * G_step
        self._XT += alpha * X_step
        return float(np.sqrt(lazy + own @ own))

    def _multiplier_norm(self) -> float:
        lazy = max(float(self.T @ self._GT - self._XT @ self._XT), 0.0)
        return float(np.sqrt(lazy + self.gamma2 @ self.gamma2))

    def _activate(self, entering: np.ndarray, omega: float) -> None:
        columns = self.design.columns(entering)
        XT, Xtau = columns.T @ self.T, columns.T @ self._tau
        w = (Xtau - XT) / self.kappa_off
        limits = self.problem.limits(entering)
        c, gamma2 = soft_threshold(omega * w, XT, self.mu.w, limits)
        self._append(columns)
        self.active = np.r_[self.active, entering]
        self.w, self.c = np.r_[self.w, w], np.r_[self.c, c]
        self.gamma2 = np.r_[self.gamma2, gamma2]
        self._XT, self._Xtau = np.r_[self._XT, XT], np.r_[self._Xtau, Xtau]
        self._look_up()

    def _append(self, columns: FloatArray) -> None:
        """Add columns to the store, which doubles when it is full."""
        have, more = self.active.size, columns.shape[1]
        if have + more > self._store.shape[1]:
            capacity = max(2 * self._store.shape[1], have + more, 64)
            grown = np.empty((self._store.shape[0], capacity), order="F")
            grown[:, :have] = self._store[:, :have]
            self._store = grown
        self._store[:, have : have + more] = columns

    def _look_up(self) -> None:
        """Ridge and penalties of the active features."""
        self.kappa = np.full(self.active.size, self.kappa_off)
        self.kappa[: self.n_rule_features] = self._kappa_rules
        self._limits = self.problem.limits(self.active)


# --------------------------------------------------------------------------------------------------
# The feature side of the ADMM with a number for every feature: for m < N, or both large.
#
# First block, in the unknowns (w, b, u), with K = diag(ridge + mu2) and C = rho_i s_i B_i:
#
#     [ K + mu1 X'X      mu1 X'e          C'       ] [ w ]   [ X'v + g0  ]
#     [ mu1 e'X          mu1 N + mu3 e'e -mu3 (ed)'] [ b ] = [ e'v - r_b ]
#     [ C               -mu3 ed           D_u      ] [ u ]   [ r_u       ]
#
# `DirectFeatures` forms and factorises it (m small); `KrylovFeatures` applies it, two passes over X
# for each step of conjugate gradients preconditioned by its diagonal, as the paper does.


class ExplicitFeatures:
    """Weights w, their sparse copy c and multipliers gamma2, one for every feature."""

    def __init__(self, problem: Problem, mu: Penalties) -> None:
        self.problem, self.design = problem, problem.design
        self.ridge = problem.ridge(np.arange(problem.n_features))
        self.limits = problem.limits(np.arange(problem.n_features))
        self.w = np.zeros(problem.n_features)
        self.c = np.zeros(problem.n_features)
        self.gamma2 = np.zeros(problem.n_features)
        self.passes = 0
        self._unknowns = np.zeros(problem.n_features + 1 + problem.stack.n_rows)
        self.set_penalties(mu)

    def set_penalties(self, mu: Penalties) -> None:
        """Take other penalties."""
        self.mu = mu
        self._bu_block = bu_block(self.problem, mu)

    def solve(self, v: FloatArray, r_b: float, r_u: FloatArray) -> FirstBlock:
        """Minimise the Lagrangian over (w, b, u); keeps w."""
        m = self.problem.n_features
        g0 = self.mu.w * self.c - self.gamma2
        rhs = np.r_[self.design.correlate(v) + g0, v.sum() - r_b, r_u]
        self._unknowns = self._solve_system(rhs)
        self.w, b, u = self._unknowns[:m], float(self._unknowns[m]), self._unknowns[m + 1 :]
        self.passes += 2
        return FirstBlock(f=self.design.dot(self.w) + b, b=b, u=u)

    def shrink(self, omega: float) -> UpdateInfo:
        """Take the second block on the features (new c and gamma2); return what moved."""
        old = self.c
        self.c, self.gamma2 = soft_threshold(
            omega * self.w + (1 - omega) * old, self.gamma2, self.mu.w, self.limits
        )
        return UpdateInfo(
            entered=np.flatnonzero((old == 0) & (self.c != 0)),
            left=np.flatnonzero((old != 0) & (self.c == 0)),
            flipped=int(np.sum(old * self.c < 0)),
            primal=float(np.linalg.norm(self.w - self.c)),
            change=float(np.linalg.norm(self.c - old)),
            norm=float(np.linalg.norm(self.c)),
            multiplier=float(np.linalg.norm(self.gamma2)),
        )

    def scores(self) -> FloatArray:
        """X c, without the intercept."""
        self.passes += 1
        return self.design.dot(self.c)

    def support(self) -> tuple[np.ndarray, FloatArray]:
        """Indices of the non-zero features and their weights."""
        kept = np.flatnonzero(self.c)
        return kept, self.c[kept]

    def adopt(self, previous: object) -> None:
        """Start from the features of an earlier fit of the same data."""
        if isinstance(previous, ExplicitFeatures):
            self.w, self.c, self.gamma2 = previous.w, previous.c, previous.gamma2

    def full(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(w, c, gamma2) on every feature."""
        return self.w, self.c, self.gamma2

    def _solve_system(self, rhs: FloatArray) -> FloatArray:
        raise NotImplementedError


class DirectFeatures(ExplicitFeatures):
    """m-sized system, formed and factorised for each choice of penalties."""

    def set_penalties(self, mu: Penalties) -> None:
        super().set_penalties(mu)
        stack, m = self.problem.stack, self.problem.n_features
        system = np.zeros((m + 1 + stack.n_rows,) * 2)
        system[:m, :m] = mu.hinge * self._second_moments
        system[:m, :m] += np.diag(self.ridge + mu.w)
        system[m, :m] = system[:m, m] = mu.hinge * self._column_sums
        system[m:, m:] = self._bu_block
        system[m + 1 :, stack.features] = stack.coupling
        system[stack.features, m + 1 :] = stack.coupling.T
        self._factor = factorised(system)

    @cached_property
    def _second_moments(self) -> FloatArray:
        X = self.design.columns(slice(None))
        self._column_sums = X.sum(axis=0)
        return X.T @ X

    def _solve_system(self, rhs: FloatArray) -> FloatArray:
        return cho_solve(self._factor, rhs, check_finite=False)


class KrylovFeatures(ExplicitFeatures):
    """The same system, never formed: conjugate gradients from the last solution."""

    tolerance = 1e-8

    def set_penalties(self, mu: Penalties) -> None:
        super().set_penalties(mu)
        norms = self.design.column_norms()
        diagonal = np.r_[self.ridge + mu.w + mu.hinge * norms**2, np.diag(self._bu_block)]
        size = diagonal.size
        self._system = LinearOperator((size, size), matvec=self._apply, dtype=float)
        self._precondition = LinearOperator((size, size), matvec=lambda x: x / diagonal)

    def _apply(self, x: FloatArray) -> FloatArray:
        m, stack = self.problem.n_features, self.problem.stack
        x = x.ravel()
        w, b, u = x[:m], x[m], x[m + 1 :]
        Xw = self.design.dot(w)
        top = (self.ridge + self.mu.w) * w + self.mu.hinge * self.design.correlate(Xw + b)
        top[stack.features] += stack.coupling.T @ u
        block = self._bu_block @ x[m:]
        block[0] += self.mu.hinge * Xw.sum()
        block[1:] += stack.coupling @ w[stack.features]
        self.passes += 2
        return np.r_[top, block]

    def _solve_system(self, rhs: FloatArray) -> FloatArray:
        start = self._unknowns
        solution, _ = cg(
            self._system, rhs, x0=start, rtol=self.tolerance, maxiter=500, M=self._precondition
        )
        return solution
