"""A fit that can be watched: from data, compiled rules and settings to a model in user's units.

1. lambda1="auto": follow the path, one record (phase 0) for each value tried
2. HIPAD: one record for each sweep (phase 1) and each iteration (phase 2)
3. `model()`: calibrate, map back to the user's units
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.calibration import Calibration, class_means_at_one, least_hinge_offset
from hipad.estimator.choosing.held_out import held_out_scores
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.empty import explained, noise
from hipad.estimator.parameters import Plan
from hipad.estimator.path import (
    Judge,
    PathPoint,
    choose,
    content_folds,
    follow_path,
    lambda_grid,
    usable_folds,
)
from hipad.estimator.training import TrainingData
from hipad.rules import Knobs, ScaledRule
from hipad.solver import Hipad, Problem, Progress, Settings, Solution
from hipad.solver.watched import Watched

Classifier = TypeVar("Classifier")

CLEARLY = 1e6  # times the noise: a lambda1 that no solver takes for zero
CHOOSING = "stopped while lambda1 was being chosen: fitted at the best value so far"
WITHOUT_FOLDS = 0.3  # fraction of lambda1_max, when there are too few patients for folds


@dataclass(frozen=True)
class Model:
    """A fitted model in the user's units, with the optimisation result behind it."""

    features: np.ndarray
    coef: FloatArray
    intercept: float
    solution: Solution
    problem: Problem
    plan: Plan
    told: tuple[ScaledRule, ...]
    lambda1: float
    knobs: list[Knobs]
    path: tuple[PathPoint, ...]
    calibration: Calibration
    held_out: FloatArray | None = None  # out-of-fold decision values, where values were chosen


def count_steps(history: Sequence[Progress]) -> int:
    """Steps of phases 1 and 2, at least one; trying a value of lambda1 is none."""
    return max(sum(record.phase > 0 for record in history), 1)


class FitRun(Watched[Progress], Generic[Classifier]):
    """What `HIPADClassifier.start` returns: the choice of lambda1, then the optimisation.

    The classifier itself stays as it was until `finish()`.
    """

    def __init__(
        self,
        data: TrainingData,
        plan: Plan,
        warm: Sequence[Hipad] = (),
        *,
        quick: bool = False,
        take: Callable[[FitRun[Classifier]], Classifier] | None = None,
    ) -> None:
        self.data, self.plan = data, plan
        self._quick, self._outcome = quick, take
        self.path: list[PathPoint] = []
        self.hipad: Hipad | None = None
        self._warm, self._beside = warm[0] if warm else None, tuple(warm[1:])
        self.posing = Posing(data, plan)
        super().__init__()

    @property
    def finished(self) -> bool:
        """Whether the run went to its end."""
        return self.hipad is not None and self.hipad.finished

    def run(self) -> Model:
        """Go to the end."""
        return self.to_end().model()

    def finish(self) -> Classifier:
        """The classifier with the model so far; its certificate says if that was the end."""
        assert self._outcome is not None  # `start` gives it
        return self._outcome(self)

    def model(self) -> Model:
        """The model so far."""
        hipad = self.hipad or self._best_so_far()
        found = explained(hipad, "" if self.hipad or not self.history else CHOOSING)
        scores = self.data.design.columns(found.features) @ found.w
        scale = self._calibration(scores, found.b)
        coef, intercept = self.data.to_user_units(
            found.features, scale.factor * found.w, scale.offset
        )
        problem = hipad.problem
        return Model(
            features=found.features,
            coef=coef,
            intercept=intercept,
            solution=found,
            problem=problem,
            plan=self.plan,
            told=self.posing.told,
            lambda1=problem.lambda1,
            knobs=self.posing.knobs,
            path=tuple(self.path),
            calibration=scale,
            held_out=self._held_out(problem.lambda1),
        )

    def _held_out(self, lambda1: float) -> FloatArray | None:
        """Out-of-fold decision values at the chosen value."""
        if not self.path or not self.finished:
            return None
        return held_out_scores(self.data, self.plan, lambda1, self.plan.lambda2)

    def _calibration(self, scores: FloatArray, b: float) -> Calibration:
        plan, data = self.plan, self.data
        if not plan.calibrate:
            return Calibration(1.0, b)
        scale = class_means_at_one(scores, data.y, data.weights, b)
        if plan.balanced:
            return scale
        return least_hinge_offset(scores, data.y, data.p, scale.factor)

    def _generate(self) -> Iterator[Progress]:
        lambda1 = self.plan.lambda1
        if isinstance(lambda1, str):
            yield from self._choose_lambda1()
            lambda1 = choose(self.path) if self.path else self._fallback()
        self.hipad = Hipad(
            self._problem(lambda1), self._settings(), warm=self._warm, beside=self._beside
        )
        yield from self.hipad

    def _best_so_far(self) -> Hipad:
        """A fit at the best lambda1 so far, for a run that was left while it was being chosen."""
        lambda1 = self.plan.lambda1
        if isinstance(lambda1, str):
            lambda1 = choose(self.path) if self.path else self._fallback()
        hipad = Hipad(
            self._problem(lambda1), self._settings(), warm=self._warm, beside=self._beside
        )
        if self.history:
            hipad.run()
        hipad.finished = False
        return hipad

    def _choose_lambda1(self) -> Iterator[Progress]:
        held_out = usable_folds(self._folds(), self.data.y)
        if len(held_out) < 2:
            return
        largest = self.posing.largest_lambda1
        if largest <= noise(self.data.design):
            return
        judge = Judge(self.data.design, self.data.y, self.data.weights, self.posing.says())
        grid = lambda_grid(largest, self.posing.first_lambda1(self.plan.lambda2))
        polish = self.plan.settings.method == "hipad"
        points = follow_path(self._problem, grid, held_out, judge, polish)
        for step, point in enumerate(points, start=1):
            self.path.append(point)
            yield _path_record(step, point)

    def _solver(self, lambda1: float) -> Hipad:
        problem, settings = self._problem(lambda1), self._settings()
        return Hipad(problem, settings, warm=self._warm, beside=self._beside)

    def _settings(self) -> Settings:
        return replace(self.plan.settings, quick=self._quick)

    def _folds(self) -> np.ndarray:
        return content_folds(self.data.design, self.data.y, self.data.p)

    def _problem(self, lambda1: float, rows: np.ndarray | None = None) -> Problem:
        return self.posing.problem(lambda1, self.plan.lambda2, rows)

    def _fallback(self) -> float:
        largest, least = self.posing.largest_lambda1, noise(self.data.design)
        return WITHOUT_FOLDS * largest if largest > least else CLEARLY * least


def _path_record(step: int, point: PathPoint) -> Progress:
    nothing = np.zeros(0, dtype=int)
    return Progress(
        phase=0,
        iteration=step,
        objective=point.loss,
        shared=point.loss,
        support_size=round(point.support_size),
        entered=nothing,
        left=nothing,
        sign_changes=0,
        primal_residual=float("nan"),
        dual_residual=float("nan"),
        rule_slacks=np.zeros(0),
        seconds=0.0,
    )
