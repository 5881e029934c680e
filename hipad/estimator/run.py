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
from hipad.estimator.choosing.choice import AutoChoice, PathPoint
from hipad.estimator.choosing.folds import equal_rows
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.empty import explained
from hipad.estimator.parameters import Plan
from hipad.estimator.training import TrainingData
from hipad.estimator.trust.member_record import MemberRecord
from hipad.estimator.trust.mixture import (
    Member,
    Mixture,
    averaged,
)
from hipad.rules import Knobs, ScaledRule
from hipad.solver import Hipad, Problem, Progress, Solution, Status
from hipad.solver.watched import Watched

Classifier = TypeVar("Classifier")

ROUNDING = 1e-9  # by which shares that are even may differ
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
    mixture: Mixture | None = None  # its candidates, for refits
    parts: tuple[tuple[float, Member], ...] = ()  # those that are in it, with their shares

    def out_of_fold(self) -> FloatArray:
        """Decision values of training rows by models that did not see them, on its own scale.

        NaN for rows that every fold needs, and for all where there are too few for folds.
        """
        if self.held_out is not None:
            return self.held_out
        return np.asarray(sum(share * member.out_of_fold() for share, member in self.parts))

    def fresh_scores(self) -> FloatArray:
        """The same for each repeat of the folds, at values that the row's own fold did not choose.

        They are as good as decision values of new patients, where the values taken are the best.
        """
        return np.asarray(sum(share * member.fresh_scores() for share, member in self.parts))


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
        mixture: Mixture | None = None,
        left_out: int | None = None,
    ) -> None:
        self.data, self.plan = data, plan
        self._quick, self._outcome = quick, take
        self.hipad: Hipad | None = None
        self._warm, self._beside = warm[0] if warm else None, tuple(warm[1:])
        self.mixture = mixture if mixture is not None else Mixture(data, plan)
        self.candidates = self.mixture.candidates(left_out)
        self.members = self.mixture.members(list(self.candidates))
        prior = np.array(list(self.candidates.values()))
        self.shares: FloatArray = prior / prior.sum()  # of each member in the model
        super().__init__()

    @property
    def finished(self) -> bool:
        """Whether the run went to its end."""
        return self.hipad is not None and self.hipad.finished

    @property
    def leading(self) -> Member:
        """The most probable candidate with rules; the one without, where it outweighs all others.

        It is the one that is watched, and whose values and certificate stand for the model.
        """
        first, *others = self.shares.tolist()
        if not others or first > sum(others) + ROUNDING:
            return self.members[0]
        return self.members[-1 - int(np.argmax(others[::-1]))]

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
        mixed = averaged([(share, member.model) for share, member in self._used()])
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
            mixture=self.mixture,
            parts=tuple(self._used()),
        )

    @property
    def path(self) -> tuple[PathPoint, ...]:
        """The values tried so far by the leading candidate."""
        return self.choice.path

    def _used(self) -> list[tuple[float, Member]]:
        """The members that have a part in the model, with that part."""
        pairs = zip(self.shares.tolist(), self.members, strict=True)
        return [(share, member) for share, member in pairs if share > 0]

    def _with_others(self, found: Solution) -> Solution:
        """The solution of the leading member; its status is no better than the worst of all."""
        others = [m.hipad.solution().certificate for _, m in self._used() if m.hipad is not None]
        bad = [one for one in others if one.status is not Status.SOLVED]
        if not bad or found.certificate.status is not Status.SOLVED:
            return found
        told = bad[0].message or "a candidate with other rule weights did not converge"
        certificate = replace(found.certificate, status=bad[0].status, message=told)
        return replace(found, certificate=certificate)

    def _records_of_members(self) -> tuple[MemberRecord, ...]:
        """What is kept of all candidates, where there are several."""
        if any(member.given is not None for member in self.members):
            return self._records_of_refit()
        if len(self.members) == 1:
            return ()
        chances = self.mixture.probabilities(self.candidates)
        return tuple(
            _member_record(*one, total=self.data.total)
            for one in zip(
                self.members,
                self.candidates.values(),
                chances.tolist(),
                self.shares.tolist(),
                strict=True,
            )
        )

    def _records_of_refit(self) -> tuple[MemberRecord, ...]:
        """The records of the earlier fit, with the shares and certificates of this one."""
        pairs = zip(self.members, self.shares.tolist(), strict=True)
        fitted = {id(member.given): (member, share) for member, share in pairs}
        earlier = self.plan.rule_trust
        assert isinstance(earlier, tuple)
        if len(earlier) == 1:
            return ()
        return tuple(_refitted(record, *fitted.get(id(record), (None, 0.0))) for record in earlier)

    def _held_out(self) -> FloatArray | None:
        """Out-of-fold decision values of labelled rows at the chosen values."""
        if not self.choice.opinions:
            return None
        if not self.plan.calibrate:
            return self.choice.taken.scores
        return np.asarray(sum(share * member.held_out for share, member in self._used()))

    def _generate(self) -> Iterator[Progress]:
        yield from self._choose()
        self._weigh(self.members)
        for share, member in self._used():
            if share > 0 and member is not self.leading and member.hipad is None:
                member.hipad = self._fit(member, quick=True)
                member.hipad.run()
        leading = self.leading
        if leading.hipad is not None and self._quick:
            self.hipad = leading.hipad  # fitted before, for another mixture of the same candidates
            return
        self.hipad = leading.hipad = self._fit(leading, quick=self._quick)
        yield from self.hipad

    def _choose(self) -> Iterator[Progress]:
        """Follow the paths of all candidates; at a given lambda1 only to learn trust in rules."""
        if not self.plan.is_automatic and len(self.members) == 1:
            return
        step = 0
        for member in self.members:
            for point in member.choose():
                step += 1
                yield _path_record(step, point)

    def _weigh(self, members: Sequence[Member]) -> None:
        """Set the share of each candidate in the model; others than `members` have none."""
        known = {m.candidate: self.candidates[m.candidate] for m in members}
        single = self.plan.is_sparse or self.plan.max_features is not None
        found = self.mixture.shares(known, single=single)
        shares = dict(zip(known, found.tolist(), strict=True))
        self.shares = np.array([shares.get(candidate, 0.0) for candidate in self.candidates])

    def _best_so_far(self) -> Hipad:
        """A fit at the best values so far, for a run that was left while they were chosen."""
        self._weigh([m for m in self.members if m.choice.opinions] or self.members)
        for _, member in self._used():
            if member.hipad is None:
                member.hipad = self._fit(member, quick=self._quick)
                if self.history:
                    member.hipad.run()
                member.hipad.finished = False
        leading = self.leading.hipad
        assert leading is not None
        return leading

    def _fit(self, member: Member, *, quick: bool) -> Hipad:
        problem = member.posing.problem(*member.values, among=member.among)
        settings = replace(self.plan.settings, quick=quick)
        if settings.switch == "paper":
            problem = without_repeats(problem)
        # a state of other rows, among them those that rules labelled, does not serve
        earlier = [self._warm, *self._beside]
        serving = [one for one in earlier if one and one.problem.y.size == problem.y.size]
        if member.posing.data.n_inferred or self._warm not in serving:
            serving = []
        return Hipad(problem, settings, warm=next(iter(serving), None), beside=serving[1:])


def without_repeats(problem: Problem) -> Problem:
    """The same problem with equal rows as one, of their joint share.

    The optimum is the same. The way to it is not: where the paper's test leaves it early, a row of
    weight two and two equal rows would end at different features.
    """
    groups = equal_rows(problem.design, problem.y, problem.p)
    first = np.sort(np.unique(groups, return_index=True)[1])
    if first.size == problem.y.size:
        return problem
    p = np.bincount(groups, weights=problem.p)[groups[first]]
    return replace(problem, design=problem.design.rows(first), y=problem.y[first], p=p)


def _member_record(
    member: Member, prior: float, chance: float, share: float, *, total: float
) -> MemberRecord:
    """A member with its probabilities; those without a share were not fitted to all rows."""
    lambda1, lambda2 = member.values
    fitted = member.hipad.solution() if member.hipad is not None else None
    return MemberRecord(
        weights=member.candidate.weights(total),
        prior=prior,
        posterior=chance,
        share=share,
        loss=member.loss,
        lambda1=lambda1,
        lambda2=lambda2,
        support_size=0 if fitted is None else int(fitted.features.size),
        certificate=None if fitted is None else fitted.certificate,
        on_rows=member.candidate.on_rows,
        cut=member.cut,
        among=None if member.among is None else tuple(member.among.tolist()),
    )


def _refitted(record: MemberRecord, member: Member | None, share: float) -> MemberRecord:
    """A record of an earlier fit, with what this fit found; without a member it has no part."""
    found = None if member is None or member.hipad is None else member.hipad.solution()
    return replace(
        record,
        share=share,
        support_size=0 if found is None else int(found.features.size),
        certificate=None if found is None else found.certificate,
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
