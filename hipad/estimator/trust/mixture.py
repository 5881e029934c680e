"""One model out of several candidates: each fitted for itself, all averaged by their posterior.

Every member has decision values with the average rows of both classes at -1 and +1, so their
average is such a model again: linear, in the user's units, with the features of all members. Those
of hardly any probability are left out. A candidate is fitted once, whoever asks for it: the fit
itself, or the report, which asks for the model without each of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from hipad.arrays import FloatArray
from hipad.estimator.calibration import Calibration, class_means_at_one, least_hinge_offset
from hipad.estimator.choosing.choice import AutoChoice, PathPoint
from hipad.estimator.choosing.posing import Posing, relevance
from hipad.estimator.empty import explained, score_noise
from hipad.estimator.parameters import PRIOR_TRUST, Plan
from hipad.estimator.training import TrainingData
from hipad.estimator.trust.member_record import MemberRecord
from hipad.estimator.trust.posterior import held_out_losses, posterior
from hipad.estimator.trust.rule_candidates import RuleCandidate, rule_candidates
from hipad.rules import RuleTrust
from hipad.solver import Hipad

LEAST: Final = 0.02  # probability below which a member has no part in the model
DIGITS: Final = 3  # of probabilities: further ones hang on the order of the rows


class LinearModel(NamedTuple):
    """Weights of some features, in the user's units, and the intercept."""

    features: np.ndarray
    coef: FloatArray
    intercept: float


@dataclass(eq=False)
class Member:
    """One candidate on its way: its problems, its choice of lambda1 and lambda2, its optimisation.

    `posing` has the labels that rules gave to unlabelled rows, where the candidate counts those.
    """

    candidate: RuleCandidate
    posing: Posing
    choice: AutoChoice = field(init=False)
    given: MemberRecord | None = None  # its values, where an earlier fit chose them
    chosen: bool = False  # whether the choice went to its end
    hipad: Hipad | None = None

    def __post_init__(self) -> None:
        self.choice = AutoChoice(self.posing)
        self.chosen = self.given is not None

    @property
    def values(self) -> tuple[float, float]:
        """lambda1 and lambda2."""
        given = self.given
        return self.choice.values if given is None else (given.lambda1, given.lambda2)

    @property
    def among(self) -> np.ndarray | None:
        """The features that most folds keep, where the fewest are wished for; None for all."""
        if self.given is not None:
            return None if self.given.among is None else np.array(self.given.among, dtype=int)
        if not self.posing.plan.is_sparse or not self.choice.opinions:
            return None
        return self.choice.taken.stable

    def choose(self) -> Iterator[PathPoint]:
        """Follow the paths of lambda1 and lambda2, unless that was done before."""
        if not self.chosen:
            self.choice = AutoChoice(self.posing)
            yield from self.choice.steps()
            self.chosen = True

    @property
    def held_out(self) -> FloatArray:
        """Decision values of labelled rows by models that did not see them; NaN without any."""
        n = self.posing.data.n_labelled
        if not self.choice.opinions:
            return np.full(n, np.nan)
        return self.choice.taken.scores[:n] - (self.cut or 0.0)

    def out_of_fold(self) -> FloatArray:
        """The same, by folds at its values where none were fitted yet."""
        self._hold_out()
        return self.held_out

    def fresh_scores(self) -> FloatArray:
        """The same for each repeat, at values that the row's own fold did not choose."""
        self._hold_out()
        n = self.posing.data.n_labelled
        if not self.choice.opinions:
            return np.full((1, n), np.nan)
        cut = self.cut if self.posing.plan.calibrate else None
        return self.choice.fresh_scores()[:, :n] - (cut or 0.0)

    def _hold_out(self) -> None:
        if not self.choice.opinions:
            plan = self.posing.plan.at(*self.values)
            self.choice = AutoChoice(Posing(self.posing.data, plan, self.posing.weights))
            for _ in self.choice.steps():
                pass

    @property
    def loss(self) -> float:
        """The mean log loss of held-out rows; NaN where there are none."""
        scores = self.held_out
        if not np.isfinite(scores).any():
            return float("nan")
        _, y, p = self.posing.data.labelled
        return float(p @ held_out_losses(scores[:, None], y)[:, 0])

    @property
    def cut(self) -> float | None:
        """By how much held-out rows move its intercept; None without any, or at a given lambda1."""
        if self.given is not None:
            return self.given.cut
        automatic = bool(self.choice.opinions) and self.posing.plan.is_automatic
        return self.choice.taken.cut if automatic else None

    @property
    def model(self) -> LinearModel:
        """The fitted member in the user's units, as it predicts."""
        assert self.hipad is not None
        data, found = self.posing.data, explained(self.hipad, "")
        scores = data.design.columns(found.features) @ found.w
        if np.max(np.abs(scores), initial=0.0) <= score_noise(data.design, found.features, found.w):
            scores = np.zeros_like(scores)  # last digits alone tell nobody apart
        scale = self._calibration(scores, found.b)
        coef, intercept = data.to_user_units(found.features, scale.factor * found.w, scale.offset)
        return LinearModel(found.features, coef, intercept)

    def _calibration(self, scores: FloatArray, b: float) -> Calibration:
        """Scale and intercept as it predicts."""
        plan, data = self.posing.plan, self.posing.data
        if not plan.calibrate:
            return Calibration(1.0, b)
        scale = class_means_at_one(scores, data.y, data.weights, b)
        if self.cut is not None:
            return replace(scale, offset=scale.offset - self.cut)
        if plan.balanced:
            return scale
        return least_hinge_offset(scores, data.y, data.p, scale.factor)


class Mixture:
    """The candidates of one fit, or of the same fit without one of its rules."""

    def __init__(self, data: TrainingData, plan: Plan) -> None:
        self.data, self.plan = data, plan
        self._members: dict[RuleCandidate, Member] = {}
        self._at_records: Mixture | None = None

    def candidates(self, left_out: int | None = None) -> dict[RuleCandidate, float]:
        """The candidates with their prior; one, as the plan has it, where no trust is learnt."""
        rules, trust = self.plan.rules, self.plan.rule_trust
        if self._held:
            return self._held_without(left_out)
        if learns_trust(self.plan) and self.can_testify:
            trust = trust if isinstance(trust, float) else PRIOR_TRUST
            unlabelled = self.data.unlabelled is not None
            found = rule_candidates(rules, trust, left_out=left_out, unlabelled=unlabelled)
            found = {one: prior for one, prior in found.items() if self._exists(one)}
            if found:
                return found
        return {
            RuleCandidate(tuple(0.0 if i == left_out else None for i in range(len(rules)))): 1.0
        }

    def held_at(self, records: tuple[MemberRecord, ...]) -> Mixture:
        """The same candidates at the shares and values of these records."""
        if self._held:
            return self
        if self._at_records is None:
            self._at_records = Mixture(self.data, replace(self.plan, rule_trust=records))
        return self._at_records

    def members(self, candidates: Sequence[RuleCandidate]) -> list[Member]:
        """What is known of these candidates so far."""
        return [self._member(candidate) for candidate in candidates]

    def probabilities(self, candidates: dict[RuleCandidate, float]) -> FloatArray:
        """The posterior of each candidate; the prior where no row was held out."""
        prior = np.array(list(candidates.values()))
        prior = prior / prior.sum()
        members = self.members(list(candidates))
        scores = np.column_stack([member.held_out for member in members])
        if len(members) == 1 or not np.isfinite(scores).any():
            return prior
        if all(member.given is not None for member in members):
            return prior  # as it was learnt before
        data = self.data
        losses = held_out_losses(scores, data.y)
        heard = np.column_stack([self._relevance(one) for one in candidates])
        losses = losses[:, :1] + heard * (losses - losses[:, :1])
        groups = None if data.groups is None else data.groups[: data.y.size]
        found = posterior(losses, prior, data.p * data.total, data.weights, groups)
        rounded: FloatArray = found.round(DIGITS)
        return rounded / rounded.sum()

    def shares(self, candidates: dict[RuleCandidate, float], *, single: bool = False) -> FloatArray:
        """What each candidate has of the model; shares that an earlier fit learnt stay."""
        found = self.probabilities(candidates)
        return found if self._held else shares_of(found, single=single)

    def _member(self, candidate: RuleCandidate) -> Member:
        if candidate not in self._members:
            weights, data = candidate.weights(self.data.total), self.data
            if candidate.on_rows:
                inferred = data.with_rule_labels(self.plan.rules, weights)
                assert inferred is not None  # else there is no such candidate
                data, weights = inferred, tuple(w and 0.0 for w in weights)
            posing, given = Posing(data, self.plan, weights), self._values.get(candidate)
            self._members[candidate] = Member(candidate, posing, given=given)
        return self._members[candidate]

    @cached_property
    def _held(self) -> dict[RuleCandidate, MemberRecord]:
        """Candidates whose share was learnt by an earlier fit, where the plan says so."""
        records, total, learns = self.plan.rule_trust, self.data.total, learns_trust(self.plan)
        if not isinstance(records, tuple) or not self.plan.calibrate:
            return {}
        written = [not learns or rule.rule.worth is not None for rule in self.plan.rules]
        used = [record for record in records if record.share > 0]
        if any([weight is None for weight in one.weights] != written for one in used):
            return {}  # other rules: their trust is learnt anew
        found = {
            RuleCandidate(
                tuple(None if w is None else w / total for w in one.weights), one.on_rows
            ): one
            for one in used
        }
        return {one: record for one, record in found.items() if self._exists(one)}

    @cached_property
    def _values(self) -> dict[RuleCandidate, MemberRecord]:
        """Where lambda1, lambda2 and cut of a candidate come from, if an earlier fit chose them."""
        return dict(self._held)

    def _held_without(self, left_out: int | None) -> dict[RuleCandidate, float]:
        """The shares that were learnt before; candidates that a rule told apart become one."""
        if left_out is None:
            return {one: record.share for one, record in self._held.items()}
        shares: dict[RuleCandidate, float] = {}
        heaviest: dict[RuleCandidate, MemberRecord] = {}
        for one, record in self._held.items():
            rest = replace(
                one, shares=tuple(0.0 if i == left_out else s for i, s in enumerate(one.shares))
            )
            if not self._exists(rest):
                rest = replace(rest, on_rows=False, shares=tuple(s and 0.0 for s in rest.shares))
            shares[rest] = shares.get(rest, 0.0) + record.share
            if rest not in heaviest or record.share > heaviest[rest].share:
                heaviest[rest] = record
        self._values.update({one: r for one, r in heaviest.items() if one not in self._values})
        return shares

    def _exists(self, candidate: RuleCandidate) -> bool:
        """Whether rules label any row, where the candidate asks them to."""
        if not candidate.on_rows or candidate in self._members:
            return True
        weights = candidate.weights(self.data.total)
        return self.data.with_rule_labels(self.plan.rules, weights) is not None

    @cached_property
    def _plain(self) -> Posing:
        """The problems of the plan itself."""
        return Posing(self.data, self.plan)

    @property
    def can_testify(self) -> bool:
        """Whether labelled rows lie near enough to what rules speak of to say anything on them.

        Where none does, nothing can be weighed, and decision values of models with the rules and
        without them have no common scale there: the rules are taken as they are given.
        """
        return self._plain.in_sight

    def _relevance(self, candidate: RuleCandidate) -> FloatArray:
        """How much each row may say on the rules that are weighed here; 0 without any."""
        free = [i for i, share in enumerate(candidate.shares) if share]
        return relevance(self._plain.reach[:, free].max(axis=1, initial=0.0))


def learns_trust(plan: Plan) -> bool:
    """Whether rules without a written weight are weighed by held-out rows."""
    return (
        plan.rule_trust is not None
        and plan.patients == "auto"
        and plan.anchored
        and plan.calibrate
        and any(rule.rule.worth is None for rule in plan.rules)
    )


def shares_of(probability: FloatArray, *, single: bool = False) -> FloatArray:
    """What members have of the model; `single` leaves all of it to the most probable one.

    >>> shares_of(np.array([0.01, 0.39, 0.6])).round(3).tolist()
    [0.0, 0.394, 0.606]
    """
    kept = probability >= min(LEAST, probability.max())
    if single:
        kept = np.arange(probability.size) == int(np.argmax(probability))
    shares: FloatArray = np.where(kept, probability, 0.0)
    return shares / shares.sum()


def averaged(parts: Sequence[tuple[float, LinearModel]]) -> LinearModel:
    """The average of models, each with its share.

    >>> one = LinearModel(np.array([0, 2]), np.array([1.0, 2.0]), 3.0)
    >>> other = LinearModel(np.array([2]), np.array([4.0]), 1.0)
    >>> averaged([(0.5, one), (0.5, other)])
    LinearModel(features=array([0, 2]), coef=array([0.5, 3. ]), intercept=2.0)
    """
    if len(parts) == 1:
        return parts[0][1]
    features = np.unique(np.concatenate([model.features for _, model in parts]))
    coef = np.zeros(features.size)
    for share, model in parts:
        coef[np.searchsorted(features, model.features)] += share * model.coef
    kept = coef != 0
    intercept = sum(share * model.intercept for share, model in parts)
    return LinearModel(features[kept], coef[kept], float(intercept))


def trust_of(records: Sequence[MemberRecord], rule: int, rows: float) -> RuleTrust | None:
    """The trust in one rule; None where it was not learnt."""
    if len(records) < 2 or any(record.weights[rule] is None for record in records):
        return None
    prior, after = (
        sum(getattr(record, name) for record in records if record.weights[rule])
        for name in ("prior", "posterior")
    )
    return RuleTrust(float(prior), float(after), rows)
