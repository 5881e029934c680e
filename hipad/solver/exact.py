"""The elastic-net SVM (with rules) solved to a certificate over every feature.

Working set: solve the problem on a few features with the interior point, check all others with one
pass over X, add those whose pull exceeds lambda1, repeat. At the end the duality gap covers every
feature. This is the judge of phase 1, and a method of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.ipm import InteriorPoint, IpmStep
from hipad.solver.problem import Problem

FIRST_SET = 64
FINE = 1e-13  # a feature on the brink is told apart by the root of this
SLACK = 1e-9  # pull may exceed lambda1 by this fraction before a feature counts as a violator


@dataclass(frozen=True)
class Round:
    """One round of the working set."""

    features: np.ndarray
    added: np.ndarray
    step: IpmStep


class WorkingSet:
    """Grows a set of features until no other one is pulled into the model.

    After a round, `pull` holds how hard each feature is drawn: at least lambda1 for those kept.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        start: np.ndarray | None = None,
        tolerance: float = FINE,
        max_iterations: int = 60,
        max_rounds: int = 50,
    ) -> None:
        self.problem, self.tolerance = problem, tolerance
        self.max_iterations, self.max_rounds = max_iterations, max_rounds
        self.passes = 0
        chosen = self._first_features() if start is None else start
        self.features = np.union1d(chosen, problem.stack.features).astype(int)
        self.ipm = self._solver()
        self.complete = False
        self.pull = np.zeros(problem.n_features)

    def steps(self) -> Iterator[Round]:
        """One record for each interior-point iteration, over all rounds."""
        added = self.features
        for _ in range(self.max_rounds):
            for step in self.ipm.steps():
                yield Round(self.features, added, step)
                added = np.zeros(0, dtype=int)
            added = self._violators()
            if added.size == 0:
                self.complete = True
                return
            self.features = np.union1d(self.features, added)
            self.ipm = self._solver()

    @property
    def limited(self) -> bool:
        """Whether a limit ended the run, and neither the tolerance nor rounding did."""
        return not self.complete or self.ipm.limited

    @property
    def weights(self) -> FloatArray:
        """w+ - w-, and exactly zero where the multipliers of both outweigh their weights."""
        if self.problem.lambda1 == 0:
            return self.ipm.point.w
        plus, minus = self.ipm.point.pairs[3:]
        ridge = self.problem.ridge(self.features)
        kept = (ridge * plus.x > plus.z) | (ridge * minus.x > minus.z)
        return np.where(kept, plus.x - minus.x, 0.0)

    def _first_features(self) -> np.ndarray:
        pull = np.abs(self._pull(self.problem.p, np.zeros(self.problem.stack.n_rows)))
        count = min(FIRST_SET + self.problem.n_samples // 2, pull.size)
        strongest = np.argpartition(-pull, count - 1)[:count]
        return strongest[pull[strongest] > 0]

    def _violators(self) -> np.ndarray:
        point, n = self.ipm.point, self.problem.n_samples
        self.pull = np.abs(self._pull(point.alpha[:n], point.u))
        pull = self.pull.copy()
        pull[self.features] = 0.0
        over = np.flatnonzero(pull > self.problem.lambda1 * (1 + SLACK) + 1e-12)
        most = max(self.features.size, FIRST_SET)
        return over if over.size <= most else over[np.argpartition(-pull[over], most)[:most]]

    def _pull(self, alpha: FloatArray, u: FloatArray) -> FloatArray:
        """X'Y alpha - C'u: how hard each feature is drawn away from zero at w = 0."""
        stack = self.problem.stack
        pull = self.problem.design.correlate(self.problem.y * alpha)
        pull[stack.features] -= stack.coupling.T @ u
        self.passes += 1
        return pull

    def _solver(self) -> InteriorPoint:
        return InteriorPoint(
            self.problem,
            self.features,
            lambda1=self.problem.lambda1,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )


def lambda1_max(problem: Problem) -> float:
    """The smallest lambda1 known to give w = 0: the strongest pull when no feature is in.

    The prices come from the problem in (b, u) alone, so the intercept is the best one.
    """
    n, stack = problem.n_samples, problem.stack
    ipm = InteriorPoint(problem, np.zeros(0, dtype=int))
    point = ipm.run()
    pull = problem.design.correlate(problem.y * point.alpha[:n])
    pull[stack.features] -= stack.coupling.T @ np.maximum(point.u, 0.0)
    return float(np.max(np.abs(pull), initial=0.0))
