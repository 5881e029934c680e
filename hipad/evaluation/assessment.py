"""What a model, and one without its rules, say of rows that neither has learnt from.

    steps = assess_steps(fits, view, "cross-validated")     # a generator: yields (message, share)
    found = last_value(steps)                               # Assessment

Rows are those of an opened test set, or the training rows, each judged by a model that was fitted
without its fold: the whole fit is repeated, with everything that it chooses. The model without
rules is tuned for itself.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from hipad.evaluation.cross_validation import FOLDS, CrossValidation, cross_fit
from hipad.evaluation.curves import training_rows
from hipad.evaluation.metrics import PositiveClassView, ScoredRows
from hipad.evaluation.new_rows import ConformalSets, cross_conformal
from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray, count

Source = Literal["test", "cross-validated"]
Value = TypeVar("Value")


class Step(NamedTuple):
    """What is being done, and which share of all is done."""

    message: str
    share: float


Steps = Generator[Step, None, Value]


class Fits(Protocol):
    """The rows of a study, and fits to some or all of its training rows."""

    @property
    def classes(self) -> tuple[str, str]: ...
    @property
    def X_train(self) -> Any: ...
    @property
    def y_train(self) -> np.ndarray: ...
    @property
    def groups_train(self) -> IntArray | None: ...
    @property
    def X_test(self) -> Any: ...
    @property
    def y_test(self) -> np.ndarray | None: ...
    @property
    def groups_test(self) -> IntArray | None: ...
    @property
    def has_rules(self) -> bool: ...

    def start(self, learnt: IntArray | None, *, rules: bool) -> Any:
        """Begin a fit to some of the training rows, or to all of them, with rules or without."""
        ...


class Folds(Protocol):
    """The folds of one fit as far as they are done, and the risks of the rows in these."""

    found: CrossValidation | None
    risks: FloatArray


@dataclass(eq=False)
class NewFolds:
    """Folds of which none is done."""

    risks: FloatArray
    found: CrossValidation | None = None


@dataclass(frozen=True, eq=False)
class Assessment:
    """Scores and risks of the same rows, with rules and without.

    Attributes
    ----------
    source : "test" or "cross-validated"
        Which rows these are.
    rows : ScoredRows
        What the model says of them.
    without : ScoredRows or None
        What a model without rules says of them, tuned for itself; None where there are no rules.
    names : array
        What each row is called: its ID or its number in the file.
    noun : str
        What a row is called in sentences: a patient, unless several rows are of one.
    p_values, p_values_without : array or None
        How likely each row is as strange in each class (`hipad.evaluation.new_rows`), with rules
        and without; None where there are too few rows to tell.
    most_coverage : float
        The largest coverage that so many labelled rows allow.
    """

    source: Source
    rows: ScoredRows
    without: ScoredRows | None
    names: np.ndarray
    noun: str = "patient"
    p_values: FloatArray | None = None
    p_values_without: FloatArray | None = None
    most_coverage: float = 1.0

    @property
    def whom(self) -> str:
        """How many rows these are, and of how many patients where several are of one."""
        if self.rows.groups is None:
            return count(len(self.rows), self.noun)
        n_patients = np.unique(np.asarray(self.rows.groups)).size
        return f"{count(len(self.rows), 'row')} of {count(n_patients, 'patient')}"

    def at(self, threshold: float | None) -> Assessment:
        """Return the same rows, answered from another risk on, with rules and without."""
        if threshold == self.rows.threshold:
            return self
        without = None if self.without is None else self.without.at(threshold)
        return replace(self, rows=self.rows.at(threshold), without=without)


def assess_steps(
    fits: Fits,
    classifier: Any,
    source: Source,
    *,
    names: np.ndarray,
    noun: str,
    n_folds: int = FOLDS,
    random_state: int = 0,
    folds: Sequence[Folds] = (),
) -> Steps[Assessment]:
    """Assess a fitted model; yields a `Step` after each step, and returns the `Assessment`.

    Parameters
    ----------
    fits : Fits
        The rows, and the fit that makes the model anew.
    classifier : HIPADClassifier
        The model, fitted to all training rows.
    source : "test" or "cross-validated"
        The rows to judge by.
    names : array
        What each of these rows is called.
    noun : str
        What a row is called where each is of its own patient.
    n_folds, random_state : int
        Of the cross-validation.
    folds : sequence of Folds, default=()
        Folds of the fit and of the one without rules that may be done already; these go on, and are
        noted there.
    """
    view = PositiveClassView(classifier, fits.classes)
    without: ScoredRows | None = None
    own_without: tuple[FloatArray | None, float] = None, 1.0
    if source == "test":
        rows = _test_rows(view, fits)
        summary = _calibrated(view, rows)
        if fits.has_rules:
            message = "A model without rules is fitted, to compare with"
            yield Step(message, 0.2)
            run = fits.start(None, rules=False)
            for _ in run:
                yield Step(message, 0.5)
            other = PositiveClassView(run.finish(), fits.classes)
            without = _test_rows(other, fits)
            own_without = _calibrated(other, without)
    else:
        parts = 1 + int(fits.has_rules)
        works = folds or [NewFolds(np.full(len(fits.y_train), np.nan)) for _ in range(parts)]
        for work in works:
            work.found = work.found or CrossValidation.of(
                fits.y_train, groups=fits.groups_train, n_folds=n_folds, random_state=random_state
            )
        rows = yield from _cross_validated(fits, works[0], 0, parts)
        summary = _own_p_values(rows)
        if fits.has_rules:
            without = yield from _cross_validated(fits, works[1], 1, parts)
            own_without = _own_p_values(without)
    return Assessment(
        source,
        rows,
        without,
        names,
        noun if rows.groups is None else "row",
        summary[0],
        own_without[0],
        summary[1],
    )


def _calibrated(view: PositiveClassView, rows: ScoredRows) -> tuple[FloatArray | None, float]:
    """Return p-values of rows by the out-of-fold scores of the training rows, and their limit."""
    try:
        seen = training_rows(view.classifier, sign=view.sign)
        sets = ConformalSets.fit(seen.scores, seen.positive, seen.groups)
    except DataError:  # too few rows of a class
        return None, 1.0
    return sets.p_values(rows.scores), sets.most_coverage


def _own_p_values(rows: ScoredRows) -> tuple[FloatArray | None, float]:
    """Return p-values of out-of-fold rows, each without its own patient, and their limit."""
    try:
        found = cross_conformal(rows.scores, rows.positive, rows.groups)
    except DataError:
        return None, 1.0
    return found, ConformalSets.fit(rows.scores, rows.positive, rows.groups).most_coverage


def _test_rows(view: PositiveClassView, fits: Fits) -> ScoredRows:
    if fits.y_test is None:
        raise DataError("expected test rows of known class, got none: judge by the training rows")
    scores = view.scores(fits.X_test)
    positive = fits.y_test == fits.classes[1]
    return ScoredRows(positive, scores, view.risks(scores), fits.groups_test)


def _cross_validated(fits: Fits, work: Folds, number: int, total: int) -> Steps[ScoredRows]:
    """Fit without each fold that is not done; return the scored training rows."""

    def start(learnt: IntArray) -> Any:
        return fits.start(learnt, rules=number == 0)

    def score(fitted: Any, held: IntArray) -> Any:
        scores = fitted.decision_function(fits.X_train[held])
        view = PositiveClassView(fitted, fits.classes)
        work.risks[held] = view.risks(view.sign * scores)
        return scores

    which = "without rules" if number else "the model"
    begun = work.found
    assert begun is not None
    found = begun
    for found in cross_fit(begun, start, score):
        work.found = found
        at = min(found.done + 1, found.total)
        message = f"Cross-validation of {which}: fold {at} of {found.total}"
        yield Step(message, (number + found.done / found.total) / total)
    sign = 1.0 if str(np.unique(found.y)[1]) == fits.classes[1] else -1.0
    return ScoredRows(
        fits.y_train == fits.classes[1],
        sign * found.scores,
        work.risks,
        fits.groups_train,
        folds=found.total,
        fitted=float(np.mean(found.fitted)),
    )
