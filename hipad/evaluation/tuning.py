"""What tuning adds to a figure: bias-corrected bootstrap cross-validation over all versions.

    found = corrected_figure(scores, positive, "balanced_accuracy", groups=patients)
    found.corrected, found.uncorrected

`scores` has one column for each version that was tried (rules and settings): its out-of-fold
decision values, of folds that repeat the whole fit. The best of many versions is partly the one
that these rows happen to favour. BBC-CV draws rows with replacement, takes the version that is best
on them, and judges it by the rows that were not drawn (Tsamardinos, Greasidou and Borboudakis,
Machine Learning 107 (2018) 1895-1922). Rows of one patient are drawn together. No model is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from hipad.estimator.calibration import says_positive
from hipad.evaluation.intervals import Estimate, bootstrap_counts
from hipad.exceptions import DataError
from hipad.utils import FloatArray

DRAWS: Final = 1000  # as the authors recommend 500 or more
LEVEL: Final = 0.95


@dataclass(frozen=True)
class CorrectedFigure:
    """The figure of the best version, corrected for the choice, and as it stands.

    `optimism` is the difference, at least zero; `best` is the column of the best version.
    """

    corrected: Estimate
    uncorrected: float
    versions: int
    best: int

    @property
    def optimism(self) -> float:
        """By how much the best version's figure flatters, on average."""
        return max(self.uncorrected - self.corrected.value, 0.0)


def corrected_figure(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    metric: str = "balanced_accuracy",
    *,
    groups: npt.ArrayLike | None = None,
    draws: int = DRAWS,
    random_state: int = 0,
) -> CorrectedFigure:
    """Correct the figure of the best of several versions for their number.

    Parameters
    ----------
    scores : array, rows x versions
        Out-of-fold decision values, above zero for the positive class.
    positive : array of bool
        The class of each row.
    metric : {"accuracy", "balanced_accuracy", "roc_auc"}, default="balanced_accuracy"
        By which versions are compared; larger is better.
    groups : array, default=None
        Rows with the same value are of one patient.
    draws : int, default=1000
        Bootstrap samples.
    random_state : int, default=0
        Which samples.

    Returns
    -------
    CorrectedFigure
        With one version the correction is nothing but the noise of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(40) % 2 == 0
    >>> found = corrected_figure(rng.normal(size=(40, 50)), truth)
    >>> found.uncorrected > 0.6, abs(found.corrected.value - 0.5) < 0.05
    (True, True)
    """
    values = np.asarray(scores, dtype=float)
    values = values[:, None] if values.ndim == 1 else values
    truth = np.asarray(positive, dtype=bool)
    if values.shape[0] != truth.size or not values.shape[1] or not np.isfinite(values).all():
        raise DataError(
            f"expected finite scores of {truth.size:,} rows by one version or more, got the shape "
            f"{values.shape}: give the versions whose folds are done"
        )
    if metric not in FIGURES:
        raise DataError(f"expected a metric of {', '.join(FIGURES)}, got {metric!r}")
    if truth.all() or not truth.any():
        raise DataError("expected rows of both classes, got one")
    figure = FIGURES[metric]
    counts = bootstrap_counts(truth.size, groups, draws, np.random.default_rng(random_state))
    outside = (counts == 0).astype(float)
    both = [(own @ truth > 0) & (own @ ~truth > 0) for own in (counts, outside)]
    usable = both[0] & both[1]
    if not usable.any():
        raise DataError("expected enough patients of each class to draw from, got too few")
    inside, held = figure(counts[usable], values, truth), figure(outside[usable], values, truth)
    taken = np.argmax(inside, axis=1)
    found = held[np.arange(len(taken)), taken]
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    own = figure(np.ones((1, truth.size)), values, truth)[0]
    best = int(np.argmax(own))
    estimate = Estimate(float(found.mean()), float(low), float(high))
    return CorrectedFigure(estimate, float(own[best]), values.shape[1], best)


def _accuracy(counts: FloatArray, scores: FloatArray, truth: np.ndarray) -> FloatArray:
    right = (says_positive(scores) == truth[:, None]).astype(float)
    return np.asarray(counts @ right / counts.sum(axis=1, keepdims=True))


def _balanced_accuracy(counts: FloatArray, scores: FloatArray, truth: np.ndarray) -> FloatArray:
    parts = [_accuracy(counts[:, side], scores[side], truth[side]) for side in (truth, ~truth)]
    return 0.5 * (parts[0] + parts[1])


def _roc_auc(counts: FloatArray, scores: FloatArray, truth: np.ndarray) -> FloatArray:
    """Weighted; ties count one half."""
    found = np.empty((len(counts), scores.shape[1]))
    for k, own in enumerate(scores.T):
        values, place = np.unique(own, return_inverse=True)
        at = np.zeros((own.size, values.size))
        at[np.arange(own.size), place] = 1.0
        well, ill = ((counts * side) @ at for side in (~truth, truth))
        below = np.cumsum(well, axis=1) - 0.5 * well
        found[:, k] = (ill * below).sum(axis=1) / (ill.sum(axis=1) * well.sum(axis=1))
    return found


Figure = Callable[[FloatArray, FloatArray, np.ndarray], FloatArray]
FIGURES: Final[dict[str, Figure]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "roc_auc": _roc_auc,
}


# --------------------------------------------------------------------------------------------------
# Where chance lies: the same versions on outcomes that were shuffled.


@dataclass(frozen=True)
class ChanceFigures:
    """For each shuffle the corrected and the uncorrected figure of the best version."""

    corrected: tuple[float, ...]
    uncorrected: tuple[float, ...]

    def p_value(self, corrected: float) -> float:
        """The share of shuffles, this order included, whose corrected figure is as good.

        >>> ChanceFigures((0.5, 0.6, 0.4), (0.6, 0.7, 0.5)).p_value(0.55)
        0.5
        """
        as_good = sum(one >= corrected for one in self.corrected)
        return (as_good + 1.0) / (len(self.corrected) + 1.0)


def shuffled_outcomes(
    y: npt.ArrayLike, groups: npt.ArrayLike | None = None, *, random_state: int = 0
) -> np.ndarray:
    """The outcomes in random order; rows of one patient keep theirs together.

    Where each patient has one outcome, patients exchange these. Otherwise patients of as many rows
    exchange all of theirs.

    >>> found = shuffled_outcomes([0, 0, 1, 1, 1, 1], [5, 5, 6, 6, 7, 7], random_state=0)
    >>> np.ptp(found.reshape(3, 2), axis=1).tolist()
    [0, 0, 0]
    """
    labels, rng = np.asarray(y), np.random.default_rng(random_state)
    if groups is None:
        return labels[rng.permutation(labels.size)]
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    found = labels.copy()
    if all(np.unique(labels[own]).size == 1 for own in members):
        order = rng.permutation(len(members))
        for own, other in zip(members, order, strict=True):
            found[own] = labels[members[other][0]]
        return found
    for size in sorted({own.size for own in members}):
        alike = [own for own in members if own.size == size]
        for own, other in zip(alike, rng.permutation(len(alike)), strict=True):
            found[own] = labels[alike[other]]
    return found


def chance_figures(
    score_versions: Callable[[np.ndarray], FloatArray],
    y: npt.ArrayLike,
    is_positive: Callable[[np.ndarray], npt.NDArray[np.bool_]],
    *,
    times: int = 20,
    metric: str = "balanced_accuracy",
    groups: npt.ArrayLike | None = None,
    random_state: int = 0,
) -> Iterator[ChanceFigures]:
    """Yield, after each shuffle, where chance lies; whoever leaves the loop keeps what there is.

    Parameters
    ----------
    score_versions : callable
        From outcomes to out-of-fold decision values, rows x versions: the same edits again.
    y : array
        The outcomes.
    is_positive : callable
        From outcomes to whether each is of the positive class.
    times, metric, groups, random_state
        How many shuffles; as in `corrected_figure`.
    """
    corrected: list[float] = []
    uncorrected: list[float] = []
    for k in range(times):
        shuffled = shuffled_outcomes(y, groups, random_state=random_state + k)
        scores = score_versions(shuffled)
        found = corrected_figure(scores, is_positive(shuffled), metric, groups=groups)
        corrected.append(found.corrected.value)
        uncorrected.append(found.uncorrected)
        yield ChanceFigures(tuple(corrected), tuple(uncorrected))
