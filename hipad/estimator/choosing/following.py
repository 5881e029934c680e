"""Paths from large to small lambda1, followed by all folds and several lambda2 side by side.

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
    """All models at one pair of values: scores of all rows without intercept, one column a model.

    The last scores are those of phase 1.
    """

    lambda1: float
    lambda2: float
    scores: FloatArray
    b: FloatArray
    sizes: np.ndarray
    named: FloatArray  # weights of the features that rules name
    features: np.ndarray  # those that some model keeps
    kept: np.ndarray  # which of them each model keeps


class Follower:
    """Models on some rows each, for several lambda2, at falling values of lambda1.

    `rows` are those of each model, and `units` the scales of features in them; the models of one
    lambda2 lie side by side.
    """

    def __init__(
        self,
        problem: Problem,
        rows: Sequence[np.ndarray],
        ridges: Sequence[float],
        polish: bool,
        units: FloatArray | None = None,
    ) -> None:
        self.problem, self.polish, self.ridges = problem, polish, list(ridges)
        count, times = len(rows), len(self.ridges)
        prices = np.zeros((problem.n_samples, count))
        for k, own in enumerate(rows):
            prices[own, k] = problem.p[own] / problem.p[own].sum()
        lambda2 = np.repeat(np.asarray(self.ridges, dtype=float), count)
        units = None if units is None else np.tile(units, times)
        self.fleet = Lockstep(problem, np.tile(prices, times), lambda2, units)
        self._last = np.tile(np.arange(count) == count - 1, times)
        tolerance = np.where(self._last, EXACT, TOLERANCE)
        self.selector = Selector(self.fleet, tolerance, np.where(self._last, 1.0 + EXACT, BEYOND))
        self._kept = [np.full(1, -1)] * (count * times)  # features of each model, and
        self._models: list[tuple[FloatArray, float]] = []  # what phase 2 made of them

    def expected_size(self, lambda1: float, lambda2: float) -> int:
        """About how many features the model on all rows will have, by what pulls them now."""
        whole = int(np.flatnonzero(self._last & (self.fleet.lambda2 == lambda2))[0])
        return int(np.count_nonzero(self.selector.needed[:, whole] > lambda1))

    def leave(self, lambda2: float) -> None:
        """Follow the path of one lambda2 no further."""
        stay = np.flatnonzero(self.fleet.lambda2 != lambda2)
        self.ridges.remove(lambda2)
        self.selector.only(stay)
        self._last = self._last[stay]
        self._kept = [self._kept[k] for k in stay]
        self._models = [self._models[k] for k in stay] if self._models else []

    def fit(self, lambda1: float) -> list[Fits]:
        """The models at one value, one `Fits` for each lambda2 that is still followed."""
        with single_thread():
            return self._fit(lambda1)

    def _fit(self, lambda1: float) -> list[Fits]:
        fleet, named = self.fleet, self.problem.stack.features
        stage, w = self.selector.select(lambda1)
        kept = np.flatnonzero(w.any(axis=1) | np.isin(stage.names, named))
        smooth, w = fleet.stage(stage.names[kept], 0.0), w[kept]
        sizes, b, in_model = np.count_nonzero(w, axis=0), fleet.b, w != 0
        if self.polish:
            w, b = self._polished(replace(smooth, fixed=w != 0))
        of_named = np.zeros((named.size, b.size))  # those that do not matter are in no stage
        of_named[np.isin(named, smooth.names)] = w[np.isin(smooth.names, named)]
        scores = smooth.design.dot(w)
        at = [np.flatnonzero(fleet.lambda2 == lambda2) for lambda2 in self.ridges]
        found = []
        for lambda2, own in zip(self.ridges, at, strict=True):
            some = in_model[:, own].any(axis=1)
            fits = Fits(
                lambda1=lambda1,
                lambda2=lambda2,
                scores=scores[:, own],
                b=b[own],
                sizes=sizes[own],
                named=of_named[:, own],
                features=smooth.names[some],
                kept=in_model[np.ix_(some, own)],
            )
            found.append(fits)
        return found

    def _polished(self, stage: Stage) -> tuple[FloatArray, FloatArray]:
        """Phase 2: without lambda1, on the features kept; the path goes on from phase 1.

        A model that keeps the features of the value before is what it was: it does not ask for
        lambda1.
        """
        assert stage.fixed is not None
        fleet, kept = self.fleet, [stage.names[fixed] for fixed in stage.fixed.T]
        same = np.array([np.array_equal(*both) for both in zip(kept, self._kept, strict=True)])
        alpha, u = fleet.alpha, fleet.u
        w = fleet.solve(stage, np.where(same | self._last, np.inf, TOLERANCE))
        fleet.alpha, fleet.u = alpha, u
        for k in np.flatnonzero(same):
            w[stage.fixed[:, k], k], fleet.b[k] = self._models[k]
        self._kept = kept
        self._models = [(w[fixed, k], fleet.b[k]) for k, fixed in enumerate(stage.fixed.T)]
        return w, fleet.b.copy()
