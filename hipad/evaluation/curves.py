"""Curves of scores and risks, as plain arrays with bands: ROC, precision, calibration, decisions.

Bands are pointwise. Those of the ROC and the precision-recall curve are percentiles of bootstrap
draws, in which rows of one patient come together; all others are analytic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.metrics import precision_recall_curve as sklearn_precision_recall
from sklearn.metrics import roc_curve as sklearn_roc

from hipad.estimator.calibration import check_prevalence
from hipad.estimator.fit import fresh_values
from hipad.evaluation.intervals import Estimate, bootstrap_counts
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.utils import FloatArray, number, percent

GRID: Final = 101  # points at which bands are told
DRAWS: Final = 400  # of the bootstrap: 2.5 % of them lie beyond each end of a band
MOST_CELLS: Final = 4_000_000  # rows times draws: with more rows there are fewer draws
FEWEST_DRAWS: Final = 100


@dataclass(frozen=True, eq=False)
class Curve:
    """The points (x, y), and the band from `low` to `high` at the places `at`.

    `thresholds` are the scores or risks from which on a row counts as positive at each point.
    """

    x: FloatArray
    y: FloatArray
    at: FloatArray
    low: FloatArray
    high: FloatArray
    thresholds: FloatArray


def roc_curve(rows: ScoredRows, *, level: float = 0.95, seed: int = 0) -> Curve:
    """Return sensitivity (y) at each false positive rate (x), as scikit-learn has it.

    Examples
    --------
    >>> rows = ScoredRows(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> roc_curve(rows).y.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    _both_classes(rows)
    x, y, cuts = sklearn_roc(rows.positive, rows.scores, drop_intermediate=False)
    at = np.linspace(0.0, 1.0, GRID)
    found = []
    for hits, misses in _drawn_counts(rows, seed):
        if hits[-1] > 0 and misses[-1] > 0:
            found.append(np.interp(at, misses / misses[-1], hits / hits[-1]))
    return Curve(x, y, at, *_band(found, at.size, level), cuts)


def precision_recall_curve(rows: ScoredRows, *, level: float = 0.95, seed: int = 0) -> Curve:
    """Precision (y) at each recall (x), as scikit-learn has it, from high scores to low ones."""
    _both_classes(rows)
    precision, recall, cuts = sklearn_precision_recall(rows.positive, rows.scores)
    at = np.linspace(0.0, 1.0, GRID)[1:]
    found = []
    for hits, misses in _drawn_counts(rows, seed):
        said = hits + misses
        if hits[-1] > 0 and (said > 0).any():
            known = said > 0
            recalled, right = hits[known] / hits[-1], hits[known] / said[known]
            first = np.minimum(np.searchsorted(recalled, at - 1e-12), recalled.size - 1)
            found.append(right[first])
    ends = _band(found, at.size, level)
    return Curve(recall[::-1], precision[::-1], at, *ends, np.r_[np.inf, cuts[::-1]])


def _drawn_counts(rows: ScoredRows, seed: int) -> list[tuple[FloatArray, FloatArray]]:
    """True and false positives from the highest score down, once for each draw."""
    draws = int(np.clip(MOST_CELLS // max(len(rows), 1), FEWEST_DRAWS, DRAWS))
    order = np.argsort(-rows.scores, kind="stable")
    ends = np.flatnonzero(np.r_[np.diff(rows.scores[order]) != 0, True])
    positive, found = rows.positive[order], []
    for counts in bootstrap_counts(len(rows), rows.groups, draws, np.random.default_rng(seed)):
        own = counts[order]
        hits = np.r_[0.0, np.cumsum(own * positive)[ends]]
        found.append((hits, np.r_[0.0, np.cumsum(own * ~positive)[ends]]))
    return found


def _band(found: list[FloatArray], size: int, level: float) -> tuple[FloatArray, FloatArray]:
    if not found:
        return np.zeros(size), np.ones(size)
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(np.array(found), tails, axis=0)
    return low, high


def _both_classes(rows: ScoredRows) -> None:
    if rows.positive.all() or not rows.positive.any():
        raise DataError("expected rows of both classes for a curve, got one: add rows of the other")


def _with_risks(rows: ScoredRows) -> FloatArray:
    if rows.risks is None:
        raise DataError("expected risks for this curve, got scores alone: give probabilities")
    return rows.risks


# --------------------------------------------------------------------------------------------------
# Calibration: how many rows of a risk are positive.
#
# The smooth curve is a logistic regression on a restricted cubic spline of the log odds of the
# risks, with Harrell's knots at the percentiles 10, 50 and 90 (Regression Modeling Strategies,
# section 2.4.6). With fewer rows of the rarer class than `FEW` it is a straight line of log odds:
# ten rows for each of its two numbers. Its band is that of the linear predictor, by the sandwich
# estimator over patients.


FEW: Final = 20
KNOTS: Final = (0.1, 0.5, 0.9)
PENALTY: Final = 1e-6  # on coefficients, so that classes that are told apart have a curve
NEWTON_STEPS: Final = 50
CLIP: Final = 1e-6  # risks of 0 and 1 are drawn as this far inside


def calibration_curve(rows: ScoredRows, *, level: float = 0.95) -> Curve:
    """The observed share of positive rows (y) at each risk (x), smooth, over the risks seen."""
    _both_classes(rows)
    risks = np.clip(_with_risks(rows), CLIP, 1.0 - CLIP)
    x, y = logit(risks), rows.positive.astype(float)
    rarer = min(y.sum(), (1 - y).sum())
    knots = np.unique(np.quantile(x, KNOTS)) if rarer >= FEW else np.zeros(0)
    grid = np.linspace(risks.min(), risks.max(), GRID)
    basis, places = _spline(x, knots), _spline(logit(grid), knots)
    coef = np.zeros(basis.shape[1])
    for _ in range(NEWTON_STEPS):
        q = expit(basis @ coef)
        bread = (basis.T * (q * (1.0 - q))) @ basis + PENALTY * np.eye(coef.size)
        step = np.linalg.solve(bread, basis.T @ (y - q) - PENALTY * coef)
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        coef = coef + step
        if float(np.abs(step).max()) < 1e-10:
            break
    q = expit(basis @ coef)
    bread = (basis.T * (q * (1.0 - q))) @ basis + PENALTY * np.eye(coef.size)
    parts = basis * (y - q)[:, None]
    if rows.groups is not None:
        codes = np.unique(rows.groups, return_inverse=True)[1]
        parts = np.column_stack([np.bincount(codes, own) for own in parts.T])
    half = np.linalg.solve(bread, parts.T)
    error = np.sqrt(((places @ half) ** 2).sum(axis=1) * rows.inflation())
    middle, reach = places @ coef, float(norm.ppf(0.5 + level / 2)) * error
    return Curve(grid, expit(middle), grid, expit(middle - reach), expit(middle + reach), grid)


def _spline(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Return a constant, x, and restricted cubic terms, linear beyond the last knots."""
    ones = np.ones_like(x)
    if knots.size < 3:
        return np.column_stack([ones, x])
    first, middle, last = knots

    def cube(at: float) -> FloatArray:
        found: FloatArray = np.maximum(x - at, 0.0) ** 3
        return found

    bend = (
        cube(first)
        - cube(middle) * (last - first) / (last - middle)
        + cube(last) * (middle - first) / (last - middle)
    )
    return np.column_stack([ones, x, bend / (last - first) ** 2])


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows by their risk: mean risk, share of positive rows with its interval, and how many."""

    risk: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    count: npt.NDArray[np.intp]


def calibration_bins(rows: ScoredRows, n_bins: int = 10, *, level: float = 0.95) -> Bins:
    """Return the observed share in bins of about as many rows each; equal risks share a bin."""
    risks = _with_risks(rows)
    if not len(rows) or n_bins < 1:
        raise DataError("expected rows and one bin or more: give rows of known class")
    edges = np.unique(np.quantile(risks, np.linspace(0, 1, n_bins + 1)[1:-1], method="lower"))
    place = np.searchsorted(edges, risks, side="right")
    found = []
    for own in (place == k for k in range(edges.size + 1)):
        if own.any():
            share = rows.share(rows.positive, own, level)
            found.append((float(risks[own].mean()), share.value, share.low, share.high, own.sum()))
    risk, value, low, high, size = (np.array(column) for column in zip(*found, strict=True))
    return Bins(risk, value, low, high, size.astype(np.intp))


@dataclass(frozen=True, eq=False)
class RiskDistribution:
    """How many negative and positive rows have a risk between two neighbouring edges."""

    edges: FloatArray
    negative: npt.NDArray[np.intp]
    positive: npt.NDArray[np.intp]


def risk_distribution(rows: ScoredRows, n_bins: int = 20) -> RiskDistribution:
    """Count the rows of each class in bins of equal width from 0 to 1."""
    risks, edges = _with_risks(rows), np.linspace(0.0, 1.0, n_bins + 1)
    counts = [np.histogram(risks[rows.positive == side], edges)[0] for side in (False, True)]
    return RiskDistribution(edges, counts[0], counts[1])


# --------------------------------------------------------------------------------------------------
# Net benefit: true positives less false ones, these at the odds of the risk from which on one acts.
#
# Vickers and Elkin, Medical Decision Making 26 (2006) 565-574. Who acts from risk t on takes
# (1 - t) / t false positives for a true one. Nobody treated has a net benefit of zero.


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of the model and of treating everybody at each risk from which on one acts."""

    thresholds: FloatArray
    model: FloatArray
    low: FloatArray
    high: FloatArray
    treat_all: FloatArray

    @property
    def useful_range(self) -> tuple[float, float] | None:
        """The longest run of thresholds at which the model beats treating everybody and nobody.

        >>> curve = DecisionCurve(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.4, 0.0, 0.1]),
        ...                       np.zeros(4), np.ones(4), np.array([0.4, 0.3, 0.2, 0.0]))
        >>> curve.useful_range
        (0.1, 0.2)
        """
        better = np.r_[False, self.model > np.maximum(self.treat_all, 0.0) + 1e-12, False]
        starts, ends = np.flatnonzero(np.diff(better)).reshape(-1, 2).T
        if not starts.size:
            return None
        widths = self.thresholds[ends - 1] - self.thresholds[starts]
        longest = int(np.argmax(widths))
        first, last = starts[longest], ends[longest] - 1
        return float(self.thresholds[first]), float(self.thresholds[last])


def decision_curve(
    rows: ScoredRows,
    thresholds: npt.ArrayLike | None = None,
    *,
    prevalence: float | None = None,
    level: float = 0.95,
) -> DecisionCurve:
    """Return net benefit by threshold (0.01 to 0.99 where none are given), and its band.

    With a `prevalence` the classes are weighed as among those who will be asked.

    Examples
    --------
    >>> risks = np.array([0.1, 0.4, 0.35, 0.8])
    >>> rows = ScoredRows(np.array([0, 0, 1, 1]), risks - 0.5, risks)
    >>> decision_curve(rows, [0.2, 0.5]).model.round(4).tolist()
    [0.4375, 0.25]
    """
    check_prevalence(prevalence)
    if thresholds is None:
        thresholds = np.arange(1, 100) / 100
    cuts = np.atleast_1d(np.asarray(thresholds, dtype=float))
    if not ((cuts > 0) & (cuts < 1)).all():
        raise DataError("expected thresholds above 0 and below 1, got others: give risks between")
    risks, n = _with_risks(rows), len(rows)
    shares = np.array([float(np.mean(~rows.positive)), float(np.mean(rows.positive))])
    weight = np.ones(n)
    if prevalence is not None:
        _both_classes(rows)
        wanted = np.array([1.0 - prevalence, prevalence])
        weight = (wanted / shares)[rows.positive.astype(int)]
        shares = wanted
    gain = np.empty((cuts.size, 3))
    z = float(norm.ppf(0.5 + level / 2))
    codes = None if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1]
    for k, cut in enumerate(cuts.tolist()):
        odds = cut / (1.0 - cut)
        own = np.where(rows.positive, 1.0, -odds) * (risks >= cut) * weight
        mean = float(own.mean())
        apart = own - mean
        if prevalence is not None:  # the shares of the classes are given, not drawn
            for side in (False, True):
                apart[rows.positive == side] = own[rows.positive == side]
                apart[rows.positive == side] -= own[rows.positive == side].mean()
        sums = apart if codes is None else np.bincount(codes, apart)
        few = sums.size / max(sums.size - 1, 1)
        error = math.sqrt(float(sums @ sums) * few * rows.inflation()) / n
        gain[k] = mean, mean - z * error, mean + z * error
    odds = cuts / (1.0 - cuts)
    model, low, high = gain.T
    return DecisionCurve(cuts, model, low, high, shares[1] - shares[0] * odds)


# --------------------------------------------------------------------------------------------------
# The risk from which on the answer is the positive class, chosen on out-of-fold training risks.
#
#     cut = cutoff_by_cost(training_rows(clf), 5.0)        # a missed row costs as five false alarms
#     clf.set_risk_threshold(cut.threshold)
#     clf.predict(X)                                       # the second class from that risk on
#
# Whoever chooses a cut-off on the rows that judge it flatters the model, so it is chosen on risks
# of training rows by models that have not seen them.


@dataclass(frozen=True)
class Cutoff:
    """The answer is positive from the risk `threshold` on; `reason` says how it was chosen.

    Sensitivity and specificity are those of the rows it was chosen on.
    """

    threshold: float
    reason: str
    sensitivity: Estimate
    specificity: Estimate

    def words(self, positive: str) -> str:
        """Say from which risk on a row is called so.

        >>> Cutoff(0.34, "", Estimate(0.9), Estimate(0.7)).words("diabetic")
        'diabetic from risk 34 % on'
        """
        return f"{positive} from risk {number(100 * self.threshold, 3)} % on"


def risk_answers(risks: npt.ArrayLike, threshold: float) -> npt.NDArray[np.bool_]:
    """Return whether each risk is answered with the positive class.

    >>> risk_answers([0.2, 0.34, 0.5], 0.34).tolist()
    [False, True, True]
    """
    answers: npt.NDArray[np.bool_] = np.asarray(risks, dtype=float) >= threshold
    return answers


def training_rows(clf: Any, *, sign: float = 1.0) -> ScoredRows:
    """Return the labelled training rows of a fitted classifier, with out-of-fold scores and risks.

    Parameters
    ----------
    clf : HIPADClassifier
        Of two classes, fitted in this session: a model from a file no longer has its rows.
    sign : float, default=1.0
        -1 where the first class of the classifier is the positive one (`PositiveClassView.sign`).
    """
    data, model = vars(clf).get("_data"), vars(clf).get("_model")
    if data is None or model is None:
        raise DataError(
            "expected a model of two classes with its training rows, got one without: fit it again"
        )
    n = data.n_labelled
    with np.errstate(invalid="ignore"):
        repeats = np.atleast_2d(fresh_values(data, model))[:, :n]
    known = np.isfinite(repeats)
    rows = np.flatnonzero(known.any(axis=0))
    if not rows.size:
        raise DataError("expected out-of-fold scores, got none: the classes have too few rows")
    total = np.where(known, repeats, 0.0).sum(axis=0)[rows]
    scores = total / known.sum(axis=0)[rows]
    risks = clf.risk_curve_.risks(scores, clf.prevalence)
    groups = None if data.groups is None else data.groups[:n][rows]
    positive, flipped = data.y[:n][rows] > 0, sign < 0
    return ScoredRows(
        positive=~positive if flipped else positive,
        scores=sign * scores,
        risks=1.0 - risks if flipped else risks,
        groups=groups,
    )


def cutoff_by_sensitivity(rows: ScoredRows, least: float) -> Cutoff:
    """Return the largest threshold at which at least a share `least` of positive rows is found.

    >>> risks = np.array([0.1, 0.4, 0.3, 0.8])
    >>> rows = ScoredRows(np.array([0, 0, 1, 1]), risks - 0.5, risks)
    >>> cutoff_by_sensitivity(rows, 0.9).threshold
    0.2
    """
    if not 0 < least <= 1:
        raise DataError(f"expected a sensitivity above 0 and up to 1, got {least!r}")
    cuts, found, _ = _at_each_cut(rows)
    enough = np.flatnonzero(found / rows.positive.sum() >= least - 1e-12)
    return _cutoff(rows, cuts[enough[-1]], f"finds at least {percent(least, 0)} of positive rows")


def cutoff_by_cost(rows: ScoredRows, ratio: float, *, prevalence: float | None = None) -> Cutoff:
    """The threshold of least mean cost, where a missed positive costs `ratio` false alarms."""
    if not 0 < ratio < np.inf:
        raise DataError(f"expected a cost ratio above 0, got {ratio!r}: 5 means five false alarms")
    reason = f"least cost, a missed positive row counting as {ratio:g} false alarms"
    return _best(rows, 1.0 / (1.0 + ratio), prevalence, reason)


def cutoff_by_net_benefit(
    rows: ScoredRows, at: float, *, prevalence: float | None = None
) -> Cutoff:
    """Return the threshold of the largest net benefit to whoever would act from risk `at` on.

    With right risks that is `at` itself.
    """
    if not 0 < at < 1:
        raise DataError(f"expected a risk above 0 and below 1, got {at!r}")
    reason = f"largest net benefit to whoever acts from risk {percent(at)} on"
    return _best(rows, at, prevalence, reason)


def _best(rows: ScoredRows, at: float, prevalence: float | None, reason: str) -> Cutoff:
    """Of thresholds that are as good, the one nearest to `at`, as which right risks would do."""
    cuts, found, false = _at_each_cut(rows)
    n, positives = len(rows), int(rows.positive.sum())
    share = positives / n if prevalence is None else prevalence
    sensitivity, alarms = found / positives, false / (n - positives)
    benefit = share * sensitivity - (1.0 - share) * alarms * at / (1.0 - at)
    good = np.flatnonzero(benefit >= benefit.max() - 1e-12)
    edges = _edges(rows)
    near = [float(np.clip(at, np.nextafter(edges[k], 1.0), edges[k + 1])) for k in good]
    inside = [k for k, value in zip(good, near, strict=True) if value == at]
    if inside:
        return _cutoff(rows, at, reason)
    best = good[int(np.argmin(np.abs(cuts[good] - at)))]
    return _cutoff(rows, float(cuts[best]), reason)


def _edges(rows: ScoredRows) -> FloatArray:
    assert rows.risks is not None
    return np.r_[0.0, np.unique(rows.risks), 1.0]


def _at_each_cut(rows: ScoredRows) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds between neighbouring risks, rising; true and false positives from each on."""
    if rows.risks is None or rows.positive.all() or not rows.positive.any():
        raise DataError("expected risks of rows of both classes to choose a cut-off on")
    edges = _edges(rows)
    cuts = 0.5 * (edges[:-1] + edges[1:])
    each = [np.sort(rows.risks[rows.positive == side]) for side in (True, False)]
    found, false = (own.size - np.searchsorted(own, cuts, side="left") for own in each)
    return cuts, found.astype(float), false.astype(float)


def _cutoff(rows: ScoredRows, threshold: float, reason: str) -> Cutoff:
    answered = rows.at(float(threshold))
    figures = answered.measure("sensitivity"), answered.measure("specificity")
    return Cutoff(float(threshold), reason, *figures)
