"""Cross-validation that repeats the whole fit: every row judged by a model that has not seen it.

    found = cross_validate(HIPADClassifier(rules), X, y, groups=patients)
    found.judge(("well", "ill")).accuracy

Whatever a fit learns from its rows (scaling, lambda1 and lambda2, the trust in rules, percentiles
that rules name, the intercept) is learnt anew without each fold. Values that were found with all
rows and held in the folds would flatter the model, by 5 points on 240 rows of 48 patients. Rows of
one group are held out together. Rows without a label are learnt from in every fold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold

from hipad.data.preprocessing import MissingValues
from hipad.estimator.base import known_labels, unlabelled_rows
from hipad.estimator.calibration import says_positive
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import Opening
from hipad.evaluation.intervals import Estimate, bootstrap_counts, fitted_numbers
from hipad.evaluation.metrics import ClassificationReport, judge
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.solvers.solution import single_thread
from hipad.utils import FloatArray, IntArray, count

FOLDS: Final = 5

Part = tuple[IntArray, IntArray]
"""Rows to learn from, and rows to judge."""


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold decision values, as far as there are any.

    Parameters
    ----------
    y : array
        The labels of all rows that are judged.
    parts : tuple of (learnt, held)
        Rows of each fold, as positions in `y`.
    scores : array
        One decision value a row, of several classes one a row and class; NaN until its fold is
        done. Above zero for the second class in order.
    done : int
        Folds that are done; they are done in order.
    groups : array or None
        The patient of each row, where several rows are of one.
    fitted : tuple of float
        How many numbers the model of each fold has fitted: see `fitted_numbers`.
    """

    y: np.ndarray
    parts: tuple[Part, ...]
    scores: FloatArray
    done: int = 0
    groups: np.ndarray | None = None
    fitted: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, y: Any, *, groups: Any = None, n_folds: int = FOLDS, random_state: int = 0
    ) -> CrossValidation:
        """Divide rows into folds, of which none is done; DataError where that cannot be."""
        y = np.asarray(y)
        own = None if groups is None else np.asarray(groups)
        parts = fold_parts(y, own, n_folds=n_folds, random_state=random_state)
        if not parts:
            raise DataError("expected two patients or groups or more of each class")
        n_classes = len(np.unique(y))
        shape = (len(y),) if n_classes == 2 else (len(y), n_classes)
        return cls(y, tuple(parts), np.full(shape, np.nan), 0, own)

    @property
    def total(self) -> int:
        """How many folds there are."""
        return len(self.parts)

    @property
    def is_done(self) -> bool:
        """Whether every row has been judged."""
        return self.done == self.total

    @property
    def fold(self) -> IntArray:
        """The fold in which each row is held out, counted from 0."""
        number = np.zeros(len(self.y), dtype=np.intp)
        for at, (_, held) in enumerate(self.parts):
            number[held] = at
        return number

    def judge(self, classes: tuple[str, str], *, part: str = "training") -> ClassificationReport:
        """How models do on rows that they have not seen; `classes` is (negative, positive)."""
        if not self.is_done or self.scores.ndim > 1:
            raise DataError(
                "expected decision values of two classes for all rows: go on until all folds are "
                "done"
            )
        sign = 1.0 if str(np.unique(self.y)[1]) == classes[1] else -1.0
        return judge(
            sign * self.scores,
            self.y,
            classes,
            part=part,
            groups=self.groups,
            folds=self.total,
            fitted=float(np.mean(self.fitted)),
        )


def fold_parts(
    y: np.ndarray, groups: np.ndarray | None, *, n_folds: int = FOLDS, random_state: int = 0
) -> list[Part]:
    """Return rows to learn from and rows to judge; every part has all classes to learn from.

    A group is never split. Where there is no choice of folds that allows it, there are none.

    >>> [held.tolist() for _, held in fold_parts(np.array([0, 0, 1, 1]), np.array([5, 7, 5, 7]))]
    [[1, 3], [0, 2]]
    """
    own = np.arange(len(y)) if groups is None else groups
    classes = np.unique(y)
    fewest = min((len(np.unique(own[y == name])) for name in classes), default=0)
    if len(classes) < 2 or fewest < 2:
        return []
    splitter = StratifiedGroupKFold(min(n_folds, fewest), shuffle=True, random_state=random_state)
    parts = [(learnt, held) for learnt, held in splitter.split(y, y, own)]
    whole = all(len(np.unique(y[learnt])) == len(classes) and len(held) for learnt, held in parts)
    return parts if whole else []


def cross_fit(
    begun: CrossValidation, start: Callable[[IntArray], Any], score: Callable[[Any, IntArray], Any]
) -> Iterator[CrossValidation]:
    """Fit without each fold that is not done yet, and yield what there is after every step.

    `start(learnt)` begins a fit to some of the rows, as `HIPADClassifier.fit_iter` does;
    `score(fitted, held)` gives decision values of others. Whoever leaves the loop may go on later
    from what was yielded last: folds that are done are not fitted again.
    """
    found = begun
    yield found
    for learnt, held in begun.parts[begun.done :]:
        scores = found.scores.copy()
        with single_thread():
            run = start(learnt)
            for _ in run:
                yield found
            model = run.finish()
            scores[held] = score(model, held)
        fitted = fitted_numbers(len(model.support_), model.n_features_in_)
        found = replace(found, scores=scores, done=found.done + 1, fitted=(*found.fitted, fitted))
        yield found


def cross_validate(
    estimator: HIPADClassifier,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    n_folds: int = FOLDS,
    random_state: int = 0,
    feature_names: Iterable[str] | FeatureIndex | None = None,
    gaps: MissingValues | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    begun: CrossValidation | None = None,
) -> CrossValidation:
    """Repeat the whole fit without each fold in turn, and return out-of-fold decision values.

    Parameters
    ----------
    estimator : HIPADClassifier
        Its parameters are used, it is not fitted itself. Where they are "auto" they are chosen
        anew in each fold.
    X : array, DataFrame or sparse matrix
        One row a patient.
    y : array
        Labels; a row without one is learnt from in every fold and not judged.
    groups : array, default=None
        Rows with the same value are of one patient and held out together.
    n_folds : int, default=5
        Number of folds; fewer where a class has fewer patients.
    random_state : int, default=0
        Which way rows are divided.
    feature_names, gaps : default=None
        As in `HIPADClassifier.fit_iter`.
    on_progress : callable, default=None
        Called with the number of folds that are done and of all, at the start and after each.
    should_stop : callable, default=None
        Asked between any two steps; True ends the work. What is returned is then not done, and is
        gone on with when it is given as `begun`.
    begun : CrossValidation, default=None
        An earlier result of the same call which was stopped.

    Returns
    -------
    CrossValidation
        The decision values of all labelled rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 3)), np.repeat(["ill", "well"], 20)
    >>> X[:20, 0] += 3.0
    >>> found = cross_validate(HIPADClassifier(lambda1=0.1, lambda2=1.0), X, y)
    >>> found.is_done, found.judge(("well", "ill")).accuracy.n
    (True, 40)
    """
    missing = unlabelled_rows(y)
    known = np.ones(X.shape[0], dtype=bool) if missing is None else ~missing
    places, others = np.flatnonzero(known), np.flatnonzero(~known)
    labels = np.asarray(y) if missing is None else known_labels(y, known)
    every = None if groups is None else np.asarray(groups)
    if begun is None:
        own = None if every is None else every[places]
        begun = CrossValidation.of(labels, groups=own, n_folds=n_folds, random_state=random_state)
    spelled = np.full(X.shape[0], None, dtype=object)
    spelled[places] = labels

    def start(learnt: IntArray) -> Any:
        rows = np.sort(np.r_[places[learnt], others])
        return type(estimator)(**estimator.get_params(deep=False)).fit_iter(
            _rows(X, rows),
            labels[learnt] if missing is None else spelled[rows],
            groups=None if every is None else every[rows],
            feature_names=feature_names,
            interactive=False,
            gaps=gaps.take(rows) if gaps else None,
        )

    def score(fitted: HIPADClassifier, held: IntArray) -> Any:
        return fitted.decision_function(_rows(X, places[held]))

    found, reported = begun, -1
    for found in cross_fit(begun, start, score):
        if on_progress is not None and found.done != reported:
            on_progress(found.done, found.total)
            reported = found.done
        if should_stop is not None and should_stop() and not found.is_done:
            break
    return found


def _rows(X: Any, rows: IntArray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


# --------------------------------------------------------------------------------------------------
# What tuning adds to a figure: bias-corrected bootstrap cross-validation over all versions.
#
#     found = corrected_figure(scores, positive, "balanced_accuracy", groups=patients)
#     found.corrected, found.uncorrected
#
# `scores` has one column for each version that was tried (rules and settings): its out-of-fold
# decision values, of folds that repeat the whole fit. The best of many versions is partly the one
# that these rows happen to favour. BBC-CV draws rows with replacement, takes the version that is
# best on them, and judges it by the rows that were not drawn (Tsamardinos, Greasidou and
# Borboudakis, Machine Learning 107 (2018) 1895-1922). Rows of one patient are drawn together. No
# model is fitted.


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
        """Return the share of shuffles, this order included, whose corrected figure is as good.

        >>> ChanceFigures((0.5, 0.6, 0.4), (0.6, 0.7, 0.5)).p_value(0.55)
        0.5
        """
        as_good = sum(one >= corrected for one in self.corrected)
        return (as_good + 1.0) / (len(self.corrected) + 1.0)


def shuffled_outcomes(
    y: npt.ArrayLike, groups: npt.ArrayLike | None = None, *, random_state: int = 0
) -> np.ndarray:
    """Return the outcomes in random order; rows of one patient keep theirs together.

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


# --------------------------------------------------------------------------------------------------
# A sealed test set: who looked at it when, and after how many edits.
#
#     seal = SealedTest(data_digest(X_test, y_test))
#     seal = seal.opened("final verdict", edits=14, when="2030-01-31T12:00:00+00:00")
#     seal.words                                     "judged once, after 14 edits"
#
# A figure on test rows is honest once. The record goes wherever the model goes: it is a small dict,
# and records of copies of the same rows join, whatever the order of rows.


AT_ONCE: Final = 256  # rows that are hashed from one copy
LONGEST_REASON: Final = 500  # characters that are kept
MOST_OPENINGS: Final = 10_000  # of a record that is read: more were not made by hand


def data_digest(X: Any, y: npt.ArrayLike) -> str:
    """Return a hash of rows and outcomes that does not depend on the order of the rows.

    >>> X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    >>> data_digest(X, y) == data_digest(X[::-1], y[::-1]) != data_digest(X + 1, y)
    True
    """
    labels = np.asarray(y)
    if X.shape[0] != labels.size:
        raise DataError(f"expected outcomes of {X.shape[0]:,} rows, got {labels.size:,}")
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    found = []
    for start in range(0, labels.size, AT_ONCE):
        part = X[start : start + AT_ONCE]
        part = part.toarray() if sparse.issparse(part) else np.asarray(part)
        part = np.ascontiguousarray(part, dtype="<f8") + 0.0  # no zero below zero
        for values, label in zip(part, labels[start : start + AT_ONCE].tolist(), strict=True):
            own = hashlib.sha256(values.data)
            own.update(str(label).encode("utf-8", "surrogatepass"))
            found.append(own.digest())
    return hashlib.sha256(f"{X.shape[1]} ".encode() + b"".join(sorted(found))).hexdigest()


@dataclass(frozen=True)
class SealedTest:
    """The record of one set of test rows. A demonstration starts open and counts nothing."""

    digest: str
    openings: tuple[Opening, ...] = ()
    demonstration: bool = False

    @property
    def is_open(self) -> bool:
        """Whether figures on these rows may be shown."""
        return self.demonstration or bool(self.openings)

    def opened(self, reason: str, edits: int, when: str) -> Self:
        """Return the record with one more opening; a reason must be given."""
        given = " ".join(str(reason).split())[:LONGEST_REASON]
        if not given:
            raise DataError("expected a sentence of why the test rows are opened, got none")
        opening = _checked(when, edits, given)
        return replace(self, openings=tuple(sorted({*self.openings, opening})))

    def merged(self, other: SealedTest) -> Self:
        """Return the openings of both; the records must be of the same rows."""
        if other.digest != self.digest:
            raise DataError("expected two records of the same test rows, got those of others")
        both = tuple(sorted({*self.openings, *other.openings}))
        return replace(
            self, openings=both, demonstration=self.demonstration and other.demonstration
        )

    @property
    def words(self) -> str:
        """How often the rows were looked at, for every place that shows a figure on them.

        >>> seal = SealedTest("0")
        >>> seal.words
        'sealed'
        >>> seal = seal.opened("verdict", 1, "2030-01-01")
        >>> seal.words, seal.opened("again", 14, "2030-01-02").words
        ('judged once, after 1 edit', 'opened 2 times, after 1 and 14 edits')
        """
        if self.demonstration:
            return "demonstration: open from the start"
        if not self.openings:
            return "sealed"
        edits = [opening.edits for opening in self.openings]
        if len(edits) == 1:
            return f"judged once, after {count(edits[0], 'edit')}" if edits[0] else "judged once"
        if len(edits) == 2:
            return f"opened 2 times, after {edits[0]:,} and {count(edits[1], 'edit')}"
        return f"opened {len(edits):,} times, after up to {count(max(edits), 'edit')}"

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and texts alone, for JSON."""
        return {
            "digest": self.digest,
            "demonstration": self.demonstration,
            "openings": [vars(opening).copy() for opening in self.openings],
        }

    @classmethod
    def from_dict(cls, read: Mapping[str, Any]) -> Self:
        """Return the record that `to_dict` gave; DataError where it is none."""
        try:
            digest, openings = read["digest"], read["openings"]
            demonstration = read["demonstration"]
            whole = isinstance(digest, str) and isinstance(demonstration, bool)
            if not whole or not isinstance(openings, list) or len(openings) > MOST_OPENINGS:
                raise TypeError
            found = {
                _checked(one["when"], one["edits"], str(one["reason"])[:LONGEST_REASON])
                for one in openings
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                "expected a record of a sealed test set (digest, demonstration, openings), got "
                "something else: take the file as it was written"
            ) from error
        return cls(digest, tuple(sorted(found)), demonstration)


def _checked(when: Any, edits: Any, reason: str) -> Opening:
    try:
        datetime.fromisoformat(when)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"expected a time such as 2030-01-31T12:00:00, got {str(when)[:40]!r}"
        ) from error
    if not isinstance(edits, int) or isinstance(edits, bool) or edits < 0:
        raise DataError(f"expected a number of edits of 0 or more, got {str(edits)[:40]!r}")
    return Opening(when, edits, reason)
