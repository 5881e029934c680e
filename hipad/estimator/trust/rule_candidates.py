"""The candidates between which labelled rows decide: no rules, or rules at one of a few weights.

A rule without a written weight may be of use, of no use, or wrong, and nobody knows beforehand for
how many labelled rows it should count. So several models are fitted, each with a lambda1 and
lambda2 of its own, and averaged by how well each predicts rows that it did not see (posterior.py):

    without rules                        prior 1 - trust
    all rules, at each of `SHARES`       the trust, in equal parts
    all but one, at `LEFT_OUT_SHARE`     for two to `MOST_SINGLE` rules: one bad rule must not cost
                                         the good ones

A weight is a share of all labelled rows. Where there are rows without a label, a rule's weight can
also be spread over those that it covers, with its outcome for their label (`ROW_SHARE`). A written
weight is the same in all candidates.

None of these numbers is tuned: on fifteen tables and families, right, irrelevant and flipped rules,
4, 8 and 16 labelled rows a class, every variant that was tried (two of the three shares, priors of
0.4 and 0.6, none left out, wider and narrower bounds) ended within half a point of this one, and so
did the best of them chosen with the table left out on which it was judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hipad.rules import CompiledRule

SHARES: Final = (0.15, 0.5, 1.5)  # weights of a rule, as shares of all labelled rows
LEFT_OUT_SHARE: Final = 0.5  # weight of the others where one rule is left out
ROW_SHARE: Final = 4.0  # the same, spread over the unlabelled rows that it covers
MOST_SINGLE: Final = 4  # rules up to which each is also left out by itself


@dataclass(frozen=True)
class RuleCandidate:
    """One way to count the rules: `shares` of all labelled rows, one for each rule.

    None stands for a weight that the user wrote. `on_rows` spreads the weights over the unlabelled
    rows that the rules cover.
    """

    shares: tuple[float | None, ...]
    on_rows: bool = False

    def weights(self, total: float) -> tuple[float | None, ...]:
        """For how many of `total` rows each rule counts."""
        return tuple(None if share is None else share * total for share in self.shares)


def rule_candidates(
    rules: Sequence[CompiledRule],
    prior_trust: float,
    *,
    left_out: int | None = None,
    unlabelled: bool = False,
) -> dict[RuleCandidate, float]:
    """All candidates with their prior, the one without rules first.

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

    single = free if 1 < len(free) <= MOST_SINGLE else []
    whole = [RuleCandidate(shares(share)) for share in SHARES]
    if unlabelled:
        whole.append(RuleCandidate(shares(ROW_SHARE), on_rows=True))
    whole += [RuleCandidate(shares(LEFT_OUT_SHARE, without=i)) for i in single]
    return {
        RuleCandidate(shares(0.0)): 1.0 - prior_trust,
        **dict.fromkeys(whole, prior_trust / len(whole)),
    }
