"""The feature side of the ADMM with a number for every feature: for m < N, or both large.

First block, in the unknowns (w, b, u), with K = diag(ridge + mu2) and C = rho_i s_i B_i:

    [ K + mu1 X'X      mu1 X'e          C'       ] [ w ]   [ X'v + g0  ]
    [ mu1 e'X          mu1 N + mu3 e'e -mu3 (ed)'] [ b ] = [ e'v - r_b ]
    [ C               -mu3 ed           D_u      ] [ u ]   [ r_u       ]

`DirectFeatures` forms and factorises it (m small); `KrylovFeatures` applies it, two passes over X
for each step of conjugate gradients preconditioned by its diagonal, as the paper does.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from hipad.designs.base import FloatArray
from hipad.solver.admm.penalties import FirstBlock, Penalties, Shift, corner_matrix, factorised
from hipad.solver.admm.prox import soft_threshold
from hipad.solver.problem import Problem


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
        self._corner = corner_matrix(self.problem, mu)

    def solve(self, v: FloatArray, r_b: float, r_u: FloatArray) -> FirstBlock:
        """Minimise the Lagrangian over (w, b, u); keeps w."""
        m = self.problem.n_features
        g0 = self.mu.w * self.c - self.gamma2
        rhs = np.r_[self.design.correlate(v) + g0, v.sum() - r_b, r_u]
        self._unknowns = self._solve_system(rhs)
        self.w, b, u = self._unknowns[:m], float(self._unknowns[m]), self._unknowns[m + 1 :]
        self.passes += 2
        return FirstBlock(f=self.design.dot(self.w) + b, b=b, u=u)

    def shrink(self, omega: float) -> Shift:
        """Second block on the features: new c and gamma2; tells what moved."""
        old = self.c
        self.c, self.gamma2 = soft_threshold(
            omega * self.w + (1 - omega) * old, self.gamma2, self.mu.w, self.limits
        )
        return Shift(
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
        system[m:, m:] = self._corner
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
        diagonal = np.r_[self.ridge + mu.w + mu.hinge * norms**2, np.diag(self._corner)]
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
        corner = self._corner @ x[m:]
        corner[0] += self.mu.hinge * Xw.sum()
        corner[1:] += stack.coupling @ w[stack.features]
        self.passes += 2
        return np.r_[top, corner]

    def _solve_system(self, rhs: FloatArray) -> FloatArray:
        start = self._unknowns
        solution, _ = cg(
            self._system, rhs, x0=start, rtol=self.tolerance, maxiter=500, M=self._precondition
        )
        return solution
