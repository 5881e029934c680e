"""The Newton systems of all problems: small ones together, large ones each by itself."""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.lockstep.curvature import Curvature
from hipad.solver.lockstep.stacked import StackedSystems
from hipad.solver.lockstep.stage import Stage
from hipad.solver.lockstep.standing import Direction
from hipad.solver.problem import Problem


class Systems:
    """All problems; `seen` says which rows (samples, then rules) count in each.

    `going` says which problems the last steps move.
    """

    def __init__(self, problem: Problem, seen: np.ndarray) -> None:
        self.problem, n = problem, problem.n_samples
        self._each = [Curvature(problem, np.flatnonzero(column[:n])) for column in seen.T]
        self._begin(seen)

    def _begin(self, seen: np.ndarray) -> None:
        self.seen, self._together = seen, StackedSystems(self.problem, seen)
        self._joined, self._left = False, np.zeros(0, dtype=int)
        self.going = np.zeros(seen.shape[1], dtype=bool)

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self._each = [self._each[k] for k in problems]
        self._begin(self.seen[:, problems])

    def factorize(
        self, stage: Stage, h: FloatArray, D: FloatArray, theta: FloatArray, left: np.ndarray
    ) -> np.ndarray:
        """Prepare the systems of `left`; those among them that can be solved.

        `h` is 1/ridge of the features that are in; as D and theta it has one column a problem.
        """
        self._joined = self._together.suits(int(h.any(axis=1).sum()))
        if self._joined:
            stuck = self._together.factorize(stage, h, D, theta, left)
            solvable = left[~stuck]
            if stuck.any() and solvable.size:
                self._together.factorize(stage, h, D, theta, solvable)
        else:
            solvable = np.array([k for k in left if self._succeeds(stage, h, D, theta, k)], int)
        self._left = solvable
        return solvable

    def solve(self, rows: FloatArray, b: FloatArray, u: FloatArray) -> Direction:
        """Steps of the problems that could be prepared; others, and where rounding wins, stay."""
        step = Direction(np.zeros_like(rows), np.zeros_like(b), np.zeros_like(u))
        if self._joined:
            here = np.where(self.seen, rows, 0.0)[:, self._left].T
            found = self._together.solve(here, b[self._left], u[:, self._left].T)
            for whole, part in zip(step, found, strict=True):
                whole.T[self._left] = part
        else:
            for k in self._left:
                seen = self.seen[:, k]
                step.alpha[seen, k], step.b[k], step.u[:, k] = self._each[k].solve(
                    rows[seen, k], float(b[k]), u[:, k]
                )
        self.going = np.isfinite(step.b) & np.isin(np.arange(b.size), self._left)
        return Direction(*(np.where(self.going, part, 0.0) for part in step))

    def _succeeds(
        self, stage: Stage, h: FloatArray, D: FloatArray, theta: FloatArray, k: int
    ) -> bool:
        try:
            self._each[k].factorize(stage, h[:, k], D[self.seen[:, k], k], theta[:, k])
        except np.linalg.LinAlgError:
            return False
        return True
