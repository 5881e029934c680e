"""The risk from which on the answer is the positive class, chosen on out-of-fold training risks.

    cut = cutoff_by_cost(training_rows(clf), 5.0)        # a missed row costs as five false alarms
    clf.set_risk_threshold(cut.threshold)
    clf.predict(X)                                       # the second class from that risk on

Whoever chooses a cut-off on the rows that judge it flatters the model, so it is chosen on risks of
training rows by models that have not seen them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hipad.estimator.fit import fresh_values
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.utils import FloatArray, number, percent


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
    """Whether each risk is answered with the positive class.

    >>> risk_answers([0.2, 0.34, 0.5], 0.34).tolist()
    [False, True, True]
    """
    answers: npt.NDArray[np.bool_] = np.asarray(risks, dtype=float) >= threshold
    return answers


def training_rows(clf: Any, *, sign: float = 1.0) -> ScoredRows:
    """The labelled training rows of a fitted classifier, with out-of-fold scores and risks.

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
    """The largest threshold at which at least a share `least` of positive rows is found.

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
    """The threshold of the largest net benefit to whoever would act from risk `at` on.

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
    told = rows.at(float(threshold))
    figures = told.measure("sensitivity"), told.measure("specificity")
    return Cutoff(float(threshold), reason, *figures)
