"""Trust in rules: candidates with and without them, weighed by held-out log loss, and averaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Final, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm, qmc

from hipad.estimator.calibration import Calibration, class_means_at_one, least_loss_offset
from hipad.estimator.parameters import PRIOR_TRUST, FitSettings, MemberRecord
from hipad.estimator.path import PathPoint, PathSelector
from hipad.estimator.problem_factory import (
    ProblemFactory,
    TrainingData,
    explained,
    relevance,
    score_noise,
)
from hipad.estimator.settings import RULE_SETTINGS, RuleSettings
from hipad.rules import CompiledRule, RuleTrust
from hipad.solvers import Hipad, Solution
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# The candidates between which labelled rows decide: no rules, or rules at one of a few weights.
#
# A rule without a written weight may be of use, of no use, or wrong, and nobody knows beforehand
# for how many labelled rows it should count. So several models are fitted, each with a lambda1 and
# lambda2 of its own, and averaged by how well each predicts rows that it did not see
# (trust.py):
#
#  without rules                        prior 1 - trust
#  all rules, at each of `shares`       the trust, in equal parts
#  all but one, at `left_out_share`     for two to `max_single` rules: one bad rule must not cost
#                                       the good ones
#
# A weight is a share of all labelled rows. Where there are rows without a label, a rule's weight
# can also be spread over those that it covers, with its outcome for their label
# (`unlabelled_share`). A written weight is the same in all candidates. The numbers are those of
# `RuleSettings`.


@dataclass(frozen=True)
class RuleCandidate:
    """Weights of the rules: `shares` of all labelled rows, one for each rule.

    None stands for a weight that the user wrote. `on_rows` spreads the weights over the unlabelled
    rows that the rules cover.
    """

    shares: tuple[float | None, ...]
    on_rows: bool = False

    def weights(self, total: float) -> tuple[float | None, ...]:
        """Return for how many of `total` rows each rule counts."""
        return tuple(None if share is None else share * total for share in self.shares)


def rule_candidates(
    rules: Sequence[CompiledRule],
    prior_trust: float,
    *,
    left_out: int | None = None,
    unlabelled: bool = False,
    settings: RuleSettings = RULE_SETTINGS,
) -> dict[RuleCandidate, float]:
    """Return all candidates with their prior, the one without rules first.

    `left_out` is a rule that no candidate counts. Empty where every weight is written.
    """
    free = [i for i, rule in enumerate(rules) if rule.rule.worth is None and i != left_out]
    if not free:
        return {}

    def shares(share: float, without: int | None = None) -> tuple[float | None, ...]:
        return tuple(
            0.0 if i in (left_out, without) else None if rule.rule.worth is not None else share
            for i, rule in enumerate(rules)
        )

    single = free if 1 < len(free) <= settings.max_single else []
    whole = [RuleCandidate(shares(share)) for share in settings.shares]
    if unlabelled:
        whole.append(RuleCandidate(shares(settings.unlabelled_share), on_rows=True))
    whole += [RuleCandidate(shares(settings.left_out_share, without=i)) for i in single]
    return {
        RuleCandidate(shares(0.0)): 1.0 - prior_trust,
        **dict.fromkeys(whole, prior_trust / len(whole)),
    }


# --------------------------------------------------------------------------------------------------
# How probable each candidate is, given how it predicts labelled rows that it did not see.
#
# Decision values have the average rows of the two classes at -1 and +1. Where the values of a class
# have a deviation of about one, the log odds of a row are twice its decision value, so that
#
#     l_ik = log(1 + exp(-2 y_i f_k(x_i)))
#
# is the log loss of held-out row i under candidate k, and prior_k exp(-sum_i l_ik) would be its
# posterior. Few rows make nobody certain, so decision values count up to `max_score` in either
# direction: log odds of three. With few rows that sum is mostly chance. As in pseudo-BMA+ (Yao,
# Vehtari, Simpson and Gelman 2018, Bayesian Analysis 13:917) the posterior is therefore averaged
# over how the sums would vary if other rows had been drawn. They are taken to be normal, with the
# covariance of the rows' losses: a row of weight two is two rows, and their order plays no part.
#
# A row can testify on a rule only if it lies some way towards the rows of which the rule speaks,
# or in the other direction. On ksvm-s every labelled row lies within a twenty-fifth of the way: the
# rows cannot see what the rules speak of, and say nothing for or against them
# (`choosing.factory.relevance`).


DRAWS: Final = 10  # powers of two: 1,024 points of the normal distribution, always the same


def held_out_losses(
    scores: FloatArray, y: FloatArray, settings: RuleSettings = RULE_SETTINGS
) -> FloatArray:
    """Return the log losses of held-out decision values, one column for each candidate.

    >>> held_out_losses(np.array([[0.0], [1.0], [np.nan]]), np.array([1.0, 1.0, -1.0])).round(3)
    array([[0.693],
           [0.127],
           [0.693]])
    """
    known = np.where(np.isfinite(scores), scores, 0.0)  # a score of 0 has the loss of a coin
    most = settings.max_score
    clipped = np.clip(known, -most, most)
    losses: FloatArray = np.logaddexp(0.0, -settings.log_odds * y[:, None] * clipped)
    return losses


def posterior(
    losses: FloatArray,
    prior: FloatArray,
    weights: FloatArray,
    counts: FloatArray,
    groups: IntArray | None = None,
) -> FloatArray:
    """Return probabilities of the candidates; `losses` has one row a labelled row, one column each.

    A labelled row counts `weights` in the sums, and is `counts` rows that were drawn. Of rows of
    one group the sum was drawn: they are one sample.

    >>> even, ones = np.array([0.5, 0.5]), np.ones(40)
    >>> posterior(np.tile([0.7, 0.3], (40, 1)), even, ones, ones).round(6)
    array([0., 1.])
    >>> posterior(np.tile([0.5, 0.5], (40, 1)), even, ones, ones)
    array([0.5, 0.5])
    """
    sums = weights @ losses
    apart = losses - sums / weights.sum()
    if groups is None:
        covariance = (apart.T * (weights**2 / counts)) @ apart
    else:
        drawn = np.zeros((int(groups.max()) + 1, prior.size))
        np.add.at(drawn, groups, weights[:, None] * apart)
        covariance = drawn.T @ drawn
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    logits = np.log(prior) - (sums + normal_points(prior.size) @ root)
    shares = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    mean: FloatArray = shares.mean(axis=0)
    return mean


@cache
def normal_points(dimensions: int) -> FloatArray:
    """Return points that represent the standard normal distribution, mirrored at zero."""
    inside = qmc.Sobol(dimensions, scramble=True, rng=0).random_base2(DRAWS - 1)
    points = norm.ppf(np.clip(inside, 1e-9, 1.0 - 1e-9))
    points = np.vstack([points, -points])
    points.flags.writeable = False
    return points


# --------------------------------------------------------------------------------------------------
# One model out of several candidates: each fitted for itself, all averaged by their posterior.
#
# Every member has decision values with the average rows of both classes at -1 and +1, so their
# average is such a model again: linear, in the user's units, with the features of all members.
# Those of hardly any probability are left out. Where rules contradict the rows, the averages of the
# classes hardly differ along w, and decision values of single rows are large: such a member would
# outvote more probable ones. So decision values count up to `max_score` here as in the posterior:
# the share of a member whose values spread further shrinks by as much. A candidate is fitted once,
# whoever asks for it: the fit itself, or the report, which asks for the model without each of the
# rules.


DIGITS: Final = 3  # of probabilities: further ones hang on the order of the rows


class ObjectiveParts(NamedTuple):
    """The terms of the objective; their sum is F in phase 1, and without l1 in phase 2."""

    loss: float
    ridge: float
    rules: float
    l1: float


class LinearModel(NamedTuple):
    """Weights of some features, in the user's units, and the intercept."""

    features: np.ndarray
    coef: FloatArray
    intercept: float


class PresentStep(NamedTuple):
    """A step of a fit that is watched."""

    model: LinearModel
    parts: ObjectiveParts


@dataclass(eq=False)
class Member:
    """One candidate: its problems, its choice of lambda1 and lambda2, its optimisation.

    `factory` has the labels that rules gave to unlabelled rows, where the candidate counts those.
    """

    candidate: RuleCandidate
    factory: ProblemFactory
    choice: PathSelector = field(init=False)
    given: MemberRecord | None = None  # its values, where an earlier fit chose them
    chosen: bool = False  # whether the choice went to its end
    hipad: Hipad | None = None

    def __post_init__(self) -> None:
        self.choice = PathSelector(self.factory)
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
        if not self.factory.plan.is_sparse or not self.choice.results:
            return None
        return self.choice.taken.stable

    def choose(self) -> Iterator[PathPoint]:
        """Follow the paths of lambda1 and lambda2, unless that was done before."""
        if not self.chosen:
            self.choice = PathSelector(self.factory)
            yield from self.choice.steps()
            self.chosen = True

    @property
    def held_out(self) -> FloatArray:
        """Decision values of labelled rows by models that did not see them; NaN without any."""
        n = self.factory.data.n_labelled
        if not self.choice.results:
            return np.full(n, np.nan)
        return self.choice.taken.scores[:n] - (self.cut or 0.0)

    def out_of_fold(self) -> FloatArray:
        """Return the same, by folds at its values where none were fitted yet."""
        self._hold_out()
        return self.held_out

    def fresh_scores(self) -> FloatArray:
        """Return the same for each repeat, at values that the row's own fold did not choose."""
        self._hold_out()
        n = self.factory.data.n_labelled
        if not self.choice.results:
            return np.full((1, n), np.nan)
        cut = self.cut if self.factory.plan.calibrate else None
        return self.choice.fresh_scores()[:, :n] - (cut or 0.0)

    def _hold_out(self) -> None:
        if not self.choice.results:
            plan = self.factory.plan.at(*self.values)
            self.choice = PathSelector(
                ProblemFactory(self.factory.data, plan, self.factory.weights)
            )
            for _ in self.choice.steps():
                pass

    @property
    def loss(self) -> float:
        """The mean log loss of held-out rows; NaN where there are none."""
        scores = self.held_out
        if not np.isfinite(scores).any():
            return float("nan")
        _, y, p = self.factory.data.labelled
        settings = self.factory.plan.rule_settings
        return float(p @ held_out_losses(scores[:, None], y, settings)[:, 0])

    @property
    def cut(self) -> float | None:
        """By how much held-out rows move its intercept; None without any, or at a given lambda1."""
        if self.given is not None:
            return self.given.cut
        automatic = bool(self.choice.results) and self.factory.plan.is_automatic
        return self.choice.taken.cut if automatic else None

    @property
    def model(self) -> LinearModel:
        """The fitted member in the user's units, as it predicts."""
        found, _, scale = self._fitted()
        coef, intercept = self.factory.data.to_user_units(
            found.features, scale.factor * found.w, scale.offset
        )
        return LinearModel(found.features, coef, intercept)

    @property
    def spread(self) -> float:
        """The root mean square of its decision values on the labelled rows."""
        _, scores, scale = self._fitted()
        n = self.factory.data.n_labelled
        p, values = self.factory.data.p[:n], scale.factor * scores[:n] + scale.offset
        return float(np.sqrt(p @ values**2 / p.sum()))

    def _fitted(self) -> tuple[Solution, FloatArray, Calibration]:
        """Return its optimum, the scores w'x of its rows, and scale and intercept."""
        assert self.hipad is not None
        data, found = self.factory.data, explained(self.hipad, "")
        scores = data.design.columns(found.features) @ found.w
        if np.max(np.abs(scores), initial=0.0) <= score_noise(data.design, found.features, found.w):
            scores = np.zeros_like(scores)  # last digits alone tell nobody apart
        return found, scores, self.calibration(scores, found.b)

    def present(self) -> PresentStep:
        """Return the model of the last step as it would predict, and its objective."""
        assert self.hipad is not None
        data, problem, at = self.factory.data, self.hipad.problem, self.hipad.present()
        w = np.zeros(data.design.shape[1])
        w[at.features] = at.w
        scores = data.design.dot(w)
        scale = self.calibration(scores, at.b)
        coef, intercept = data.to_user_units(at.features, scale.factor * at.w, scale.offset)
        alone = replace(problem, rules=()).with_parameters(lambda1=0.0)
        ridge = 0.5 * problem.lambda2 * float(at.w @ at.w)
        fitted = alone.objective(at.features, at.w, scores, at.b, np.zeros(0))
        smooth = problem.with_parameters(lambda1=0.0)
        without_l1 = smooth.objective(at.features, at.w, scores, at.b, at.u)
        has_l1 = self.hipad.history[-1].phase == 1
        l1 = problem.limits(at.features).cost(at.w) if has_l1 else 0.0
        parts = ObjectiveParts(fitted - ridge, ridge, without_l1 - fitted, l1)
        return PresentStep(LinearModel(at.features, coef, intercept), parts)

    def calibration(self, scores: FloatArray, b: float) -> Calibration:
        """Scale and intercept as it predicts."""
        plan, data = self.factory.plan, self.factory.data
        if not plan.calibrate:
            return Calibration(1.0, b)
        scale = class_means_at_one(scores, data.y, data.weights, b)
        if self.cut is not None:
            return replace(scale, offset=scale.offset - self.cut)
        if plan.balanced:
            return scale
        return least_loss_offset(scores, data.y, data.p, scale.factor, plan.loss)


class ModelAverage:
    """The candidates of one fit, or of the same fit without one of its rules."""

    def __init__(self, data: TrainingData, plan: FitSettings) -> None:
        self.data, self.plan = data, plan
        self._members: dict[RuleCandidate, Member] = {}
        self._at_records: ModelAverage | None = None

    def candidates(self, left_out: int | None = None) -> dict[RuleCandidate, float]:
        """Return candidates with their prior; one, as the plan has it, where no trust is learnt."""
        rules, trust = self.plan.rules, self.plan.rule_trust
        if self._held:
            return self._held_without(left_out)
        if learns_trust(self.plan) and self.has_evidence:
            trust = trust if isinstance(trust, float) else PRIOR_TRUST
            unlabelled = self.data.unlabelled is not None
            found = rule_candidates(
                rules,
                trust,
                left_out=left_out,
                unlabelled=unlabelled,
                settings=self.plan.rule_settings,
            )
            found = {one: prior for one, prior in found.items() if self._exists(one)}
            if found:
                return found
        return {
            RuleCandidate(tuple(0.0 if i == left_out else None for i in range(len(rules)))): 1.0
        }

    def held_at(self, records: tuple[MemberRecord, ...]) -> ModelAverage:
        """Return the same candidates at the shares and values of these records."""
        if self._held:
            return self
        if self._at_records is None:
            self._at_records = ModelAverage(self.data, replace(self.plan, rule_trust=records))
        return self._at_records

    def members(self, candidates: Sequence[RuleCandidate]) -> list[Member]:
        """Return what is known of these candidates so far."""
        return [self._member(candidate) for candidate in candidates]

    def probabilities(self, candidates: dict[RuleCandidate, float]) -> FloatArray:
        """Return the posterior of each candidate; the prior where no row was held out."""
        prior = np.array(list(candidates.values()))
        if not np.isclose(prior.sum(), 1.0, rtol=1e-12):  # shares that were learnt stay to the bit
            prior = prior / prior.sum()
        members = self.members(list(candidates))
        scores = np.column_stack([member.held_out for member in members])
        if len(members) == 1 or not np.isfinite(scores).any():
            return prior
        if all(member.given is not None for member in members):
            return prior  # as it was learnt before
        data = self.data
        losses = held_out_losses(scores, data.y, self.plan.rule_settings)
        evidence = np.column_stack([self._relevance(one) for one in candidates])
        losses = losses[:, :1] + evidence * (losses - losses[:, :1])
        groups = None if data.groups is None else data.groups[: data.y.size]
        found = posterior(losses, prior, data.p * data.total, data.weights, groups)
        rounded: FloatArray = found.round(DIGITS)
        return rounded / rounded.sum()

    def shares(self, candidates: dict[RuleCandidate, float], *, single: bool = False) -> FloatArray:
        """Return what each candidate has of the model; shares that an earlier fit learnt stay."""
        found = self.probabilities(candidates)
        least = self.plan.rule_settings.least_probability
        return found if self._held else shares_of(found, least, single=single)

    def _member(self, candidate: RuleCandidate) -> Member:
        if candidate not in self._members:
            weights, data = candidate.weights(self.data.total), self.data
            if candidate.on_rows:
                inferred = data.with_rule_labels(self.plan.rules, weights)
                assert inferred is not None  # else there is no such candidate
                data, weights = inferred, tuple(w and 0.0 for w in weights)
            factory, given = ProblemFactory(data, self.plan, weights), self._values.get(candidate)
            self._members[candidate] = Member(candidate, factory, given=given)
        return self._members[candidate]

    @cached_property
    def _held(self) -> dict[RuleCandidate, MemberRecord]:
        """Candidates whose share was learnt by an earlier fit, where the plan holds it."""
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
        """Return shares that were learnt before; candidates that differ in one rule are merged."""
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
        """Return whether rules label any row, where the candidate asks them to."""
        if not candidate.on_rows or candidate in self._members:
            return True
        weights = candidate.weights(self.data.total)
        return self.data.with_rule_labels(self.plan.rules, weights) is not None

    @cached_property
    def _plain(self) -> ProblemFactory:
        """The problems of the plan itself."""
        return ProblemFactory(self.data, self.plan)

    @property
    def has_evidence(self) -> bool:
        """Whether labelled rows lie near enough to the rules' typical rows to be evidence.

        Where none does, nothing can be weighed, and decision values of models with the rules and
        without them have no common scale there: the rules are taken as they are given.
        """
        return self._plain.in_sight

    def _relevance(self, candidate: RuleCandidate) -> FloatArray:
        """Return evidence of each row on the rules of a candidate; 0 without any."""
        free = [i for i, share in enumerate(candidate.shares) if share]
        reach = self._plain.reach[:, free].max(axis=1, initial=0.0)
        return relevance(reach, self.plan.rule_settings.near)


def learns_trust(plan: FitSettings) -> bool:
    """Return whether rules without a written weight are weighed by held-out rows."""
    return (
        plan.rule_trust is not None
        and plan.rule_weight == "auto"
        and plan.centered
        and plan.calibrate
        and any(rule.rule.worth is None for rule in plan.rules)
    )


def shares_of(probability: FloatArray, least: float, *, single: bool = False) -> FloatArray:
    """Return the share of each member in the model; those below `least` have none.

    `single` leaves all of it to the most probable one.

    >>> shares_of(np.array([0.01, 0.39, 0.6]), 0.02).round(3).tolist()
    [0.0, 0.394, 0.606]
    """
    kept = probability >= min(least, probability.max())
    if single:
        kept = np.arange(probability.size) == int(np.argmax(probability))
    shares: FloatArray = np.where(kept, probability, 0.0)
    return shares / shares.sum()


def averaged(parts: Sequence[tuple[float, LinearModel]]) -> LinearModel:
    """Return the average of models, each with its share.

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
    """Return the trust in one rule; None where it was not learnt."""
    if len(records) < 2 or any(record.weights[rule] is None for record in records):
        return None
    prior, after = (
        sum(getattr(record, name) for record in records if record.weights[rule])
        for name in ("prior", "posterior")
    )
    return RuleTrust(float(prior), float(after), rows)
