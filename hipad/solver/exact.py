"""The elastic-net SVM (with rules) solved to a certificate over every feature.

Working set: solve the problem on a few features with the interior point, as far as its active sets
show; from there go to the optimum over all features (activeset.py). Where that fails, check all
features with one pass over X, add those pulled beyond their price, and repeat with the interior
point alone. At the end the duality gap covers every feature. This is the judge of phase 1, and a
method of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.active.activeset import Guess, Optimum, optimum_from, pull_on_all
from hipad.solver.active.intercept import middle_intercept
from hipad.solver.interior.ipm import InteriorPoint, IpmStep
from hipad.solver.problem import Problem

FIRST_SET = 64
LOOSE = (1e-2, 1e-5)  # by the first the active sets mostly show, by the second nearly always
FINE = 1e-13  # a feature on the brink is told apart by the root of this
SLACK = 1e-9  # pull may exceed lambda1 by this fraction before a feature counts as a violator
BRINK = 1e-9  # a feature that is pulled beyond lambda1 by a smaller fraction is out


@dataclass(frozen=True)
class Round:
    """One round of the working set."""

    features: np.ndarray
    added: np.ndarray
    step: IpmStep


class WorkingSet:
    """Grows a set of features until no other one is pulled into the model.

    After a round, `pull` holds how hard each feature is drawn: at least lambda1 for those kept. It
    is counted so that this holds for features with prices of their own, too.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        start: np.ndarray | None = None,
        tolerance: float = FINE,
        max_iterations: int = 60,
        max_rounds: int = 50,
        max_steps: int | None = None,
    ) -> None:
        self.problem, self.tolerance = problem, tolerance
        self.max_iterations, self.max_rounds = max_iterations, max_rounds
        self.left = max_steps if max_steps is not None else max_iterations * max_rounds
        self.passes, self._accuracy = 0, LOOSE[0]
        chosen = self._first_features() if start is None else start
        allowed = np.setdiff1d(chosen, problem.prices.barred)
        self.features = np.union1d(allowed, problem.always_in).astype(int)
        self.ipm = self._solver()
        self.optimum: Optimum | None = None
        self.complete = False
        self.pull = np.zeros(problem.n_features)

    def steps(self) -> Iterator[Round]:
        """One record for each interior-point iteration, over all rounds."""
        added = self.features
        for _ in range(self.max_rounds):
            for step in self.ipm.steps():
                self.left -= 1
                yield Round(self.features, added, step)
                added = np.zeros(0, dtype=int)
                if self.left <= 0:
                    return
            if self._reach_optimum():
                return
            added = self._violators()
            if added.size:
                self.features = np.union1d(self.features, added)
                self.ipm = self._solver()
            elif self.ipm.tolerance > self.tolerance:
                self._accuracy = next((t for t in LOOSE if t < self.ipm.tolerance), 0.0)
                self.ipm.tighten(max(self._accuracy, self.tolerance))
            else:
                self.complete = True
                return

    @property
    def limited(self) -> bool:
        """Whether a limit ended the run, and neither the tolerance nor rounding did."""
        return not self.complete or (self.optimum is None and self.ipm.limited)

    @property
    def weights(self) -> FloatArray:
        """The weights of `features`, and exactly zero for those that are out."""
        if self.optimum is not None:
            return clear_of_the_brink(self.problem, self.features, self.optimum.w)
        return clear_of_the_brink(self.problem, self.features, self.ipm.weights())

    @property
    def u(self) -> FloatArray:
        """Multipliers of the rules."""
        return np.maximum(self.ipm.point.u if self.optimum is None else self.optimum.u, 0.0)

    @property
    def alpha(self) -> FloatArray:
        """Prices of samples and rules."""
        return self.ipm.point.alpha if self.optimum is None else self.optimum.alpha

    @property
    def b(self) -> float:
        """The intercept; in the middle where several are best."""
        if self.optimum is not None:
            return self.optimum.b
        if not self.complete:
            return self.ipm.point.b
        scores = self.problem.design.columns(self.features) @ self.weights
        return middle_intercept(self.problem, scores, self.u)

    def _reach_optimum(self) -> bool:
        """Whether the active sets of the present iterate lead to the optimum over all features."""
        alpha, u = self.ipm.point.guess()
        w = self.weights
        kept = np.flatnonzero(w)
        found = optimum_from(self.problem, Guess(self.features[kept], w[kept], u, alpha))
        if found is None:
            return False
        self.optimum, self.features, self.complete = found, found.features, True
        self.pull = self._drawn(found.pull)
        return True

    def _first_features(self) -> np.ndarray:
        """Those that the samples pull hardest at w = 0."""
        pull = self._pull(self.problem.p, np.zeros(self.problem.stack.n_rows))
        count = min(FIRST_SET + self.problem.n_samples // 2, pull.size)
        strongest = np.argpartition(-pull, count - 1)[:count]
        return strongest[pull[strongest] > 0]

    def _violators(self) -> np.ndarray:
        """Features outside that are pulled beyond their price; of too many the strongest."""
        point = self.ipm.point
        self.pull = self._pull(point.alpha, point.u)
        pull = self.pull.copy()
        pull[self.features] = -np.inf
        over = np.flatnonzero(pull > self.problem.lambda1 * (1 + SLACK) + 1e-12)
        most = max(self.features.size, FIRST_SET)
        return over if over.size <= most else over[np.argpartition(-pull[over], most)[:most]]

    def _pull(self, alpha: FloatArray, u: FloatArray) -> FloatArray:
        """How hard each feature is drawn at these prices: one pass over the data."""
        self.passes += 1
        return self._drawn(pull_on_all(self.problem, alpha, u))

    def _drawn(self, pull: FloatArray) -> FloatArray:
        """The pull, counted so that lambda1 is what lets any feature in."""
        lambda1 = self.problem.lambda1
        return self.problem.prices.over(pull, lambda1) + lambda1

    def _solver(self) -> InteriorPoint:
        return InteriorPoint(
            self.problem,
            self.features,
            lambda1=self.problem.lambda1,
            tolerance=max(self.tolerance, self._accuracy),
            max_iterations=self.max_iterations,
        )


def clear_of_the_brink(problem: Problem, features: np.ndarray, w: FloatArray) -> FloatArray:
    """Without weights that are too small to tell from zero, so that all solvers agree on them.

    ridge |w| is what a feature is pulled beyond lambda1.
    """
    if problem.lambda1 == 0:
        return w
    return np.where(problem.ridge(features) * np.abs(w) > BRINK * problem.lambda1, w, 0.0)
