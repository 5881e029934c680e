"""One path from large to small lambda1, followed by all folds and all lambda2 at once.

For each value of lambda1 every fold is fitted as HIPAD fits: the features of the elastic net, then
the SVM on what it kept. The fits are those of the lockstep solver: near enough to the optimum to
judge a value by. The model on all rows goes along, last: its features are counted, so it is exact,
but nobody asks for its scores, so it has no phase 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.lockstep.lockstep import Lockstep
from hipad.solver.lockstep.selecting import EXACT, Selector
from hipad.solver.lockstep.stage import Stage
from hipad.solver.problem import Problem
from hipad.solver.threads import single_thread

TOLERANCE = 1e-4  # of the folds: enough to judge by
BEYOND = 1.02  # times lambda1: a fold that is pulled by less has not overlooked a feature


@dataclass(frozen=True)
class Fits:
    """All models at one lambda1: scores of all rows without intercept, one column a model.

    The last scores are those of phase 1.
    """

    lambda1: float
    scores: FloatArray
    b: FloatArray
    sizes: np.ndarray
    named: FloatArray  # weights of the features that rules name


class Follower:
    """Models on some rows each, with a lambda2 each, at falling values of lambda1."""

    def __init__(
        self,
        problem: Problem,
        rows: Sequence[np.ndarray],
        lambda2: FloatArray,
        polish: bool,
        units: FloatArray | None = None,
    ) -> None:
        self.problem, self.polish = problem, polish
        prices = np.zeros((problem.n_samples, len(rows)))
        for k, own in enumerate(rows):
            prices[own, k] = problem.p[own] / problem.p[own].sum()
        self.fleet = Lockstep(problem, prices, lambda2, units)
        beyond = np.r_[np.full(len(rows) - 1, BEYOND), 1.0 + EXACT]
        self.selector = Selector(self.fleet, self._tolerances(EXACT), beyond)
        self._kept = [np.full(1, -1)] * len(rows)  # features of each model, and
        self._models: list[tuple[FloatArray, float]] = []  # what phase 2 made of them

    def expected_size(self, lambda1: float) -> int:
        """About how many features the model on all rows will have, by what pulls them now."""
        return int(np.count_nonzero(self.selector.needed[:, -1] > lambda1))

    def fit(self, lambda1: float) -> Fits:
        """The models at one value."""
        with single_thread():
            return self._fit(lambda1)

    def _fit(self, lambda1: float) -> Fits:
        fleet, named = self.fleet, self.problem.stack.features
        stage, w = self.selector.select(lambda1)
        kept = np.flatnonzero(w.any(axis=1) | np.isin(stage.names, named))
        smooth, w = fleet.stage(stage.names[kept], 0.0), w[kept]
        sizes, b = np.count_nonzero(w, axis=0), fleet.b
        if self.polish:
            w, b = self._polished(replace(smooth, fixed=w != 0))
        of_named = np.zeros((named.size, b.size))  # those that do not matter are in no stage
        of_named[np.isin(named, smooth.names)] = w[np.isin(smooth.names, named)]
        return Fits(lambda1, smooth.design.dot(w), b, sizes, of_named)

    def _tolerances(self, of_the_last: float) -> FloatArray:
        return np.r_[np.full(self.fleet.b.size - 1, TOLERANCE), of_the_last]

    def _polished(self, stage: Stage) -> tuple[FloatArray, FloatArray]:
        """Phase 2: without lambda1, on the features kept; the path goes on from phase 1.

        A model that keeps the features of the value before is what it was: it does not ask for
        lambda1.
        """
        assert stage.fixed is not None
        fleet, kept = self.fleet, [stage.names[fixed] for fixed in stage.fixed.T]
        same = np.array([np.array_equal(*both) for both in zip(kept, self._kept, strict=True)])
        alpha, u = fleet.alpha, fleet.u
        w = fleet.solve(stage, np.where(same, np.inf, self._tolerances(np.inf)))
        fleet.alpha, fleet.u = alpha, u
        for k in np.flatnonzero(same):
            w[stage.fixed[:, k], k], fleet.b[k] = self._models[k]
        self._kept = kept
        self._models = [(w[fixed, k], fleet.b[k]) for k, fixed in enumerate(stage.fixed.T)]
        return w, fleet.b.copy()
