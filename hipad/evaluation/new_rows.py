"""A kept model on other rows: columns by name, recalibration, what it can answer and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.stats import chi2, ks_2samp

from hipad.estimator.calibration import CalibrationMap
from hipad.estimator.fit import LazyCalibration
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray, some

# --------------------------------------------------------------------------------------------------
# A kept model on new rows: columns by name, values it has not seen, recalibration as a new model.
#
#     aligned = align_columns(X_new, names_new, clf)
#     aligned.missing, aligned.unknown
#     clf_here, told = recalibrated(clf, aligned.X, y_new)
#
# The model itself is never changed.


# --------------------------------------------------------------------------------------------------
# Columns by name.


@dataclass(frozen=True, eq=False)
class AlignedRows:
    """New rows in the columns of a model.

    `missing` are features of the model that the table lacks and that have a weight; `unneeded` are
    those it lacks that have none, which are filled with zeros; `unknown` are columns of the table
    that the model does not have. Columns that are missing hold NaN: fill them, or ask for them.
    """

    X: Any
    missing: tuple[str, ...]
    unneeded: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the model can be applied."""
        return not self.missing


def align_columns(X: Any, names: Sequence[str], clf: Any) -> AlignedRows:
    """Put the columns of a table in the order of a fitted model's, by their names.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> import pandas as pd
    >>> train = pd.DataFrame({"age": [1.0, 2.0, 8.0, 9.0], "sex": [0.0, 1.0, 0.0, 1.0]})
    >>> clf = HIPADClassifier(lambda1=0.1, lambda2=1.0).fit(train, [0, 0, 1, 1])
    >>> found = align_columns(np.array([[7.0, 3.0]]), ["height", "age"], clf)
    >>> found.X.tolist(), found.missing, found.unneeded, found.unknown
    ([[3.0, 0.0]], (), ('sex',), ('height',))
    """
    given = [str(name) for name in names]
    if X.shape[1] != len(given):
        raise DataError(f"expected a name for each of {X.shape[1]:,} columns, got {len(given):,}")
    place: dict[str, int] = {}
    for position, name in enumerate(given):
        if name in place:
            raise DataError(f"expected columns of different names, got {some([name])} twice")
        place[name] = position
    own = [str(name) for name in clf.feature_index_.names]
    used = np.zeros(len(own), dtype=bool)
    used[clf.support_] = True
    at = np.array([place.get(name, -1) for name in own], dtype=np.intp)
    lacking = at < 0
    known = set(own)
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    return AlignedRows(
        X=_taken(X, at, used),
        missing=tuple(own[j] for j in np.flatnonzero(lacking & used)),
        unneeded=tuple(own[j] for j in np.flatnonzero(lacking & ~used)),
        unknown=tuple(name for name in given if name not in known),
    )


def _taken(X: Any, at: IntArray, used: np.ndarray) -> Any:
    """Return the columns `at`; where there is none NaN, or zero if it has no weight."""
    lacking = np.flatnonzero(at < 0)
    if not sparse.issparse(X):
        found = np.zeros((X.shape[0], at.size))
        found[:, at >= 0] = np.asarray(X, dtype=float)[:, at[at >= 0]]
        found[:, lacking[used[lacking]]] = np.nan
        return found
    wide = sparse.hstack([sparse.csc_array(X), sparse.csc_array((X.shape[0], 1))], format="csc")
    kept = sparse.csc_array(wide)[:, np.where(at < 0, X.shape[1], at)]
    holes = lacking[used[lacking]]
    if holes.size:
        kept = sparse.lil_array(kept)
        kept[:, holes] = np.nan
    return sparse.csr_array(kept)


# --------------------------------------------------------------------------------------------------
# Values outside the training range, and columns that are distributed otherwise.


class OutOfRange(NamedTuple):
    """A column with new values beyond all training values: in how many rows, and how far."""

    column: int
    rows: int
    low: float
    high: float
    least: float
    most: float


def out_of_range(X: Any, X_train: Any, columns: npt.ArrayLike) -> tuple[OutOfRange, ...]:
    """Return columns with values that no training row comes up to, those in most rows first.

    >>> X_train, X = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[2.0, 0.5], [0.5, 0.5]])
    >>> out_of_range(X, X_train, [0, 1])
    (OutOfRange(column=0, rows=1, low=0.0, high=1.0, least=0.5, most=2.0),)
    """
    own = np.asarray(columns, dtype=np.intp)
    new, old = _cells(X, own), _cells(X_train, own)
    low, high = np.nanmin(old, axis=0), np.nanmax(old, axis=0)
    rows = ((new < low) | (new > high)).sum(axis=0)
    order = np.argsort(-rows, kind="stable")
    return tuple(
        OutOfRange(
            int(own[j]),
            int(rows[j]),
            float(low[j]),
            float(high[j]),
            float(np.nanmin(new[:, j])),
            float(np.nanmax(new[:, j])),
        )
        for j in order
        if rows[j]
    )


class ShiftedColumn(NamedTuple):
    """A column whose new values are distributed otherwise: medians, and how surely."""

    column: int
    median: float
    training_median: float
    statistic: float
    p_value: float


SURELY: Final = 0.01  # chance that any column is named although none is shifted


def shifted_columns(
    X: Any, X_train: Any, columns: npt.ArrayLike, *, level: float = SURELY
) -> tuple[ShiftedColumn, ...]:
    """Return columns whose new values differ from the training values beyond chance, surest first.

    By the test of Kolmogorov and Smirnov, and Holm's correction for the number of columns.
    """
    own = np.asarray(columns, dtype=np.intp)
    new, old = _cells(X, own), _cells(X_train, own)
    found = []
    for j, column in enumerate(own.tolist()):
        a, b = new[np.isfinite(new[:, j]), j], old[np.isfinite(old[:, j]), j]
        if a.size and b.size:
            test = ks_2samp(a, b)
            medians = float(np.median(a)), float(np.median(b))
            found.append(ShiftedColumn(column, *medians, float(test.statistic), float(test.pvalue)))
    found.sort(key=lambda one: (one.p_value, -one.statistic))
    for k, one in enumerate(found):
        if one.p_value * (len(found) - k) > level:
            return tuple(found[:k])
    return tuple(found)


def _cells(X: Any, columns: IntArray) -> FloatArray:
    part = X.iloc[:, columns].to_numpy() if hasattr(X, "iloc") else X[:, columns]
    part = part.toarray() if sparse.issparse(part) else part
    found: FloatArray = np.asarray(part, dtype=float)
    return found


# --------------------------------------------------------------------------------------------------
# Recalibration: risks of a model where the outcomes of new rows are known.
#
# Which of three risks is kept is tested (Vergouwe and others, Statistics in Medicine 36 (2017)
# 4529-4539): the risks as they are, log odds moved by an intercept, or these and a slope. The more
# adaptable is taken only where the log likelihood of the rows clearly asks for it. Rows of one
# patient are fewer than as many patients, by the design effect that they show.


FEWEST: Final = 10  # positive and negative patients for each number that is fitted
TEST_LEVEL: Final = 0.05
MOST_SLOPE: Final = 20.0


@dataclass(frozen=True)
class Recalibration:
    """New log odds are `intercept + slope * log odds`; `kind` is "none", "intercept" or "slope"."""

    kind: str
    intercept: float
    slope: float
    reason: str


def recalibrated(
    clf: Any, X: Any, y: npt.ArrayLike, *, groups: npt.ArrayLike | None = None
) -> tuple[Any, Recalibration]:
    """Return a copy of a model whose risks fit these rows, and what was done.

    The weights, and what `predict` answers, stay; a cut-off on the risk is not kept.

    Parameters
    ----------
    clf : fitted HIPADClassifier
        Of two classes, with risks.
    X, y : rows and outcomes
        Outcomes are of the classes of the model.
    groups : array, default=None
        Rows with the same value are of one patient.
    """
    labels = np.asarray(y)
    odd = ~np.isin(labels.astype(str), np.asarray(clf.classes_).astype(str))
    if odd.any():
        raise DataError(
            f"expected outcomes {clf.classes_[0]!r} and {clf.classes_[1]!r}, got "
            f"{some(sorted({str(one) for one in labels[odd].tolist()}))}: name them as the model"
        )
    positive = labels.astype(str) == str(clf.classes_[1])
    scores = clf.decision_function(X)
    own = None if groups is None else np.asarray(groups)
    curve = clf.risk_curve_
    rows = ScoredRows(positive, scores, curve.risks(scores, clf.prevalence), own)
    recalibration = recalibration_of(rows)
    fresh = copy(clf)
    fresh.prevalence = None
    fresh._risks = LazyCalibration(curve=_moved(curve, clf.prevalence, rows, recalibration))
    fresh.risk_threshold_ = None
    return fresh, recalibration


def recalibration_of(rows: ScoredRows) -> Recalibration:
    """Return what the rows ask for: nothing, another intercept, or another slope as well."""
    codes = np.arange(len(rows)) if rows.groups is None else rows.groups
    fewest = min(np.unique(codes[rows.positive == side]).size for side in (False, True))
    if fewest < FEWEST:
        reason = f"too few rows: {fewest} of one class, and {FEWEST} are needed"
        return Recalibration("none", 0.0, 1.0, reason)
    y, odds = rows.positive.astype(float), _log_odds(rows)
    effect = 1.0 if rows.groups is None else len(rows) / np.unique(rows.groups).size
    intercept = rows.measure("calibration_intercept").value
    as_is, moved = (_likelihood(y, odds + by) for by in (0.0, intercept))
    slope = rows.measure("calibration_slope").value
    if fewest >= 2 * FEWEST and 0 < slope < MOST_SLOPE:
        at = ScoredRows(rows.positive, rows.scores, _risks_of(slope * odds))
        offset = at.measure("calibration_intercept").value
        best = _likelihood(y, slope * odds + offset)
        gains = 2.0 * (best - as_is) / effect, 2.0 * (best - moved) / effect
        if chi2.sf(gains[0], 2) < TEST_LEVEL and chi2.sf(gains[1], 1) < TEST_LEVEL:
            reason = "risks were too extreme" if slope < 1 else "risks were too cautious"
            return Recalibration("slope", offset, slope, reason)
    if chi2.sf(2.0 * (moved - as_is) / effect, 1) < TEST_LEVEL:
        reason = "risks were too high on average" if intercept < 0 else "risks were too low"
        return Recalibration("intercept", intercept, 1.0, reason)
    return Recalibration("none", 0.0, 1.0, "the risks fit these rows as well as can be told")


def _moved(
    curve: CalibrationMap, prevalence: float | None, rows: ScoredRows, recalibration: Recalibration
) -> CalibrationMap:
    """The curve over decision values, with other log odds; its prevalence is that of the rows."""
    shift = 0.0
    if prevalence is not None:
        before, after = _log_odds_of(curve.prevalence), _log_odds_of(prevalence)
        shift = after - before
    own = curve.prevalence if prevalence is None else prevalence
    share = float(np.mean(rows.positive)) if recalibration.kind != "none" else own
    return replace(
        curve,
        prevalence=share,
        slope=recalibration.slope * curve.slope,
        intercept=recalibration.slope * (curve.intercept + shift) + recalibration.intercept,
        log_odds=recalibration.slope * (curve.log_odds + shift) + recalibration.intercept,
    )


def _log_odds(rows: ScoredRows) -> FloatArray:
    assert rows.risks is not None  # made here
    return np.asarray(np.log(rows.risks) - np.log1p(-rows.risks))


def _log_odds_of(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))


def _risks_of(odds: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def _likelihood(y: FloatArray, z: FloatArray) -> float:
    return float(y @ z - np.logaddexp(0.0, z).sum())


# --------------------------------------------------------------------------------------------------
# Conformal sets: for which rows a model can answer, at a chosen coverage of each class.
#
#     sets = ConformalSets.fit(rows.scores, rows.positive, rows.groups)  # out-of-fold scores
#     sets.sets(clf.decision_function(X), 0.9)                  # columns: negative, positive
#
# A class is in the set of a row unless the row is stranger for it than nearly all rows of that
# class are: each class has its own p-value (Mondrian; Vovk, Gammerman and Shafer 2005), so the
# coverage holds in both, whatever their shares. A row whose set has both classes, or none, cannot
# be answered. The scores are out of fold, by models that have not seen the row (cross-conformal,
# Vovk 2015). Rows of one patient count together as one.


@dataclass(frozen=True, eq=False)
class _Class:
    """Strangeness of the rows of one class, rising, and the sum of the weights from each on."""

    strange: FloatArray
    above: FloatArray  # one longer than `strange`: nothing is above the last one

    @classmethod
    def of(cls, strange: FloatArray, weights: FloatArray) -> _Class:
        order = np.argsort(strange, kind="stable")
        above = np.cumsum(weights[order][::-1])[::-1]
        return cls(strange[order], np.r_[above, 0.0])

    def p_values(self, strange: FloatArray, own: FloatArray | float = 0.0) -> FloatArray:
        """Return the share of rows that are at least as strange, the row itself included.

        `own` is the weight of rows of this class that are not to be counted: those of the patient.
        """
        at = np.searchsorted(self.strange, strange, side="left")
        total = self.above[0] - own
        return np.asarray((self.above[at] - own + 1.0) / (total + 1.0))


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Sets of classes, calibrated on scores of rows that their models have not seen."""

    negative: _Class
    positive: _Class

    @classmethod
    def fit(
        cls, scores: npt.ArrayLike, positive: npt.ArrayLike, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Calibrate; `scores` are above zero for the positive class.

        Examples
        --------
        >>> scores = np.array([-2.0, -1.0, -0.5, 0.2, 0.4, 1.0, 1.5, 2.0])
        >>> sets = ConformalSets.fit(scores, np.arange(8) >= 4)
        >>> sets.sets(np.array([-1.5, 0.3, 3.0]), 0.75).tolist()
        [[True, False], [False, False], [False, True]]
        """
        s, truth = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
        if s.shape != truth.shape or not np.isfinite(s).all():
            raise DataError("expected a finite score and a class of every row, got others")
        if truth.all() or not truth.any():
            raise DataError("expected rows of both classes to calibrate on, got one")
        weights = _patient_weights(truth, groups)
        return cls(_Class.of(s[~truth], weights[~truth]), _Class.of(-s[truth], weights[truth]))

    def p_values(self, scores: npt.ArrayLike) -> FloatArray:
        """How likely a row as strange is in each class; two columns, negative and positive."""
        s = np.asarray(scores, dtype=float)
        return np.column_stack([self.negative.p_values(s), self.positive.p_values(-s)])

    def sets(self, scores: npt.ArrayLike, coverage: float) -> npt.NDArray[np.bool_]:
        """Return which classes are in the set of each row."""
        return sets_of(self.p_values(scores), coverage)

    @property
    def most_coverage(self) -> float:
        """The largest coverage at which a class can be ruled out: more needs more rows of it."""
        fewest = min(float(one.above[0]) for one in (self.negative, self.positive))
        return fewest / (fewest + 1.0)


def sets_of(p_values: FloatArray, coverage: float) -> npt.NDArray[np.bool_]:
    """Return which classes are in the sets, by their p-values.

    >>> sets_of(np.array([[0.3, 0.05], [0.2, 0.2]]), 0.9).tolist()
    [[True, False], [True, True]]
    """
    if not 0 < coverage < 1:
        raise DataError(f"expected a coverage above 0 and below 1, got {coverage!r}")
    found: npt.NDArray[np.bool_] = p_values >= 1.0 - coverage - 1e-12
    return found


def cross_conformal(
    scores: npt.ArrayLike, positive: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> FloatArray:
    """Return the p-values of the training rows themselves, each without its own patient.

    >>> found = cross_conformal([-1.0, -0.5, 0.5, 1.0], [False, False, True, True])
    >>> found.round(3).tolist()
    [[1.0, 0.333], [0.5, 0.333], [0.333, 0.5], [0.333, 1.0]]
    """
    s, truth = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    sets = ConformalSets.fit(s, truth, groups)
    if groups is None:
        found = sets.p_values(s)
        for column, (one, side) in enumerate(((sets.negative, ~truth), (sets.positive, truth))):
            strange = s[side] if column == 0 else -s[side]
            found[side, column] = one.p_values(strange, own=1.0)
        return found
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    found = np.empty((s.size, 2))
    for code in range(int(codes.max()) + 1):
        own = codes == code
        rest = ~own
        if truth[rest].all() or not truth[rest].any():
            raise DataError("expected two patients or more of each class, got one")
        others = ConformalSets.fit(s[rest], truth[rest], codes[rest])
        found[own] = others.p_values(s[own])
    return found


def undecided(
    p_values: FloatArray, coverage: float, groups: npt.ArrayLike | None = None
) -> Estimate:
    """The share of rows that cannot be answered: both classes are in their set, or none is."""
    inside = sets_of(p_values, coverage).sum(axis=1)
    rows = ScoredRows(
        np.zeros(inside.size, dtype=bool),
        np.zeros(inside.size),
        groups=None if groups is None else np.asarray(groups),
    )
    return rows.share(inside != 1, np.ones(inside.size, dtype=bool))


def coverage_by_class(
    p_values: FloatArray,
    positive: npt.ArrayLike,
    coverage: float,
    groups: npt.ArrayLike | None = None,
) -> tuple[Estimate, Estimate]:
    """Return the share of negative and of positive rows whose own class is in their set."""
    inside, truth = sets_of(p_values, coverage), np.asarray(positive, dtype=bool)
    own = np.where(truth, inside[:, 1], inside[:, 0])
    rows = ScoredRows(
        truth, np.zeros(truth.size), groups=None if groups is None else np.asarray(groups)
    )
    return rows.share(own, ~truth), rows.share(own, truth)


def _patient_weights(truth: npt.NDArray[np.bool_], groups: npt.ArrayLike | None) -> FloatArray:
    """Return one for each row; the rows of a patient share one in each class."""
    if groups is None:
        return np.ones(truth.size)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    both = 2 * codes + truth
    weights: FloatArray = 1.0 / np.bincount(both)[both]
    return weights


# --------------------------------------------------------------------------------------------------
# Why one row gets its answer: contributions, the smallest change, like rows, unusual values.
#
#     told = explain_row(clf, x, X_train, blocks=data.blocks)
#     told.score == told.base + sum of told.contributions        to the last digits
#     smallest_change(clf, x, columns, X_train).changes
#
# The model is linear, so all of this is exact. Everything is in the user's units.


NO_BLOCK: Final = "no block"
MOST_DOUBLINGS: Final = 200
BISECTIONS: Final = 200
BEYOND: Final = 1e-9  # of the score: how far a change goes past the boundary


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
    values, (usual, deviation, _, _) = _row_values(x, kept), _moments(X_train, kept)
    amounts = weights * (values - usual)
    base = math.fsum([intercept, *(weights * usual)])
    score = math.fsum([intercept, *(weights * values)])
    order = np.argsort(-np.abs(amounts), kind="stable")
    contributions = tuple(
        Contribution(
            int(kept[j]), float(values[j]), float(usual[j]), float(weights[j]), float(amounts[j])
        )
        for j in order
    )
    reach = float(np.linalg.norm(weights * deviation))
    distance = (score - boundary) / reach if reach > 0 else math.inf
    return RowExplanation(
        score, base, contributions, _by_block(kept, amounts, blocks or {}), distance
    )


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
    """Return the least change of some columns, within the range of the training rows, that flips a
    row.

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
    every = _row_values(x, kept)
    score = math.fsum([intercept, *(weights * every)])
    free = np.flatnonzero(np.isin(kept, np.asarray(columns, dtype=np.intp)))
    w, values = weights[free], every[free]
    _, deviation, low, high = _moments(X_train, kept[free])
    low, high = np.minimum(low, values), np.maximum(high, values)  # the row itself is possible
    line = w * deviation**2
    up = score <= boundary
    # past the boundary by a hair, so that rounding cannot undo the change
    hair = BEYOND * max(1.0, abs(boundary - score))
    target = boundary - score + (hair if up else -hair)

    def moved(t: float) -> FloatArray:
        found: FloatArray = np.clip(t * line, low - values, high - values)
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
    flips = new > boundary if up else new < boundary
    return SmallestChange(bool(flips), new, float(np.linalg.norm(sizes)), changes)


# --------------------------------------------------------------------------------------------------
# Like rows, and values that no training row has.


class NearRow(NamedTuple):
    """A training row, and how far it is, in units of the score."""

    row: int
    distance: float


def nearest_rows(clf: Any, x: Any, X_train: Any, count: int = 5) -> tuple[NearRow, ...]:
    """Return the training rows that look most alike to the model: by what each feature adds to the
    score.

    Features without a weight do not matter.
    """
    kept, weights, _ = _linear(clf, 1.0)
    part = X_train[:, kept]
    part = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=float)
    apart = np.linalg.norm((part - _row_values(x, kept)) * weights, axis=1)
    order = np.argsort(apart, kind="stable")[:count]
    return tuple(NearRow(int(row), float(apart[row])) for row in order)


class UnusualValue(NamedTuple):
    """A value outside the range of the training rows."""

    column: int
    value: float
    low: float
    high: float


def outside_range(clf: Any, x: Any, X_train: Any) -> tuple[UnusualValue, ...]:
    """Return the features of the model whose value no training row comes up to, heaviest first."""
    kept, weights, _ = _linear(clf, 1.0)
    values, (_, _, low, high) = _row_values(x, kept), _moments(X_train, kept)
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


def _row_values(x: Any, columns: IntArray) -> FloatArray:
    """Return some values of one row."""
    row = x.iloc[0].to_numpy() if hasattr(x, "iloc") and getattr(x, "ndim", 1) == 2 else x
    row = row.toarray() if sparse.issparse(row) else row
    found: FloatArray = np.asarray(row, dtype=float).reshape(-1)[columns]
    if not np.isfinite(found).all():
        raise DataError("expected finite values in the row, got NaN or infinity: fill the gaps")
    return found


def _moments(
    X_train: Any, columns: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return mean, deviation, least and largest value of some columns."""
    part = _cells(X_train, columns)
    return part.mean(axis=0), part.std(axis=0), part.min(axis=0), part.max(axis=0)
