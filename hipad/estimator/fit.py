"""A fit that can be watched: from data, compiled rules and settings to a calibrated model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from hipad.estimator.calibration import Calibration, CalibrationMap, class_means, class_means_at_one
from hipad.estimator.parameters import FitSettings, MemberRecord
from hipad.estimator.path import PathPoint, PathSelector
from hipad.estimator.problem_factory import ProblemFactory, TrainingData, equal_rows, explained
from hipad.estimator.trust import Member, ModelAverage, PresentStep, averaged
from hipad.exceptions import HipadError
from hipad.rules import RuleWeights, ScaledRule
from hipad.solvers import Hipad, Problem, Progress, Solution, Status
from hipad.solvers.admm import WATCHED, AdmmSettings
from hipad.solvers.solution import Settings, StepwiseSolver
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# A fit that can be watched: from data, compiled rules and settings to a model in user's units.
#
# 1. candidates: the fit as it is asked for or, where the trust in rules is learnt, the rules at
# several weights and none (trust.py)
# 2. lambda1 or lambda2 "auto": follow the paths of each candidate, one record (phase 0) for each
# pair of values tried; held-out rows say how probable each candidate is
# 3. HIPAD: one record for each sweep (phase 1) and each iteration (phase 2) of the most probable
# candidate; others are fitted before it, unwatched
# 4. `model()`: calibrate, map back to the user's units, average


Classifier = TypeVar("Classifier")

WATCHABLE = 5e7  # multiplications of a pass over X: some 0.05 s, in each of some sixty sweeps
ROUNDING = 1e-9  # by which shares that are even may differ
CHOOSING = "stopped while lambda1 was being chosen: fitted at the best value so far"


@dataclass(frozen=True)
class Model:
    """A fitted model in the user's units, with the optimisation result behind it.

    Where it is an average, problem, solution, rule weights and path are those of its most
    probable member.
    """

    features: np.ndarray
    coef: FloatArray
    intercept: float
    solution: Solution
    problem: Problem
    plan: FitSettings
    scaled_rules: tuple[ScaledRule, ...]
    lambda1: float
    lambda2: float
    rule_weights: list[RuleWeights]
    path: tuple[PathPoint, ...]
    members: tuple[MemberRecord, ...] = ()
    held_out: FloatArray | None = None  # out-of-fold decision values, where there are some
    mixture: ModelAverage | None = None  # its candidates, for refits
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

        They are as good as decision values of new rows, where the values taken are the best.
        """
        return np.asarray(sum(share * member.fresh_scores() for share, member in self.parts))


def count_steps(history: Sequence[Progress]) -> int:
    """Steps of phases 1 and 2, at least one; trying a value of lambda1 is none."""
    return max(sum(record.phase > 0 for record in history), 1)


class FitRun(StepwiseSolver[Progress], Generic[Classifier]):
    """What `HIPADClassifier.fit_iter` returns: the choice of lambda1, then the optimisation.

    The classifier itself stays as it was until `finish()`.
    """

    def __init__(
        self,
        data: TrainingData,
        plan: FitSettings,
        warm: Sequence[Hipad] = (),
        *,
        interactive: bool = True,
        take: Callable[[FitRun[Classifier]], Classifier] | None = None,
        mixture: ModelAverage | None = None,
        left_out: int | None = None,
    ) -> None:
        self.data, self.plan = data, plan
        self._interactive, self._watched, self._outcome = interactive, False, take
        self.hipad: Hipad | None = None
        self._warm, self._beside = warm[0] if warm else None, tuple(warm[1:])
        self.mixture = mixture if mixture is not None else ModelAverage(data, plan)
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
    def factory(self) -> ProblemFactory:
        """The problems of the leading candidate."""
        return self.leading.factory

    @property
    def choice(self) -> PathSelector:
        """The automatic choice of the leading candidate."""
        return self.leading.choice

    def run(self) -> Model:
        """Go to the end."""
        return self.to_end().model()

    def watch(self) -> Self:
        """Let phase 1 begin far from the optimum, for those who watch; the model is the same.

        Not where it would take long, or where the settings of the user would lead elsewhere.
        """
        self._watched = True
        self._warm, self._beside = None, ()
        return self

    def present(self) -> PresentStep | None:
        """Return what the last step led to; None while values are chosen."""
        return self.leading.present() if self.hipad is not None and self.hipad.history else None

    def finish(self) -> Classifier:
        """The classifier with the model so far; its certificate says if that was the end."""
        assert self._outcome is not None  # `fit_iter` gives it
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
            scaled_rules=self.factory.scaled_rules,
            lambda1=hipad.problem.lambda1,
            lambda2=hipad.problem.lambda2,
            rule_weights=self.factory.rule_weights,
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
        message = bad[0].message or "a candidate with other rule weights did not converge"
        certificate = replace(found.certificate, status=bad[0].status, message=message)
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
        if not self.choice.results:
            return None
        if not self.plan.calibrate:
            return self.choice.taken.scores
        return np.asarray(sum(share * member.held_out for share, member in self._used()))

    def _generate(self) -> Iterator[Progress]:
        yield from self._choose()
        self._set_shares(self.members)
        for share, member in self._used():
            if share > 0 and member is not self.leading and member.hipad is None:
                member.hipad = self._fit(member, interactive=False)
                member.hipad.run()
        leading = self.leading
        if leading.hipad is not None and not self._interactive:
            self.hipad = leading.hipad  # fitted before, for another mixture of the same candidates
            return
        self.hipad = leading.hipad = self._fit(leading, interactive=self._interactive)
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

    def _set_shares(self, members: Sequence[Member]) -> None:
        """Set the share of each candidate in the model; others than `members` have none."""
        known = {m.candidate: self.candidates[m.candidate] for m in members}
        single = self.plan.is_sparse or self.plan.max_features is not None
        found = self.mixture.shares(known, single=single)
        shares = dict(zip(known, found.tolist(), strict=True))
        self.shares = np.array([shares.get(candidate, 0.0) for candidate in self.candidates])

    def _best_so_far(self) -> Hipad:
        """A fit at the best values so far, for a run that was left while they were chosen."""
        self._set_shares([m for m in self.members if m.choice.results] or self.members)
        for _, member in self._used():
            if member.hipad is None:
                member.hipad = self._fit(member, interactive=self._interactive)
                if self.history:
                    member.hipad.run()
                member.hipad.finished = False
        leading = self.leading.hipad
        assert leading is not None
        return leading

    def _fit(self, member: Member, *, interactive: bool) -> Hipad:
        problem = member.factory.problem(*member.values, among=member.among)
        settings = replace(self.plan.settings, fastest=not interactive and self.plan.fastest)
        if settings.phase1_stop == "paper":
            problem = without_repeats(problem)
        elif self._watched and interactive and _is_watchable(problem, settings):
            settings = replace(settings, admm=WATCHED)
        # a state of other rows, among them those that rules labelled, does not serve
        earlier = [self._warm, *self._beside]
        serving = [one for one in earlier if one and one.problem.y.size == problem.y.size]
        if member.factory.data.n_inferred or self._warm not in serving:
            serving = []
        return Hipad(problem, settings, warm=next(iter(serving), None), beside=serving[1:])


def _is_watchable(problem: Problem, settings: Settings) -> bool:
    """Return whether phase 1 may begin far away: where it is quick, and leads to one optimum."""
    own = settings.method == "hipad" and settings.admm == AdmmSettings()
    return own and problem.design.cost <= WATCHABLE


def without_repeats(problem: Problem) -> Problem:
    """The same problem with equal rows as one, of their joint share.

    The optimum is the same. The iterates are not: where the paper's test leaves it early, a row of
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


# --------------------------------------------------------------------------------------------------
# The risk curve of a fitted classifier, made when a risk is first asked for.
#
# It takes the out-of-fold scores of the fit. An automatic fit has them; after a fit with values
# that the user gave, the folds are fitted now. That needs the training rows, so a classifier makes
# its curve before it is pickled or saved without them.


class LazyCalibration:
    """Holds what a curve is made of, and then the curve."""

    def __init__(
        self, origin: tuple[TrainingData, Model] | None = None, curve: CalibrationMap | None = None
    ) -> None:
        self._origin, self._curve = origin, curve

    @property
    def curve(self) -> CalibrationMap:
        """The curve over the classifier's decision values."""
        if self._curve is None:
            if self._origin is None:
                raise HipadError(
                    "expected a model that knows risks, got one from a file without them: "
                    "fit it again and save it"
                )
            self._curve, self._origin = learnt_curve(*self._origin), None
        return self._curve

    @property
    def known(self) -> bool:
        """Whether probabilities are available."""
        return self._curve is not None or self._origin is not None

    @property
    def ready(self) -> bool:
        """Whether they are available at once, without fits on folds."""
        folds_are_there = self._origin is not None and self._origin[1].held_out is not None
        return self._curve is not None or folds_are_there

    def __getstate__(self) -> dict[str, Any]:
        """With the curve, and without the training rows."""
        return {"_origin": None, "_curve": self.curve if self.known else None}


def learnt_curve(data: TrainingData, model: Model) -> CalibrationMap:
    """The curve from out-of-fold scores, over the decision values of this model.

    Scores made now have the class means of training rows at -1 and +1, so the curve is read at
    decision values that are put on that scale. Those of an automatic, calibrated fit are on the
    scale of its decision values already.
    """
    constant = CalibrationMap.constant(float(data.weights[data.y > 0].sum() / data.weights.sum()))
    if not model.features.size:
        return constant
    own = decision_values(data, model)
    if class_means(own, data.y, data.weights) is None:
        return constant
    scores, scale = model.fresh_scores(), score_scale(data, model, own)
    weights = data.group_weights  # several rows of one group add no certainty
    curve = _short(CalibrationMap.fit(scores, data.y, weights, model.plan.selection))
    if asks_who_is_likelier(data):
        curve = curve.even_at(scale.offset, scores, data.y, weights)
    return curve.of_scaled(scale.factor, scale.offset)


def score_scale(data: TrainingData, model: Model, own: FloatArray) -> Calibration:
    """What turns decision values of the model into out-of-fold scores; `own` are the rows' ones."""
    chosen = model.plan.is_automatic or any(one.cut is not None for _, one in model.parts)
    if chosen and model.plan.calibrate:
        return Calibration(1.0, 0.0)
    return class_means_at_one(own, data.y, data.weights, 0.0)


def held_out_values(data: TrainingData, model: Model) -> FloatArray:
    """Out-of-fold scores of the training rows as decision values of the model; NaN where unknown.

    A model without features gives all rows the same value.
    """
    own = decision_values(data, model)
    if not model.features.size or class_means(own, data.y, data.weights) is None:
        return own
    scale = score_scale(data, model, own)
    return (model.out_of_fold() - scale.offset) / scale.factor


def fresh_values(data: TrainingData, model: Model) -> FloatArray:
    """The same for each repeat of the folds, at values that the row's own fold did not choose."""
    own = decision_values(data, model)
    if not model.features.size or class_means(own, data.y, data.weights) is None:
        return own[None]
    scale = score_scale(data, model, own)
    return (model.fresh_scores() - scale.offset) / scale.factor


def _short(curve: CalibrationMap) -> CalibrationMap:
    """Round the log odds: further digits depend on the order of the rows."""
    return replace(curve, log_odds=np.round(curve.log_odds, 3))


def asks_who_is_likelier(data: TrainingData) -> bool:
    """Whether classes count by their rows, so that decision and risk ask the same question.

    They are then to give the same answer, unless held-out rows clearly speak against it.
    """
    positive = data.y > 0
    return abs(data.p[positive].sum() - data.weights[positive].sum() / data.weights.sum()) < 1e-9


def decision_values(data: TrainingData, model: Model) -> FloatArray:
    """Those of the training rows."""
    scores = data.X[:, model.features] @ model.coef + model.intercept
    return np.asarray(scores, dtype=float).ravel()
