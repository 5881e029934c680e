"""Many elastic-net SVMs side by side, as accurate as a choice between them needs.

The problems share data and rules, and differ in the rows that they may see and in lambda2. The
dual of each is a smooth function of few variables, one for each row and each multiplier u:

    v = Z'alpha - C'u,    w = shrink(v, prices) / ridge          the weights follow
    margins = [ Z w + y b ; e b - d'u ],   margins + xi - s = 1,   alpha + t = prices

    alpha s -> 0,   t xi -> 0,   u pi -> 0                       predictor-corrector, as in ipm.py

The second derivative jumps where a feature enters or leaves; each step takes that of where it
stands (a semismooth Newton method). So w needs no barrier of its own, and a step costs two products
with the data, for all problems at once, and one factorisation for each (systems.py).

Products go to zero in proportion to the price of their row. So two equal rows go exactly the way
of one row that counts twice, and no accuracy is needed to make a choice the same for both.

Phase 2 is the same with the features fixed and without lambda1.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.lockstep.signed_columns import SignedColumns
from hipad.solver.lockstep.stage import Stage
from hipad.solver.lockstep.standing import Lack, Products, Standing
from hipad.solver.lockstep.systems import Systems
from hipad.solver.prices import SignPrices
from hipad.solver.problem import Problem

STEP_FACTOR = 0.99
ROOM = 0.1  # a warm start keeps this share of its room
MOST_STEPS = 40
LACK = 10.0  # tolerances: how much of a margin may be missing,
LEAST_LACK = 1e-6  # but no less
ROUNDING = 1e-4  # of the tolerance
SCALINGS = 4  # Newton steps towards the best multiple of a warm start


class Lockstep:
    """All problems; `problem` holds the rows and the rules of all.

    `prices` has one column for each problem, zero for the rows that it may not see. `units`, one
    column a problem too, are the deviations of the features in the rows that it sees: where columns
    are standardised, a weight is penalised in units of what the problem knows.
    """

    _at: Standing  # where the last steps ended

    def __init__(
        self,
        problem: Problem,
        prices: FloatArray,
        lambda2: FloatArray,
        units: FloatArray | None = None,
    ) -> None:
        stack, count = problem.stack, prices.shape[1]
        self.problem, self.lambda2, self.units = problem, lambda2, units
        self.seen = np.vstack([prices > 0, np.ones((stack.n_rules, count), dtype=bool)])
        self.prices = np.vstack([prices, np.repeat(stack.sigma[:, None], count, axis=1)])
        self.labels = np.r_[problem.y, stack.of_b]
        self.alpha, self.b = 0.5 * self.prices, np.zeros(count)
        self.u = np.full((stack.n_rows, count), self._first_u())
        self.columns = SignedColumns(problem.design, problem.y)
        self.systems = Systems(problem, self.seen)
        self.steps = 0

    @property
    def shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each product of a place counts: the price of its row."""
        of_rules = self.prices[self.problem.n_samples + self.problem.stack.owner]
        return self.prices, self.prices, of_rules

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self.lambda2, self.b = self.lambda2[problems], self.b[problems]
        self.seen, self.prices = self.seen[:, problems], self.prices[:, problems]
        self.alpha, self.u = self.alpha[:, problems], self.u[:, problems]
        self.units = None if self.units is None else self.units[:, problems]
        self.systems.only(problems)

    def stage(self, names: np.ndarray, lambda1: float) -> Stage:
        """Some features, in the order of their names."""
        problem = self.problem
        base = problem.with_parameters(lambda2=0.0).ridge(names)
        at, of = problem.rule_positions(names)
        C = np.zeros((problem.stack.n_rows, names.size))
        C[:, at] = problem.stack.coupling[:, of]
        everyone = names.size == problem.n_features
        design = problem.design if everyone else problem.design.only(names)
        units = self._units_of(names)
        ridge = base[:, None] + self.lambda2 * units**2
        return Stage(design, self.columns, names, ridge, C, self.limits(names, lambda1))

    def limits(self, names: np.ndarray, lambda1: float) -> SignPrices:
        """Prices of the weights of some features, in the units of each problem."""
        units = self._units_of(names)
        up, down = self.problem.limits(names, lambda1)
        return SignPrices(up[:, None] * units, down[:, None] * units)

    def _units_of(self, names: np.ndarray) -> FloatArray:
        return np.ones((names.size, self.b.size)) if self.units is None else self.units[names]

    def pull_on_all(self) -> FloatArray:
        """How hard each feature is drawn away from zero, in its units; one column a problem."""
        problem, n = self.problem, self.problem.n_samples
        pull = problem.design.correlate(problem.y[:, None] * self.alpha[:n])
        pull[problem.stack.features] -= problem.stack.coupling.T @ self.u
        return pull if self.units is None else pull / self.units

    def solve(
        self, stage: Stage, tolerance: float | FloatArray, *, going_on: bool = False
    ) -> FloatArray:
        """Go to the optimum from where the problems stand; their weights, one column each.

        The tolerance is one for all, or one for each problem; infinite: it stays where it is.
        `going_on`: with other features than before, but else as if it had not been interrupted.
        """
        at, tolerance = self._at if going_on else self._warm(stage), np.asarray(tolerance)
        stuck = np.zeros(self.b.size, dtype=bool)
        for _ in range(MOST_STEPS):
            w, lack = self._look(stage, at)
            left = np.flatnonzero(self._unfinished(at, lack, tolerance) & ~stuck)
            left = self._factorized(stage, at, w, left, stuck)
            if left.size == 0:
                break
            at = self._advance(at, lack)
            self.steps += 1
        self._at, moved = at, np.isfinite(tolerance)
        self.alpha = np.where(moved, np.where(self.seen, at.rows.x, 0.0), self.alpha)
        self.u, self.b = np.where(moved, at.rules.x, self.u), np.where(moved, at.b, self.b)
        return stage.weights(self._pull(stage, self.alpha, self.u))

    def guess(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Multipliers and prices of a problem, on their bound where the other of a pair is more."""
        (alpha, s), (t, xi), (u, pi), _ = self._at
        prices, own = self.prices[:, k], self.seen[:, k]
        low, high = own & (alpha < self.prices * s)[:, k], own & (t < self.prices * xi)[:, k]
        alpha = np.where(low, 0.0, np.where(high, prices, self.alpha[:, k]))
        return np.where(u > pi, u, 0.0)[:, k], alpha

    def _pull(self, stage: Stage, alpha: FloatArray, u: FloatArray) -> FloatArray:
        return self._pull_of_samples(stage, alpha) - stage.C.T @ u

    def _pull_of_samples(self, stage: Stage, alpha: FloatArray) -> FloatArray:
        return stage.design.correlate(self.problem.y[:, None] * alpha[: self.problem.n_samples])

    def _look(self, stage: Stage, at: Standing) -> tuple[FloatArray, Lack]:
        """The weights here, and what is missing to feasibility."""
        stack, n = self.problem.stack, self.problem.n_samples
        (alpha, s), (t, xi), (u, pi), b = at
        alpha = np.where(self.seen, alpha, 0.0)
        w = stage.weights(self._pull(stage, alpha, u))
        margins = self._margins(stage, w, u, b)
        gradient = stage.C @ w + stack.curvature @ u + stack.thresholds.T @ alpha[n:]
        lack = Lack(
            rows=np.where(self.seen, 1.0 - margins - xi + s, 0.0),
            u=pi - gradient,
            b=self.labels @ alpha,
            t=np.where(self.seen, self.prices - alpha - t, 0.0),
        )
        return w, lack

    def _margins(self, stage: Stage, w: FloatArray, u: FloatArray, b: FloatArray) -> FloatArray:
        of_rules = -self.problem.stack.thresholds @ u
        return np.vstack([stage.margins(w), of_rules]) + self.labels[:, None] * b

    def _unfinished(self, at: Standing, lack: Lack, tolerance: FloatArray) -> np.ndarray:
        """Problems whose gap, relative to the objective, or lack of margin is too large.

        Once the gap is next to nothing a step is all rounding, and lets the margins drift away.
        """
        size = np.maximum(np.where(self.seen, at.rows.x, 0.0).sum(axis=0), 1e-8)
        gap = sum(pairs.product.sum(axis=0) for pairs in at.pairs) / size
        lacking = np.abs(lack.rows).max(axis=0) > np.maximum(LACK * tolerance, LEAST_LACK)
        return (gap > tolerance) | (lacking & (gap > ROUNDING * tolerance))

    def _factorized(
        self, stage: Stage, at: Standing, w: FloatArray, left: np.ndarray, stuck: np.ndarray
    ) -> np.ndarray:
        """Prepare the Newton systems; problems that rounding lets go no further are stuck."""
        D = at.rows.z / at.rows.x + at.caps.z / at.caps.x
        solvable = self.systems.factorize(stage, stage.curved(w), D, at.rules.z / at.rules.x, left)
        stuck[np.setdiff1d(left, solvable)] = True
        return solvable

    def _advance(self, at: Standing, lack: Lack) -> Standing:
        """One predictor-corrector step of the problems whose systems are prepared."""
        affine = self._direction(at, lack, [-pairs.product for pairs in at.pairs])
        moved = at.moved(affine, np.minimum(1.0, at.room(affine)))
        mu, mu_affine = self._complementarity(at), self._complementarity(moved)
        centring = np.minimum((mu_affine / mu) ** 3, 1.0) * mu
        targets = [
            centring * share - pairs.product - by.product
            for share, (pairs, by) in zip(self.shares, at.beside(affine), strict=True)
        ]
        direction = self._direction(at, lack, targets)
        return at.moved(direction, np.minimum(1.0, STEP_FACTOR * at.room(direction)))

    def _direction(self, at: Standing, lack: Lack, targets: list[FloatArray]) -> Standing:
        (alpha, s), (t, xi), (u, pi), _ = at
        goal_alpha, goal_t, goal_u = targets
        rows = lack.rows + goal_alpha / alpha - (goal_t - xi * lack.t) / t
        d_alpha, db, du = self.systems.solve(rows, lack.b, lack.u + goal_u / u)
        going = self.systems.going
        moving, dt = going * self.seen, lack.t - d_alpha
        return Standing(
            Products(d_alpha, moving * (goal_alpha - s * d_alpha) / alpha),
            Products(moving * dt, moving * (goal_t - xi * dt) / t),
            Products(du, going * (goal_u - pi * du) / u),
            db,
        )

    def _complementarity(self, at: Standing) -> FloatArray:
        """All products by all shares."""
        products = sum(pairs.product.sum(axis=0) for pairs in at.pairs)
        return products / sum(share.sum(axis=0) for share in self.shares)

    def _warm(self, stage: Stage) -> Standing:
        """The best multiple of where the problems stand, moved well inside its bounds."""
        free = np.where(self.seen, self.prices, 1.0)
        alpha = self.alpha * self._best_multiple(stage)
        alpha = np.where(self.seen, np.clip(alpha, ROOM * free, (1 - ROOM) * free), 1.0)
        u = np.maximum(self.u, ROOM * self._first_u())
        seen = np.where(self.seen, alpha, 0.0)
        lack = 1.0 - self._margins(stage, stage.weights(self._pull(stage, seen, u)), u, self.b)
        short, over = np.maximum(lack, 0.0) + ROOM, np.maximum(-lack, 0.0) + ROOM
        return Standing(
            Products(alpha, np.where(self.seen, over, 0.0)),
            Products(np.where(self.seen, free - alpha, 1.0), np.where(self.seen, short, 0.0)),
            Products(u, ROOM * self.shares[-1] / u),
            self.b,
        )

    def _best_multiple(self, stage: Stage) -> FloatArray:
        """The multiple of the prices at which the dual is largest along them; the rules stay.

        With another lambda1 the same prices give far smaller or larger weights.
        """
        pull, total = self._pull_of_samples(stage, self.alpha), self.alpha.sum(axis=0)
        rest = -(stage.C.T @ self.u)
        multiple = np.ones(total.size)
        for _ in range(SCALINGS):
            w = stage.weights(multiple * pull + rest)
            slope = total - np.sum(pull * w, axis=0)
            bend = np.sum(pull**2 * stage.curved(w), axis=0)
            step = slope / np.where(bend > 0, bend, np.inf)
            multiple = np.clip(multiple + step, 0.1 * multiple, 10 * multiple)
        return multiple

    def _first_u(self) -> float:
        """A multiplier with which the rules' slack is about one."""
        d = np.abs(self.problem.stack.d)
        return float(1.0 / max(np.median(d), 1e-3)) if d.size else 1.0
