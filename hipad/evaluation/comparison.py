"""What changed from one model to another, and what a model with learnt trust is an average of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hipad.estimator.parameters import MemberRecord
from hipad.evaluation.intervals import (
    Estimate,
    bootstrap_counts,
    paired_interval,
    paired_p_value,
)
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray, count, listed, number, percent

# --------------------------------------------------------------------------------------------------
# What changed from one model to another: weights, features, answers.
#
# Everything is plain arrays: weights with one number per feature, scores that are above zero for
# the positive class.


@dataclass(frozen=True, eq=False)
class FeatureChanges:
    """Columns that got a weight, lost it, or changed its sign; strongest first."""

    gained: IntArray
    lost: IntArray
    turned: IntArray
    kept: int  # columns with a weight before and after


def feature_changes(before: FloatArray, after: FloatArray) -> FeatureChanges:
    """Compare the weights of two models, one number per feature.

    >>> found = feature_changes(np.array([1.0, 0.0, 2.0]), np.array([0.0, 3.0, -1.0]))
    >>> found.gained, found.lost, found.turned, found.kept
    (array([1]), array([0]), array([2]), 1)
    """
    had, has = before != 0, after != 0
    return FeatureChanges(
        gained=_strongest(~had & has, after),
        lost=_strongest(had & ~has, before),
        turned=_strongest(before * after < 0, after - before),
        kept=int((had & has).sum()),
    )


def largest_changes(before: FloatArray, after: FloatArray, most: int) -> IntArray:
    """Return columns whose weight changed, the largest change first, at most `most` of them."""
    return _strongest(before != after, after - before)[:most]


def _strongest(chosen: npt.NDArray[np.bool_], size: FloatArray) -> IntArray:
    columns = np.flatnonzero(chosen)
    return columns[np.argsort(-np.abs(size[columns]), kind="stable")]


def block_totals(
    weights: FloatArray, blocks: Mapping[str, npt.ArrayLike], rest: str = "no block"
) -> dict[str, float]:
    """Return the sum of the weights of each block, and of the features in none.

    >>> block_totals(np.array([1.0, 2.0, 4.0]), {"a": [0, 1], "b": [1]})
    {'a': 3.0, 'b': 2.0, 'no block': 4.0}
    """
    alone = np.ones(len(weights), dtype=bool)
    totals = {}
    for name, columns in blocks.items():
        members = np.asarray(columns)
        totals[name] = float(weights[members].sum())
        alone[members] = False
    return {**totals, rest: float(weights[alone].sum())}


@dataclass(frozen=True, eq=False)
class Flips:
    """Rows whose answer changed, those with the largest new scores first.

    `better` and `worse` are those of the rows that became right and wrong; without the truth
    both are empty.
    """

    rows: IntArray
    better: IntArray
    worse: IntArray
    total: int = 0  # rows in all
    patients: tuple[int, int, int] | None = None  # better on the whole, worse, and all of them

    @property
    def counted(self) -> tuple[int, int, int]:
        """Whoever became right, became wrong, and all: rows, or patients where rows have groups."""
        return self.patients or (len(self.better), len(self.worse), self.total)

    @property
    def interval(self) -> tuple[float, float]:
        """The changes of the share of right answers that are plausible, at 95 %.

        Of several rows of a patient, the patient became better or worse on the whole.
        """
        return paired_interval(*self.counted)

    @property
    def is_fall(self) -> bool:
        """Whether more answers became wrong than chance explains: zero is above the interval."""
        return self.interval[1] < 0

    @property
    def p_value(self) -> float:
        """How likely so uneven a change is by chance alone, by McNemar's exact test."""
        return paired_p_value(*self.counted[:2])


def flips(
    before: FloatArray,
    after: FloatArray,
    positive: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> Flips:
    """Compare the scores of two models on the same rows; `positive` is the truth, where known.

    Rows with the same value in `groups` are of one patient.

    >>> found = flips(np.array([-1.0, 2.0, 1.0]), np.array([0.5, 3.0, -2.0]), [True, True, True])
    >>> found.rows, found.better, found.worse
    (array([2, 0]), array([0]), array([2]))
    """
    rows = _strongest((before > 0) != (after > 0), after)
    if positive is None:
        return Flips(rows, rows[:0], rows[:0], len(after))
    right = (after[rows] > 0) == np.asarray(positive, dtype=bool)[rows]
    better, worse = rows[right], rows[~right]
    if groups is None:
        return Flips(rows, better, worse, len(after))
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    change = np.zeros(len(after))
    change[better], change[worse] = 1.0, -1.0
    net = np.bincount(codes, change)
    patients = int((net > 0).sum()), int((net < 0).sum()), net.size
    return Flips(rows, better, worse, len(after), patients)


# --------------------------------------------------------------------------------------------------
# Two models on the same rows: the difference of their figures.
#
# Rows are drawn with replacement, patients whole, and both models are judged by the same draw: what
# makes a row hard for both does not count. The difference of accuracies has McNemar's exact test.


DRAWS: Final = 1000


@dataclass(frozen=True)
class Difference:
    """A metric of two models on the same rows, and by how much the second one is larger.

    `p_value` is McNemar's, of the accuracy alone.
    """

    name: str
    first: Estimate
    second: Estimate
    difference: Estimate
    p_value: float | None = None


def compare_rows(
    first: ScoredRows,
    second: ScoredRows,
    names: Sequence[str] = ("accuracy", "balanced_accuracy", "roc_auc"),
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    random_state: int = 0,
) -> tuple[Difference, ...]:
    """Compare two models on the same rows, in the same order.

    Parameters
    ----------
    first, second : ScoredRows
        What each model says of the rows; classes and groups must be the same.
    names : sequence of str
        Metrics of `METRICS`.
    draws : int, default=1000
        Bootstrap samples.
    level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Which samples.

    Examples
    --------
    >>> truth = np.arange(40) % 2 == 0
    >>> good, poor = np.where(truth, 1.0, -1.0), np.where(np.arange(40) < 20, 1.0, -1.0)
    >>> found, = compare_rows(ScoredRows(truth, poor), ScoredRows(truth, good), ["accuracy"])
    >>> found.difference.value, found.difference.low > 0, found.p_value < 0.001
    (0.5, True, True)
    """
    same = np.array_equal(first.positive, second.positive)
    if not same or (first.groups is None) != (second.groups is None):
        raise DataError("expected two models on the same rows, got rows of other classes or groups")
    if first.groups is not None and not np.array_equal(first.groups, np.asarray(second.groups)):
        raise DataError("expected two models on the same rows, got rows of other groups")
    rng = np.random.default_rng(random_state)
    counts = bootstrap_counts(len(first), first.groups, draws, rng).astype(np.intp)
    taken = [np.repeat(np.arange(len(first)), own) for own in counts]
    found = []
    for name in names:
        before, after = (rows.measure(name, level=level) for rows in (first, second))
        drawn = [_value(second, own, name) - _value(first, own, name) for own in taken]
        apart = np.array([one for one in drawn if math.isfinite(one)])
        low, high = -math.inf, math.inf
        if apart.size:
            low, high = np.quantile(apart, [(1 - level) / 2, (1 + level) / 2]).tolist()
        difference = Estimate(after.value - before.value, low, high)
        p_value = _mcnemar(first, second) if name == "accuracy" else None
        found.append(Difference(name, before, after, difference, p_value))
    return tuple(found)


def _value(rows: ScoredRows, taken: IntArray, name: str) -> float:
    return replace(rows.take(taken), groups=None).measure(name).value


def _mcnemar(first: ScoredRows, second: ScoredRows) -> float:
    """Of rows, or of patients who became better or worse on the whole."""
    change = (second.predicted == second.positive).astype(float) - (
        first.predicted == first.positive
    )
    if first.groups is not None:
        codes = np.unique(first.groups, return_inverse=True)[1]
        change = np.bincount(codes, change).astype(float)
    return paired_p_value(int((change > 0).sum()), int((change < 0).sum()))


# --------------------------------------------------------------------------------------------------
# What a model with learnt trust is an average of, in words and figures for people.


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
        text = f"{percent(self.posterior, 0)} (before: {percent(self.prior, 0)}), {loss}"
        part = "left out" if self.features is None else count(self.features, "feature")
        solved = f", {self.certificate}" if self.certificate else ""
        return f"{self.rules}: {text}, {part}{solved}"


def averaged_candidates(clf: Any) -> list[AveragedCandidate]:
    """The candidates of a fitted classifier, as it weighs them; none where no trust is learnt."""
    labels = [record.label for record in clf.rule_report_] if clf.members_ else []
    return [_averaged_candidate(member, labels) for member in clf.members_]


def learnt_weight(members: Sequence[MemberRecord], rule: int) -> float | None:
    """Return for how many rows a rule counts on average over the candidates; None if that is not
    learnt.

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
    """Return which rules count for how many rows.

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
        text = f"without {listed(out)}" if written else "no rules"
    elif out:
        text = f"without {listed(out)}, the others at {at} patients each"
    else:
        text = f"{'the others' if written else 'all rules'} at {at} patients each"
    return f"{text}, {listed(written)} as written" if written else text


def _averaged_candidate(member: MemberRecord, labels: Sequence[str]) -> AveragedCandidate:
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
