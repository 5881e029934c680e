"""Phase 2: predictor-corrector interior point for the SVM and KSVM-P on a few features.

The problem is a soft-margin SVM in lifted variables x = (w, b, u): each rule is one more row.

    minimise    1/2 x'Qx + lambda1 |w|_1 + C'xi
    subject to  A x + xi >= 1,   xi >= 0,   u >= 0
    rows of A:  [ y_j x_j', y_j, 0 ]   price p_j          (samples)
                [ 0',      e_i, -d_i'] price sigma_i      (rules)
    Q:          diag(ridge) on w,  coupling C' between w and u,  curvature on u

Dual:  maximise  e'alpha - 1/2 x'Qx   subject to   0 <= alpha <= C,   Qx - A'alpha = (0, 0, pi),
pi >= 0. A weight that pays for its sign is split, w = w+ - w-, both >= 0, and its part of Qx -
A'alpha may lie within its prices (signed_parts.py).

Each iteration (Mehrotra):

    1. factorise the Newton system (newton.py), once
    2. predictor: aim at complementarity zero, and see how far the step goes
    3. centring parameter sigma = (mu_affine / mu)^3
    4. corrector: aim at sigma mu, with the second-order term of the predictor
    5. one common step length, 0.995 of the way to the boundary

Far from the path the second-order term can go in circles: where complementarity did not fall, the
next step is a centred one without it.

t = C - alpha is an iterate of its own: recomputing it cancels to zero near the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.interior.elimination import newton_system, other_form
from hipad.solver.interior.lifted import Values
from hipad.solver.interior.newton import Newton, Rhs, Scaling, largest
from hipad.solver.interior.primal_dual import Iterate, Pair
from hipad.solver.interior.signed_parts import SignedParts
from hipad.solver.problem import Problem

STEP_FACTOR = 0.995
LONGEST = 1.0 / STEP_FACTOR
SHORTEST = 1e-12  # a step of less leads nowhere
WARM = 0.1  # how far inside a warm start begins
RESIDUALS = 1e-10
STALLED = 0.9  # of the least complementarity so far: where it is not below, the corrector failed,
CENTRED = 0.3  # and a plain step aims at this part of it, for all products alike
SMALLEST_PRICE = 1e-14  # weights of samples sum to one


@dataclass(frozen=True)
class IpmStep:
    """Progress of one iteration, relative to the size of the problem."""

    iteration: int
    complementarity: float
    primal_residual: float
    dual_residual: float
    step: float


class InteriorPoint:
    """Solves the problem restricted to `features`; iterate over `steps()` or call `run()`.

    None of the features may be one that is kept out.
    """

    def __init__(
        self,
        problem: Problem,
        features: np.ndarray,
        *,
        lambda1: float = 0.0,
        tolerance: float = 1e-10,
        max_iterations: int = 60,
        warm: Values | None = None,
    ) -> None:
        self.problem, self.features = problem, features
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.newton = newton_system(problem, features)
        self.limits = problem.limits(features, lambda1)
        self.parts = SignedParts(self.limits)
        # A price of zero leaves its row no interior; one of this size moves no objective.
        self.prices = np.maximum(self.newton.prices, SMALLEST_PRICE)
        self.point = self._start() if warm is None else self._warm_start(warm)
        self.converged, self.iterations = False, 0
        self._least = np.inf

    @property
    def limited(self) -> bool:
        """Whether the limit on iterations ended the run."""
        return not self.converged and self.iterations >= self.max_iterations

    def tighten(self, tolerance: float) -> None:
        """Let a run that has converged go on to a smaller tolerance."""
        self.tolerance, self.converged = tolerance, False

    def run(self) -> Iterate:
        """Iterate to the tolerance, or as far as it goes."""
        for _ in self.steps():
            pass
        return self.point

    def steps(self) -> Iterator[IpmStep]:
        """One record for each iteration."""
        while self.iterations < self.max_iterations and not self.converged:
            record = self._advance()
            if record is None:
                return
            yield record

    def _advance(self) -> IpmStep | None:
        """One predictor-corrector step; None when rounding leaves no step to take."""
        now = self.point
        residuals, scaling = self.residuals(now), self._scaling(now)
        for newton in self._forms():
            self.newton = newton
            try:
                newton.factorize(scaling)
            except np.linalg.LinAlgError:
                continue
            direction = self._direction(now, residuals, self._targets(now, residuals))
            step = min(1.0, STEP_FACTOR * now.room(direction, LONGEST))
            if np.isfinite(step) and step >= SHORTEST and np.isfinite(direction.b):
                self.point = now.moved(direction, step)
                self._least = min(self._least, now.complementarity)
                self.iterations += 1
                return self._record(step)
        return None

    def _forms(self) -> Iterator[Newton]:
        """The present form of the Newton system, and the other one for when rounding spoils it."""
        yield self.newton
        other = other_form(self.problem, self.features, self.newton)
        if other is not None:
            yield other

    def _targets(self, now: Iterate, residuals: Rhs) -> list[FloatArray]:
        """The change of all products that is aimed at: Mehrotra's, unless that goes in circles."""
        mu = now.complementarity
        if mu > STALLED * self._least:
            return [CENTRED * mu - pair.product for pair in now.pairs]
        affine = self._direction(now, residuals, [-pair.product for pair in now.pairs])
        mu_affine = now.moved(affine, now.room(affine, LONGEST)).complementarity
        centring = min((mu_affine / mu) ** 3, 1.0) * mu
        return [
            centring - pair.product - by.product
            for pair, by in zip(now.pairs, affine.pairs, strict=True)
        ]

    def residuals(self, at: Iterate) -> Rhs:
        """What is missing to feasibility, row by row."""
        (alpha, s), (t, xi), (u, pi) = at.pairs[:3]
        gradient_w, gradient_u = self.newton.gradient(at.w, u, alpha)
        rows = 1.0 - self.newton.rows(at.w, at.b, u) - xi + s
        return Rhs(
            w=-gradient_w,
            parts=self.parts.lacking_prices(gradient_w, at.split),
            b=float(self.newton.labels @ alpha),
            u=pi - gradient_u,
            rows=rows,
            t=self.prices - alpha - t,
            split=self.parts.lacking_weights(at.w, at.split),
        )

    def weights(self) -> FloatArray:
        """The weights, and exactly zero for those whose price holds them there."""
        return self.parts.weights(self.point.w, self.point.split, self.newton.ridge)

    def _record(self, step: float) -> IpmStep:
        r, mu = self.residuals(self.point), self.point.complementarity
        primal = largest(r.rows, r.split)
        free = r.w[self.limits.free]
        dual = largest(free, *r.parts, r.u, r.t, r.b) / self._dual_scale()
        gap = mu * sum(pair.x.size for pair in self.point.pairs) / self.scale
        residuals = max(RESIDUALS, 1e-2 * self.tolerance)
        self.converged = gap < self.tolerance and max(primal, dual) < residuals
        return IpmStep(self.iterations, gap, primal, dual, step)

    @property
    def scale(self) -> float:
        """Size of the objective, for relative gaps; with one class alone its minimum is zero."""
        return max(float(self.point.alpha.sum()), 1e-8 * float(self.prices.sum()))

    def _dual_scale(self) -> float:
        """The prices, unless stiff rules make terms so large that their rounding is more."""
        terms = largest(self.newton.ridge * self.point.w, self.newton.curvature @ self.point.u)
        return max(float(self.prices.max()), 1e-4 * terms)

    def _start(self) -> Iterate:
        """Well inside: every row slack by one, every price in the middle."""
        k, half = self.features.size, 0.5 * self.prices
        ones = np.ones(self.prices.size)
        level = float(np.mean(half)) if half.size else 1.0
        u = np.full(self.problem.stack.n_rows, self._u_start())
        pairs = Pair(half, ones), Pair(half, ones), Pair(u, level / u)
        split = self.parts.start(1.0 / max(np.sqrt(k), 1.0), level)
        return Iterate(np.zeros(k), 0.0, (*pairs, *split))

    def _warm_start(self, near: Values) -> Iterate:
        """Near a known point, but well inside: prices, slacks and multipliers keep some room."""
        level = WARM * float(np.mean(self.prices))
        alpha = np.clip(near.alpha, WARM * self.prices, (1 - WARM) * self.prices)
        u = np.maximum(near.u, WARM * self._u_start())
        lack = 1.0 - self.newton.rows(near.w, near.b, u)
        short, over = np.maximum(lack, 0.0) + WARM, np.maximum(-lack, 0.0) + WARM
        pairs = Pair(alpha, over), Pair(self.prices - alpha, short), Pair(u, level / u)
        split = self.parts.near(near.w, WARM / max(np.sqrt(near.w.size), 1.0), level)
        return Iterate(near.w, near.b, (*pairs, *split))

    def _u_start(self) -> float:
        """A multiplier with which the rules' slack is about one."""
        d = np.abs(self.problem.stack.d)
        return float(1.0 / max(np.median(d), 1e-3)) if d.size else 1.0

    def _scaling(self, at: Iterate) -> Scaling:
        (alpha, s), (t, xi), (u, pi) = at.pairs[:3]
        return Scaling(
            rows=s / alpha + xi / t,
            u=pi / u,
            split=self.parts.ratios(at.split),
            sides=self.parts.sides,
        )

    def _direction(self, at: Iterate, r: Rhs, targets: list[FloatArray]) -> Iterate:
        """Newton step for the given residuals and complementarity targets."""
        (alpha, s), (t, xi), (u, pi), *split = at.pairs
        goal_alpha, goal_t, goal_u, *goal_split = targets
        rows = r.rows + goal_alpha / alpha - (goal_t - xi * r.t) / t
        dw, db, du, dalpha, parts = self.newton.solve(
            r,
            rows=rows,
            u=r.u + goal_u / u,
            parts=[
                lack + goal / pair.x
                for lack, goal, pair in zip(r.parts, goal_split, split, strict=True)
            ],
        )
        dt = r.t - dalpha
        pairs = [
            Pair(dalpha, (goal_alpha - s * dalpha) / alpha),
            Pair(dt, (goal_t - xi * dt) / t),
            Pair(du, (goal_u - pi * du) / u),
        ]
        for pair, goal, dx in zip(split, goal_split, parts, strict=True):
            pairs.append(Pair(dx, (goal - pair.z * dx) / pair.x))
        return Iterate(dw, db, tuple(pairs))
