"""Which samples to label next: a stratified sample of decision values, never the same one twice.

    label_next(clf, X_unlabelled, count=10)

Rows near the border between the classes are the usual advice (uncertainty sampling). With few
labels the border itself is hardly known, and rows near it are those whose label is mostly chance:
on ksvm-s that order does worse than a random one. So the list takes both predicted classes in turn,
and of each class rows that are spread over the whole range of decision values: the surest, the most
doubtful, then those between. It is a stratified sample, of which every beginning is one as well;
both classes are seen alike however rare one of them is. `benchmarks order` compares it.

Of rows that look alike to the model one is enough: what lies near a chosen row is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.special import erfc

from hipad.exceptions import DataError
from hipad.utils import BoolArray, FloatArray, IntArray

BLUR: Final = 0.25  # decision value that is uncertain where all candidates agree
DOUBTFUL: Final = 0.3  # from here on a row is near the border
APART: Final = 0.1  # of the spread of all rows: nearer ones are taken as the same
MOST_LOOKED_AT: Final = 20  # times the rows asked for: how far down the list near ones are skipped


@dataclass(frozen=True)
class LabelSuggestion:
    """A row to label: its place in X, how doubtful its class is (0 to 1), and why.

    `decision_value` is that of the classifier, above zero for its second class.
    """

    row: int
    score: float
    decision_value: float
    reason: str


def label_next(clf: Any, X: Any, count: int = 10) -> list[LabelSuggestion]:
    """Return the rows of X whose label would tell most, the first one first.

    Parameters
    ----------
    clf : fitted HIPADClassifier
        The candidates that it averages are known after a fit, not to a model read from a file:
        then nearness to zero alone decides.
    X : array or sparse matrix
        Rows without a label, in the columns of the fit.
    count : int, default=10
        How many rows to give, at most.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> clf = HIPADClassifier(lambda1=0.01).fit(X, [0, 0, 1, 1])
    >>> [one.row for one in label_next(clf, np.array([[-3.0], [0.1], [2.5]]), count=2)]
    [0, 2]
    """
    if count < 1:
        raise DataError(f"expected to list 1 row or more, got {count}: ask for more")
    if not X.shape[0]:
        return []
    scores = np.asarray(clf.decision_function(X), dtype=np.float64)
    views = candidate_scores(clf, X)
    spread = candidate_spread(scores, views)
    doubt = doubts(scores, spread)
    chosen = spread_out(stratified_order(scores), contributions(clf, X), count)
    return [
        LabelSuggestion(
            row=int(row),
            score=float(doubt[row]),
            decision_value=float(scores[row]),
            reason=_reason(float(doubt[row]), [float(own[row]) for _, own in views]),
        )
        for row in chosen
    ]


def stratified_order(scores: FloatArray) -> list[int]:
    """Return all rows, both sides of zero in turn, each spread over its decision values.

    The side with fewer rows is first.

    >>> stratified_order(np.array([-3.0, -2.0, -1.0, 0.5, 4.0]))
    [4, 0, 3, 2, 1]
    """
    sides = []
    for side in (np.flatnonzero(scores > 0), np.flatnonzero(scores <= 0)):
        ranked = side[np.lexsort((side, np.abs(scores[side])))]
        sides.append(ranked[spaced_ranks(side.size)])
    fewer, more = sorted(sides, key=len)
    paired = np.column_stack([fewer, more[: fewer.size]]).ravel()
    return [*paired.tolist(), *more[fewer.size :].tolist()]


def spaced_ranks(count: int) -> IntArray:
    """Return the ranks 0 to count - 1, the last, the first, then the middle of each gap.

    >>> spaced_ranks(9).tolist()
    [8, 0, 4, 2, 6, 1, 3, 5, 7]
    """
    ranks = [count - 1, 0][: max(count, 0)]
    gaps = [(0, count - 1)]
    while len(ranks) < count:
        middles = [(low, (low + high) // 2, high) for low, high in gaps if high - low > 1]
        ranks += [middle for _, middle, _ in middles]
        gaps = [gap for low, middle, high in middles for gap in ((low, middle), (middle, high))]
    return np.array(ranks, dtype=np.intp)


def doubts(scores: FloatArray, spread: FloatArray) -> FloatArray:
    """Return how doubtful the class of each row is, from 0 to 1.

    As if decision values were normal with the spread of the candidates, and some blur: the chance
    that the other side of zero is meant, twice.

    >>> doubts(np.array([0.0, 0.5, 0.5]), np.array([0.0, 0.0, 1.0])).round(2).tolist()
    [1.0, 0.05, 0.63]
    """
    size = np.abs(scores) / np.hypot(BLUR, spread)
    found: FloatArray = erfc(size / np.sqrt(2.0))
    return found


def candidate_scores(clf: Any, X: Any) -> list[tuple[float, FloatArray]]:
    """Return decision values by each candidate with its share; empty where they are not known."""
    model = vars(clf).get("_model")
    parts = () if model is None else model.parts
    found = []
    for share, member in parts:
        own = member.model
        values = np.asarray(X[:, own.features] @ own.coef).ravel() + own.intercept
        found.append((float(share), values))
    return found if len(found) > 1 else []


def candidate_spread(scores: FloatArray, views: list[tuple[float, FloatArray]]) -> FloatArray:
    """Return the deviation of the candidates' decision values, by their shares."""
    squares = np.zeros(scores.size)
    for share, own in views:
        squares += share * (own - scores) ** 2
    spread: FloatArray = np.sqrt(squares)
    return spread


def contributions(clf: Any, X: Any) -> FloatArray:
    """Return what each feature of the model adds to the decision value of each row."""
    part = X[:, clf.support_]
    part = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=np.float64)
    values: FloatArray = part * clf.coef_[0, clf.support_]
    return values


def spread_out(order: Any, values: FloatArray, count: int) -> list[int]:
    """Return the first rows of an order that are apart; then the skipped ones, until there are
    enough.

    >>> rows = np.array([[0.0], [0.001], [1.0]])
    >>> spread_out([0, 1, 2], rows, 2), spread_out([0, 1, 2], rows, 3)
    ([0, 2], [0, 2, 1])
    """
    near = APART * float(np.sqrt(values.var(axis=0).sum())) if values.size else 0.0
    chosen: list[int] = []
    skipped: list[int] = []
    for row in list(order)[: MOST_LOOKED_AT * count]:
        if len(chosen) == count:
            break
        (skipped if _is_near(values, row, chosen, near) else chosen).append(int(row))
    return (chosen + skipped)[:count]


def _is_near(values: FloatArray, row: int, chosen: list[int], near: float) -> bool:
    if not chosen:
        return False
    apart: BoolArray = np.linalg.norm(values[chosen] - values[row], axis=1) > near
    return not apart.all()


def _reason(doubt: float, views: list[float]) -> str:
    if views and min(views) < 0 < max(views):
        return "models with the rules, without them or at other weights disagree on its class"
    if doubt >= DOUBTFUL:
        return "near the border between the classes"
    return "the model is sure of its class: its label shows whether rightly"
