"""Why one row gets its answer: contributions, the smallest change, like rows, unusual values.

    told = explain_row(clf, x, X_train, blocks=data.blocks)
    told.score == told.base + sum of told.contributions        to the last digits
    smallest_change(clf, x, columns, X_train).changes

The model is linear, so all of this is exact. Everything is in the user's units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray

NO_BLOCK: Final = "no block"
MOST_DOUBLINGS: Final = 200
BISECTIONS: Final = 200
BEYOND: Final = 1e-9  # of the score: how far a change towards the positive class goes past it


class Contribution(NamedTuple):
    """What a feature adds to the score: its weight times how far its value lies from usual."""

    column: int
    value: float
    usual: float
    weight: float
    amount: float


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """One row as the model sees it; above zero is towards the positive class.

    `score` is `base`, that of a row with usual values, and the amounts of all contributions.
    `blocks` sums them by block; a feature of several blocks is shared evenly between these.
    `distance` is how far the row lies from the boundary, in standard deviations of the training
    rows, along the shortest way.
    """

    score: float
    base: float
    contributions: tuple[Contribution, ...]
    blocks: dict[str, float]
    distance: float


def explain_row(
    clf: Any,
    x: Any,
    X_train: Any,
    *,
    blocks: Mapping[str, npt.ArrayLike] | None = None,
    sign: float = 1.0,
    boundary: float = 0.0,
) -> RowExplanation:
    """Divide the score of a row into what each feature and each block adds.

    Parameters
    ----------
    clf : fitted HIPADClassifier
        Of two classes.
    x : array or sparse matrix
        One row, in the columns of the fit.
    X_train : array or sparse matrix
        The training rows: their means are the usual values.
    blocks : dict, default=None
        Name to columns.
    sign : float, default=1.0
        -1 where the first class of the classifier is the positive one (`PositiveClassView.sign`).
    boundary : float, default=0.0
        The score at which the answer changes, as `sign` counts.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    >>> told = explain_row(HIPADClassifier(lambda1=0.01).fit(X, y), X[3], X)
    >>> one, = told.contributions
    >>> one.value, one.usual, bool(abs(told.base + one.amount - told.score) < 1e-12)
    (4.0, 2.0, True)
    """
    kept, weights, intercept = _linear(clf, sign)
    values, (usual, deviation, _, _) = _cells(x, kept), _moments(X_train, kept)
    amounts = weights * (values - usual)
    base = math.fsum([intercept, *(weights * usual)])
    score = math.fsum([intercept, *(weights * values)])
    order = np.argsort(-np.abs(amounts), kind="stable")
    told = tuple(
        Contribution(
            int(kept[j]), float(values[j]), float(usual[j]), float(weights[j]), float(amounts[j])
        )
        for j in order
    )
    reach = float(np.linalg.norm(weights * deviation))
    distance = (score - boundary) / reach if reach > 0 else math.inf
    return RowExplanation(score, base, told, _by_block(kept, amounts, blocks or {}), distance)


def _by_block(
    kept: IntArray, amounts: FloatArray, blocks: Mapping[str, npt.ArrayLike]
) -> dict[str, float]:
    inside = {name: np.isin(kept, np.asarray(columns)) for name, columns in blocks.items()}
    times = np.sum(list(inside.values()), axis=0) if inside else np.zeros(kept.size)
    shared = amounts / np.maximum(times, 1)
    found = {name: math.fsum(shared[own]) for name, own in inside.items()}
    rest = amounts[times == 0]
    return {**found, NO_BLOCK: math.fsum(rest)} if rest.size else found


# --------------------------------------------------------------------------------------------------
# The smallest change that changes the answer.
#
#     minimise sum_j (delta_j / s_j)^2
#     subject to w'(x + delta) + b = target,  l <= x + delta <= u
#
# over some columns, with s the deviations of the training rows and l, u their range. At the optimum
# delta_j = clip(t w_j s_j^2), and the score rises with t: one number is found by bisection.


@dataclass(frozen=True)
class SmallestChange:
    """New values of some columns that change the answer, the largest change first.

    Where no values within the range of the training rows do, `flips` is False and `changes` go as
    far towards it as they can. `size` counts in standard deviations.
    """

    flips: bool
    score: float
    size: float
    changes: tuple[tuple[int, float, float], ...]  # column, value, new value


def smallest_change(
    clf: Any,
    x: Any,
    columns: npt.ArrayLike,
    X_train: Any,
    *,
    sign: float = 1.0,
    boundary: float = 0.0,
) -> SmallestChange:
    """The least change of some columns, within the range of the training rows, that flips a row.

    Parameters are those of `explain_row`; `columns` are the ones that may change, such as a block.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    >>> found = smallest_change(HIPADClassifier(lambda1=0.01).fit(X, y), X[3], [0], X)
    >>> found.flips, [(column, round(to, 3)) for column, _, to in found.changes]
    (True, [(0, 2.0)])
    """
    kept, weights, intercept = _linear(clf, sign)
    every = _cells(x, kept)
    score = math.fsum([intercept, *(weights * every)])
    free = np.flatnonzero(np.isin(kept, np.asarray(columns, dtype=np.intp)))
    w, values = weights[free], every[free]
    _, deviation, low, high = _moments(X_train, kept[free])
    low, high = np.minimum(low, values), np.maximum(high, values)  # the row itself is possible
    way = w * deviation**2
    up = score <= boundary
    # past the boundary by a hair: at it the answer is the negative class
    target = (boundary - score) + (BEYOND if up else 0.0) * max(1.0, abs(boundary - score))

    def moved(t: float) -> FloatArray:
        found: FloatArray = np.clip(t * way, low - values, high - values)
        return found

    direction, t = (1.0 if up else -1.0), 1.0
    for _ in range(MOST_DOUBLINGS):
        if direction * float(w @ moved(direction * t)) >= abs(target):
            break
        t *= 2.0
    start = 0.0
    delta = moved(direction * t)
    if direction * float(w @ delta) >= abs(target):
        for _ in range(BISECTIONS):
            middle = 0.5 * (start + t)
            if direction * float(w @ moved(direction * middle)) >= abs(target):
                t = middle
            else:
                start = middle
        delta = moved(direction * t)
    new = math.fsum([score, *(w * delta)])
    sizes = np.abs(delta) / np.where(deviation > 0, deviation, 1.0)
    order = np.argsort(-sizes, kind="stable")
    changes = tuple(
        (int(kept[free[j]]), float(values[j]), float(values[j] + delta[j]))
        for j in order
        if delta[j]
    )
    flips = new > boundary if up else new <= boundary + BEYOND * max(1.0, abs(boundary))
    return SmallestChange(bool(flips), new, float(np.linalg.norm(sizes)), changes)


# --------------------------------------------------------------------------------------------------
# Like rows, and values that no training row has.


class NearRow(NamedTuple):
    """A training row, and how far it is, in units of the score."""

    row: int
    distance: float


def nearest_rows(clf: Any, x: Any, X_train: Any, count: int = 5) -> tuple[NearRow, ...]:
    """The training rows that look most alike to the model: by what each feature adds to the score.

    Features without a weight do not matter.
    """
    kept, weights, _ = _linear(clf, 1.0)
    part = X_train[:, kept]
    part = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=float)
    apart = np.linalg.norm((part - _cells(x, kept)) * weights, axis=1)
    order = np.argsort(apart, kind="stable")[:count]
    return tuple(NearRow(int(row), float(apart[row])) for row in order)


class UnusualValue(NamedTuple):
    """A value outside the range of the training rows."""

    column: int
    value: float
    low: float
    high: float


def outside_range(clf: Any, x: Any, X_train: Any) -> tuple[UnusualValue, ...]:
    """The features of the model whose value no training row comes up to, heaviest first."""
    kept, weights, _ = _linear(clf, 1.0)
    values, (_, _, low, high) = _cells(x, kept), _moments(X_train, kept)
    beyond = np.maximum(low - values, values - high)
    over = np.flatnonzero(beyond > 0)
    order = over[np.argsort(-np.abs(weights[over]) * beyond[over], kind="stable")]
    return tuple(
        UnusualValue(int(kept[j]), float(values[j]), float(low[j]), float(high[j])) for j in order
    )


def _linear(clf: Any, sign: float) -> tuple[IntArray, FloatArray, float]:
    """Columns with a weight, their weights, and the intercept, towards the positive class."""
    if len(clf.classes_) != 2:
        raise DataError(
            f"expected a model of two classes, got {len(clf.classes_)}: take one of class_models_"
        )
    kept: IntArray = np.asarray(clf.support_)
    return kept, sign * clf.coef_[0, kept], sign * float(clf.intercept_[0])


def _cells(x: Any, columns: IntArray) -> FloatArray:
    """Some values of one row."""
    row = x.iloc[0].to_numpy() if hasattr(x, "iloc") and getattr(x, "ndim", 1) == 2 else x
    row = row.toarray() if sparse.issparse(row) else row
    found: FloatArray = np.asarray(row, dtype=float).reshape(-1)[columns]
    if not np.isfinite(found).all():
        raise DataError("expected finite values in the row, got NaN or infinity: fill the gaps")
    return found


def _moments(
    X_train: Any, columns: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean, deviation, least and largest value of some columns."""
    part = X_train.iloc[:, columns].to_numpy() if hasattr(X_train, "iloc") else X_train[:, columns]
    part = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=float)
    return part.mean(axis=0), part.std(axis=0), part.min(axis=0), part.max(axis=0)
