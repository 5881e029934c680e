"""One model out of several candidates: each fitted for itself, all averaged by their posterior.

Every member has decision values with the average rows of both classes at -1 and +1, so their
average is such a model again: linear, in the user's units, with the features of all members. Those
of hardly any probability are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from hipad.arrays import FloatArray
from hipad.estimator.choosing.choice import AutoChoice
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.parameters import Plan
from hipad.estimator.training import TrainingData
from hipad.estimator.trust.posterior import held_out_losses, posterior, relevance
from hipad.estimator.trust.rule_candidates import RuleCandidate, rule_candidates
from hipad.rules import RuleTrust
from hipad.solver import Certificate, Hipad

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

    `share` is its part in the model.
    """

    candidate: RuleCandidate
    posing: Posing
    choice: AutoChoice = field(init=False)
    hipad: Hipad | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        self.choice = AutoChoice(self.posing)

    @property
    def held_out(self) -> FloatArray:
        """Decision values of rows that its models did not see; NaN where there are none."""
        data = self.posing.data
        if not self.choice.opinions:
            return np.full(data.y.size, np.nan)
        taken = self.choice.taken
        return taken.scores - self.cut

    @property
    def relevance(self) -> FloatArray:
        """How much each row may say on the rules that are weighed here; 0 without any."""
        free = [i for i, share in enumerate(self.candidate.shares) if share]
        reach = self.posing.reach[:, free]
        return relevance(reach.max(axis=1, initial=0.0))

    @property
    def loss(self) -> float:
        """The mean log loss of held-out rows; NaN where there are none."""
        data, scores = self.posing.data, self.held_out
        if not np.isfinite(scores).any():
            return float("nan")
        return float(data.p @ held_out_losses(scores[:, None], data.y)[:, 0])

    @property
    def cut(self) -> float:
        """By how much held-out rows move its intercept; not at a lambda1 that was given."""
        automatic = bool(self.choice.opinions) and self.posing.plan.is_automatic
        return self.choice.taken.cut if automatic else 0.0


@dataclass(frozen=True)
class MemberRecord:
    """A candidate of a fitted model: its rule weights in rows, probabilities and certificate.

    `loss` is the mean log loss of held-out rows; NaN where none was held out.
    """

    weights: tuple[float | None, ...]
    prior: float
    posterior: float
    share: float
    loss: float
    lambda1: float
    lambda2: float
    support_size: int
    certificate: Certificate | None


def learns_trust(plan: Plan) -> bool:
    """Whether rules without a written weight are weighed by held-out rows."""
    return (
        plan.rule_trust is not None
        and plan.patients == "auto"
        and plan.anchored
        and plan.calibrate
        and any(rule.rule.worth is None for rule in plan.rules)
    )


def members_of(data: TrainingData, plan: Plan) -> list[Member]:
    """The candidates of a fit; one, as the plan has it, where no trust is learnt."""
    if not learns_trust(plan):
        alone = RuleCandidate((None,) * len(plan.rules), 1.0)
        return [Member(alone, Posing(data, plan))]
    assert plan.rule_trust is not None
    return [
        Member(candidate, Posing(data, plan, candidate.weights(data.total)))
        for candidate in rule_candidates(plan.rules, plan.rule_trust)
    ]


def probabilities(members: Sequence[Member]) -> FloatArray:
    """The posterior of each member; the prior where no row was held out."""
    prior = np.array([member.candidate.prior for member in members])
    prior = prior / prior.sum()
    data = members[0].posing.data
    scores = np.column_stack([member.held_out for member in members])
    if len(members) == 1 or not np.isfinite(scores).any():
        return prior
    losses = held_out_losses(scores, data.y)
    heard = np.column_stack([member.relevance for member in members])
    losses = losses[:, :1] + heard * (losses - losses[:, :1])
    found = posterior(losses, prior, data.p * data.total, counts=data.weights)
    rounded: FloatArray = found.round(DIGITS)
    return rounded / rounded.sum()


def shares_of(probability: FloatArray, *, single: bool = False) -> FloatArray:
    """What each member has of the model; `single` leaves all of it to the most probable one.

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
