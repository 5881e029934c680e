"""A fit that can be watched: from data, compiled rules and settings to a model in user's units.

1. candidates: the fit as it is asked for or, where the trust in rules is learnt, the rules at
   several weights and none (trust/rule_candidates.py)
2. lambda1 or lambda2 "auto": follow the paths of each candidate, one record (phase 0) for each pair
   of values tried; held-out rows say how probable each candidate is
3. HIPAD: one record for each sweep (phase 1) and each iteration (phase 2) of the most probable
   candidate; others are fitted before it, unwatched
4. `model()`: calibrate, map back to the user's units, average
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
from hipad.estimator.trust.mixture import (
    LinearModel,
    Member,
    MemberRecord,
    averaged,
    members_of,
    probabilities,
    shares_of,
)
from hipad.rules import Knobs, ScaledRule
from hipad.solver import Hipad, Problem, Progress, Settings, Solution, Status
from hipad.solver.watched import Watched

Classifier = TypeVar("Classifier")

CHOOSING = "stopped while lambda1 was being chosen: fitted at the best value so far"


@dataclass(frozen=True)
class Model:
    """A fitted model in the user's units, with the optimisation result behind it.

    Where it is an average, problem, solution, knobs and path are those of its most probable member.
    """

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
    members: tuple[MemberRecord, ...] = ()
    held_out: FloatArray | None = None  # out-of-fold decision values, where there are some


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
        self.members = members_of(data, plan)
        super().__init__()

    @property
    def finished(self) -> bool:
        """Whether the run went to its end."""
        return self.hipad is not None and self.hipad.finished

    @property
    def leading(self) -> Member:
        """The most probable candidate so far; the one without rules only where it is more so."""
        return max(self.members[::-1], key=lambda member: member.share)

    @property
    def posing(self) -> Posing:
        """The problems of the leading candidate."""
        return self.leading.posing

    @property
    def choice(self) -> AutoChoice:
        """The automatic choice of the leading candidate."""
        return self.leading.choice

    def run(self) -> Model:
        """Go to the end."""
        return self.to_end().model()

    def finish(self) -> Classifier:
        """The classifier with the model so far; its certificate says if that was the end."""
        assert self._outcome is not None  # `start` gives it
        return self._outcome(self)

    def model(self) -> Model:
        """The model so far."""
        early = self.hipad is None
        hipad = self._best_so_far() if early else self.hipad
        assert hipad is not None
        found = explained(hipad, CHOOSING if early and self.history else "")
        used = [member for member in self.members if member.share > 0]
        parts = [(member.share, self._linear(member)) for member in used]
        mixed = averaged(parts)
        return Model(
            features=mixed.features,
            coef=mixed.coef,
            intercept=mixed.intercept,
            solution=self._with_others(found),
            problem=hipad.problem,
            plan=self.plan,
            told=self.posing.told,
            lambda1=hipad.problem.lambda1,
            lambda2=hipad.problem.lambda2,
            knobs=self.posing.knobs,
            path=self.choice.path,
            members=self._records_of_members(),
            held_out=self._held_out(),
        )

    @property
    def path(self) -> tuple[PathPoint, ...]:
        """The values tried so far by the leading candidate."""
        return self.choice.path

    def _linear(self, member: Member) -> LinearModel:
        """One member in the user's units, as it predicts."""
        assert member.hipad is not None
        found = explained(member.hipad, "")
        scores = self.data.design.columns(found.features) @ found.w
        scale = self._calibration(member, scores, found.b)
        coef, intercept = self.data.to_user_units(
            found.features, scale.factor * found.w, scale.offset
        )
        return LinearModel(found.features, coef, intercept)

    def _with_others(self, found: Solution) -> Solution:
        """The solution of the leading member; its status is no better than the worst of all."""
        others = [m.hipad.solution().certificate for m in self.members if m.hipad and m.share > 0]
        bad = [one for one in others if one.status is not Status.SOLVED]
        if not bad or found.certificate.status is not Status.SOLVED:
            return found
        told = bad[0].message or "a candidate with other rule weights did not converge"
        certificate = replace(found.certificate, status=bad[0].status, message=told)
        return replace(found, certificate=certificate)

    def _records_of_members(self) -> tuple[MemberRecord, ...]:
        """What is kept of all candidates, where there are several."""
        if len(self.members) == 1:
            return ()
        prior = np.array([member.candidate.prior for member in self.members])
        chances = probabilities(self.members)
        return tuple(
            _member_record(member, before, after, self.data.total)
            for member, before, after in zip(
                self.members, prior.tolist(), chances.tolist(), strict=True
            )
        )

    def _held_out(self) -> FloatArray | None:
        """Out-of-fold decision values at the chosen values."""
        if not self.choice.opinions:
            return None
        used = [member for member in self.members if member.share > 0]
        if not self.plan.calibrate:
            return self.choice.taken.scores
        return np.asarray(sum(member.share * member.held_out for member in used))

    def _calibration(self, member: Member, scores: FloatArray, b: float) -> Calibration:
        """Scale and intercept of a member as it predicts."""
        plan, data = self.plan, self.data
        if not plan.calibrate:
            return Calibration(1.0, b)
        scale = class_means_at_one(scores, data.y, data.weights, b)
        if plan.is_automatic and member.choice.opinions:
            return replace(scale, offset=scale.offset - member.cut)
        if plan.balanced:
            return scale
        return least_hinge_offset(scores, data.y, data.p, scale.factor)

    def _generate(self) -> Iterator[Progress]:
        yield from self._choose()
        self._weigh(self.members)
        for member in self.members:
            if member.share > 0 and member is not self.leading:
                member.hipad = self._fit(member, quick=True)
                member.hipad.run()
        leading = self.leading
        self.hipad = leading.hipad = self._fit(leading, quick=self._quick)
        yield from self.hipad

    def _choose(self) -> Iterator[Progress]:
        """Follow the paths of all candidates; at a given lambda1 only to learn trust in rules."""
        if not self.plan.is_automatic and len(self.members) == 1:
            return
        step = 0
        for member in self.members:
            for point in member.choice.steps():
                step += 1
                yield _path_record(step, point)

    def _weigh(self, members: Sequence[Member]) -> None:
        """Set the share of each candidate in the model; others than `members` have none."""
        for member in self.members:
            member.share = 0.0
        shares = shares_of(probabilities(members), single=self.plan.max_features is not None)
        for member, share in zip(members, shares.tolist(), strict=True):
            member.share = share

    def _best_so_far(self) -> Hipad:
        """A fit at the best values so far, for a run that was left while they were chosen."""
        self._weigh([m for m in self.members if m.choice.opinions] or self.members)
        for member in self.members:
            if member.share > 0 and member.hipad is None:
                member.hipad = self._fit(member, quick=self._quick)
                if self.history:
                    member.hipad.run()
                member.hipad.finished = False
        leading = self.leading.hipad
        assert leading is not None
        return leading

    def _fit(self, member: Member, *, quick: bool) -> Hipad:
        problem = member.posing.problem(*member.choice.values)
        return Hipad(problem, self._settings(quick), warm=self._warm, beside=self._beside)

    def _settings(self, quick: bool) -> Settings:
        return replace(self.plan.settings, quick=quick)


def _member_record(member: Member, prior: float, chance: float, total: float) -> MemberRecord:
    """A member with its probabilities; those without a share were not fitted to all rows."""
    lambda1, lambda2 = member.choice.values
    fitted = member.hipad.solution() if member.hipad is not None else None
    return MemberRecord(
        weights=member.candidate.weights(total),
        prior=prior,
        posterior=chance,
        share=member.share,
        loss=member.loss,
        lambda1=lambda1,
        lambda2=lambda2,
        support_size=0 if fitted is None else int(fitted.features.size),
        certificate=None if fitted is None else fitted.certificate,
    )


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
