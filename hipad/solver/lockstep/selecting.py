"""Phase 1 of many problems, at one lambda1 after another, without looking at all features.

    1. roughly, with the features that were nearly pulled in at the value before
    2. to the end, with those that are nearly pulled in now: the problems go on where they stood
    3. where features were overlooked, the problems that want them go to the end with them

Before 2, and after each time, the pull on all features is looked at: one pass over the data.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.active.activeset import Guess
from hipad.solver.lockstep.lockstep import Lockstep
from hipad.solver.lockstep.stage import Stage
from hipad.solver.problem import Problem

EXACT = 1e-9
ROUGH = 0.03  # gap at which it shows which features may be in,
NEAR = 0.9  # namely those pulled by this share of lambda1
MOST_ROUNDS = 3


class Selector:
    """All problems of a fleet; a tolerance for each, and by what factor a pull may exceed lambda1
    before a feature counts as overlooked.

    `needed` is the lambda1 that would hold each feature out where the problems stand.
    """

    def __init__(self, fleet: Lockstep, tolerance: FloatArray, beyond: FloatArray) -> None:
        self.fleet, self.tolerance, self.beyond = fleet, tolerance, beyond
        self.needed = 2.0 * self._needed()  # prices begin in the middle

    def only(self, problems: np.ndarray) -> None:
        """Go on with some of the problems."""
        self.fleet.only(problems)
        self.tolerance, self.beyond = self.tolerance[problems], self.beyond[problems]
        self.needed = self.needed[:, problems]

    def select(self, lambda1: float) -> tuple[Stage, FloatArray]:
        """The features that were looked at last, and their weights, one column a problem."""
        fleet = self.fleet
        fleet.solve(fleet.stage(self._near(lambda1), lambda1), ROUGH)
        self.needed = self._needed()
        stage = fleet.stage(self._near(lambda1), lambda1)
        w = fleet.solve(stage, self.tolerance, going_on=True)
        for _ in range(MOST_ROUNDS):
            self.needed = self._needed()
            over = self.needed > self.beyond * lambda1
            over[stage.names] = False
            wanting = over.any(axis=0)
            if not wanting.any():
                break
            stage = fleet.stage(np.union1d(stage.names, np.flatnonzero(over.any(axis=1))), lambda1)
            w = fleet.solve(stage, np.where(wanting, self.tolerance, np.inf))
        return stage, w

    def _near(self, lambda1: float) -> np.ndarray:
        """Features that are nearly pulled in, and those that may be in whatever pulls them."""
        near = np.flatnonzero(self.needed.max(axis=1) > NEAR * lambda1)
        return np.union1d(near, self.fleet.problem.always_in).astype(int)

    def _needed(self) -> FloatArray:
        """The lambda1 that would hold each feature out, one column a problem."""
        return self.fleet.problem.prices.needed(self.fleet.pull_on_all())


def near_optimum(problem: Problem) -> Guess:
    """Next to the optimum of a single problem: which features are in, and which rows are where."""
    fleet = Lockstep(problem, problem.p[:, None], np.array([problem.lambda2]))
    selector = Selector(fleet, np.array([EXACT]), np.array([1.0 + EXACT]))
    stage, w = selector.select(problem.lambda1)
    kept = np.flatnonzero(w[:, 0])
    return Guess(stage.names[kept], w[kept, 0], *fleet.guess(0))
