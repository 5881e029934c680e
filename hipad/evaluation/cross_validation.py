"""Cross-validation that repeats the whole fit: every row judged by a model that has not seen it.

    found = cross_validate(HIPADClassifier(rules), X, y, groups=patients)
    found.judge(("well", "ill")).accuracy

Whatever a fit learns from its rows (scaling, lambda1 and lambda2, the trust in rules, percentiles
that rules name, the intercept) is learnt anew without each fold. Values that were found with all
rows and held in the folds would flatter the model, by 5 points on 240 rows of 48 patients. Rows of
one group are held out together. Rows without a label are learnt from in every fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from hipad.data.preprocessing import MissingValues
from hipad.estimator.base import known_labels, unlabelled_rows
from hipad.estimator.classifier import HIPADClassifier
from hipad.evaluation.intervals import fitted_numbers
from hipad.evaluation.metrics import ClassificationReport, judge
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.solvers.solution import single_thread
from hipad.utils import FloatArray, IntArray

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
    """Rows to learn from and rows to judge; every part has all classes to learn from.

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

    `start(learnt)` begins a fit to some of the rows, as `HIPADClassifier.start` does;
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
        As in `HIPADClassifier.start`.
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
        return type(estimator)(**estimator.get_params(deep=False)).start(
            _rows(X, rows),
            labels[learnt] if missing is None else spelled[rows],
            groups=None if every is None else every[rows],
            feature_names=feature_names,
            quick=True,
            gaps=gaps.take(rows) if gaps else None,
        )

    def score(fitted: HIPADClassifier, held: IntArray) -> Any:
        return fitted.decision_function(_rows(X, places[held]))

    found, told = begun, -1
    for found in cross_fit(begun, start, score):
        if on_progress is not None and found.done != told:
            on_progress(found.done, found.total)
            told = found.done
        if should_stop is not None and should_stop() and not found.is_done:
            break
    return found


def _rows(X: Any, rows: IntArray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
