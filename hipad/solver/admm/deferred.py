"""The feature side of the ADMM for N <= m: exact sweeps that leave most of X untouched.

First block. With tau = v - mu1 (Xw + be), kappa = ridge + mu2 and g0 = mu2 c - gamma2,

    w = ( X'tau + g0 - sum_i rho_i s_i B_i'u_i ) / kappa,

and (tau, b, u) solve a symmetric system of size N + 1 + K, factorised once for each mu:

    [ I/mu1 + X K^-1 X'    E ] [ tau ]   [ v/mu1 - X K^-1 g0 ]      E = [ e, -X K^-1 C' ]
    [        E'           -D ] [  y  ] = [  r_b, -r_u        ]      y = (b, u),  C = rho_i s_i B_i

Second block, deferred features. A feature outside every rule with c_j = 0 obeys

    gamma2_j <- (1 - alpha) gamma2_j + alpha x_j'tau,      alpha = omega mu2 / kappa,

so gamma2_j = x_j'T with one shared vector T, while that lies within the prices of the feature. Only
the active features (those of the rules, those without a price, and all that were ever non-zero)
have numbers of their own. A sweep costs O(N^2 + N |active|). A feature that is to be kept out has
infinite prices, and stays deferred for ever.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, lu_factor, lu_solve

from hipad.designs.base import FloatArray
from hipad.solver.admm.penalties import FirstBlock, Penalties, Shift, corner_matrix, factorised
from hipad.solver.admm.prox import soft_threshold
from hipad.solver.admm.screening import Screen
from hipad.solver.problem import Problem


class DeferredFeatures:
    """Weights w, their sparse copy c and multipliers gamma2, on the active features alone."""

    def __init__(self, problem: Problem, mu: Penalties) -> None:
        self.problem = problem
        self.design = problem.design
        self.n_rule_features = problem.stack.features.size
        own = np.setdiff1d(problem.prices.free, problem.stack.features)
        self.active = np.r_[problem.stack.features, own]
        self.c = np.zeros(self.active.size)
        self.gamma2 = np.zeros(self.active.size)
        self.T = np.zeros(problem.n_samples)
        self._is_active = np.zeros(problem.n_features, dtype=bool)
        self._is_active[self.active] = True
        self._store = self.design.columns(self.active)
        self._XT, self._GT = np.zeros(self.active.size), np.zeros(problem.n_samples)
        self._screen = Screen(self.design, problem.lambda1, self._is_active, problem.prices)
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
        D = corner_matrix(problem, mu)
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
        pull = self._Xtau + g0
        pull[rules] -= stack.coupling.T @ u
        self.w = pull / self.kappa
        return FirstBlock(f=(v - tau) / self.mu.hinge, b=b, u=u)

    def shrink(self, omega: float) -> Shift:
        """Second block on the features: new c and gamma2; tells what moved."""
        before = self.c
        self.c, self.gamma2 = soft_threshold(
            omega * self.w + (1 - omega) * self.c, self.gamma2, self.mu.w, self._limits
        )
        alpha = omega * self.mu.w / self.kappa_off
        entering = self._screen.crossing(self.T + alpha * (self._tau - self.T))
        if entering.size:
            before = np.r_[before, np.zeros(entering.size)]
            self._activate(entering, omega)
        primal = self._advance_deferred(alpha)
        signs, old = np.sign(self.c), np.sign(before)
        return Shift(
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
        if not isinstance(previous, DeferredFeatures):
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

    def _advance_deferred(self, alpha: float) -> float:
        """Move T, and with it every deferred multiplier; returns |w - c| over all features."""
        G, step, X_step = self.design.gram(), self._tau - self.T, self._Xtau - self._XT
        G_step = G @ step
        deferred = max(float(step @ G_step - X_step @ X_step), 0.0) / self.kappa_off**2
        own = self.w - self.c
        self._T_before, self.T = self.T, self.T + alpha * step
        self._GT += alpha * G_step
        self._XT += alpha * X_step
        return float(np.sqrt(deferred + own @ own))

    def _multiplier_norm(self) -> float:
        deferred = max(float(self.T @ self._GT - self._XT @ self._XT), 0.0)
        return float(np.sqrt(deferred + self.gamma2 @ self.gamma2))

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
            room = max(2 * self._store.shape[1], have + more, 64)
            grown = np.empty((self._store.shape[0], room), order="F")
            grown[:, :have] = self._store[:, :have]
            self._store = grown
        self._store[:, have : have + more] = columns

    def _look_up(self) -> None:
        """Ridge and prices of the active features."""
        self.kappa = np.full(self.active.size, self.kappa_off)
        self.kappa[: self.n_rule_features] = self._kappa_rules
        self._limits = self.problem.limits(self.active)
