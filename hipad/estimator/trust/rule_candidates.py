"""The candidates between which labelled rows decide: no rules, or rules at one of a few weights.

A rule without a written weight may be of use, of no use, or wrong, and nobody knows beforehand for
how many labelled rows it should count. So several models are fitted, each with a lambda1 and
lambda2 of its own, and averaged by how well each predicts rows that it did not see (posterior.py):

    without rules                        prior 1 - trust
    all rules, at each of `SHARES`       half of the trust, in equal parts
    all but one, at the larger of them   the other half, for two to `MOST_SINGLE` rules: one bad
                                         rule must not cost the good ones

A weight is a share of all labelled rows. Shares and candidates were explored on six real tables
(one with two sets of rules) and six simulated families together, a few draws each, with right,
irrelevant and flipped rules at 4 to 150 labelled rows a class; no set was left out. A larger share
(2.0) gained nothing where rules were right and cost two points where they were wrong. Candidates
with one rule left out gained 1.6, 0.4 and 0.9 points at 4, 8 and 16 a class where one of the rules
was flipped (seven sets, four draws), and cost nothing where all were right. A written weight is the
same in all candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hipad.rules import CompiledRule

SHARES: Final = (0.15, 0.5)  # weights of a rule, as shares of all labelled rows
MOST_SINGLE: Final = 4  # rules up to which each is also left out by itself


@dataclass(frozen=True)
class RuleCandidate:
    """One way to count the rules: `shares` of all rows, one for each rule, and its prior.

    None stands for a weight that the user wrote.
    """

    shares: tuple[float | None, ...]
    prior: float

    def weights(self, total: float) -> tuple[float | None, ...]:
        """For how many of `total` rows each rule counts."""
        return tuple(None if share is None else share * total for share in self.shares)

    def counts(self, rule: int) -> bool:
        """Whether it counts this rule."""
        return self.shares[rule] != 0.0


def rule_candidates(rules: Sequence[CompiledRule], prior_trust: float) -> tuple[RuleCandidate, ...]:
    """All candidates, the one without rules first; none where every weight is written."""
    free = [i for i, rule in enumerate(rules) if rule.rule.worth is None]
    if not free:
        return ()
    single = free if 1 < len(free) <= MOST_SINGLE else []
    whole = prior_trust / 2 if single else prior_trust
    return (
        RuleCandidate(_shares(rules, 0.0), 1.0 - prior_trust),
        *(RuleCandidate(_shares(rules, share), whole / len(SHARES)) for share in SHARES),
        *(
            RuleCandidate(_shares(rules, max(SHARES), left_out=i), prior_trust / 2 / len(single))
            for i in single
        ),
    )


def _shares(
    rules: Sequence[CompiledRule], share: float, left_out: int | None = None
) -> tuple[float | None, ...]:
    return tuple(
        None if rule.rule.worth is not None else 0.0 if i == left_out else share
        for i, rule in enumerate(rules)
    )
