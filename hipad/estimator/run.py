"""A fit that can be watched: from data, compiled rules and settings to a model in user's units.

1. lambda1 or lambda2 "auto": follow the paths, one record (phase 0) for each pair of values tried
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
from hipad.estimator.choosing.choice import AutoChoice, PathPoint
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.empty import explained
from hipad.estimator.parameters import Plan
from hipad.estimator.training import TrainingData
from hipad.rules import Knobs, ScaledRule
from hipad.solver import Hipad, Problem, Progress, Settings, Solution
from hipad.solver.watched import Watched

Classifier = TypeVar("Classifier")

CHOOSING = "stopped while lambda1 was being chosen: fitted at the best value so far"


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
    lambda2: float
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
        self.hipad: Hipad | None = None
        self._warm, self._beside = warm[0] if warm else None, tuple(warm[1:])
        self.posing = Posing(data, plan)
        self.choice = AutoChoice(self.posing)
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
            lambda2=problem.lambda2,
            knobs=self.posing.knobs,
            path=self.choice.path,
            calibration=scale,
            held_out=self._held_out(),
        )

    @property
    def path(self) -> tuple[PathPoint, ...]:
        """The values tried so far."""
        return self.choice.path

    def _held_out(self) -> FloatArray | None:
        """Out-of-fold decision values at the chosen values."""
        if not self.choice.opinions:
            return None
        taken = self.choice.taken
        return taken.scores - (taken.cut if self.plan.calibrate else 0.0)

    def _calibration(self, scores: FloatArray, b: float) -> Calibration:
        """Scale and intercept of the model as it predicts."""
        plan, data = self.plan, self.data
        if not plan.calibrate:
            return Calibration(1.0, b)
        scale = class_means_at_one(scores, data.y, data.weights, b)
        if self.choice.opinions:
            return replace(scale, offset=scale.offset - self.choice.taken.cut)
        if plan.balanced:
            return scale
        return least_hinge_offset(scores, data.y, data.p, scale.factor)

    def _generate(self) -> Iterator[Progress]:
        if self.plan.is_automatic:
            for step, point in enumerate(self.choice.steps(), start=1):
                yield _path_record(step, point)
        self.hipad = self._fit()
        yield from self.hipad

    def _best_so_far(self) -> Hipad:
        """A fit at the best values so far, for a run that was left while they were chosen."""
        hipad = self._fit()
        if self.history:
            hipad.run()
        hipad.finished = False
        return hipad

    def _fit(self) -> Hipad:
        problem = self.posing.problem(*self.choice.values)
        return Hipad(problem, self._settings(), warm=self._warm, beside=self._beside)

    def _settings(self) -> Settings:
        return replace(self.plan.settings, quick=self._quick)


def _path_record(step: int, point: PathPoint) -> Progress:
    nothing = np.zeros(0, dtype=int)
    return Progress(
        phase=0,
        iteration=step,
        objective=point.loss,
        shared=point.loss,
        support_size=point.support_size,
        entered=nothing,
        left=nothing,
        sign_changes=0,
        primal_residual=float("nan"),
        dual_residual=float("nan"),
        rule_slacks=np.zeros(0),
        seconds=0.0,
    )
