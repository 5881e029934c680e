"""What a model with learnt trust is an average of, in words and figures for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hipad.estimator.trust.member_record import MemberRecord
from hipad.wording import count, listed, number, percent


@dataclass(frozen=True)
class AveragedCandidate:
    """One way to weigh the rules: what it counts, how it does on held-out rows, what it has of it.

    `loss` is NaN where nothing was held out, `features` None where it has no part in the model.
    """

    rules: str
    loss: float
    prior: float
    posterior: float
    share: float
    features: int | None
    certificate: str

    def __str__(self) -> str:
        loss = "no row held out" if math.isnan(self.loss) else f"held-out log loss {self.loss:.3f}"
        told = f"{percent(self.posterior, 0)} (before: {percent(self.prior, 0)}), {loss}"
        part = "left out" if self.features is None else count(self.features, "feature")
        solved = f", {self.certificate}" if self.certificate else ""
        return f"{self.rules}: {told}, {part}{solved}"


def averaged_candidates(clf: Any) -> list[AveragedCandidate]:
    """The candidates of a fitted classifier, as it weighs them; none where no trust is learnt."""
    labels = [record.label for record in clf.rule_report_] if clf.members_ else []
    return [_told(member, labels) for member in clf.members_]


def learnt_weight(members: Sequence[MemberRecord], rule: int) -> float | None:
    """For how many rows a rule counts on average over the candidates; None if that is not learnt.

    >>> def one(weight, share):
    ...     return MemberRecord((weight,), 0.5, share, share, 0.3, 0.1, 1.0, 2, None)
    >>> learnt_weight([one(0.0, 0.25), one(8.0, 0.75)], 0)
    6.0
    """
    weights = [member.weights[rule] for member in members if rule < len(member.weights)]
    if not weights or any(weight is None for weight in weights):
        return None
    return float(sum(m.share * w for m, w in zip(members, weights, strict=True) if w is not None))


def weighing_words(weights: Sequence[float | None], labels: Sequence[str]) -> str:
    """Which rules count for how many rows.

    >>> weighing_words((0.0, 0.0), ("a", "b")), weighing_words((2.4, 2.4), ("a", "b"))
    ('no rules', 'all rules at 2.4 patients each')
    >>> weighing_words((0.0, 8.0), ("a", "b")), weighing_words((0.0, None), ("a", "b"))
    ('without a, the others at 8 patients each', 'without a, b as written')
    """
    free = {name: w for name, w in zip(labels, weights, strict=True) if w is not None}
    written = [name for name, w in zip(labels, weights, strict=True) if w is None]
    out = [name for name, weight in free.items() if not weight]
    sizes = sorted({weight for weight in free.values() if weight})
    at = " or ".join(number(size, 3) for size in sizes)
    if not sizes:
        told = f"without {listed(out)}" if written else "no rules"
    elif out:
        told = f"without {listed(out)}, the others at {at} patients each"
    else:
        told = f"{'the others' if written else 'all rules'} at {at} patients each"
    return f"{told}, {listed(written)} as written" if written else told


def _told(member: MemberRecord, labels: Sequence[str]) -> AveragedCandidate:
    words = weighing_words(member.weights, labels)
    if member.on_rows:
        words += ", spread over the unlabelled rows that they cover"
    used = member.share > 0
    certificate = member.certificate
    return AveragedCandidate(
        rules=words,
        loss=member.loss,
        prior=member.prior,
        posterior=member.posterior,
        share=member.share,
        features=member.support_size if used else None,
        certificate=str(certificate.status) if used and certificate is not None else "",
    )
