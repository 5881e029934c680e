"""A fitted model as a formula over the raw columns of its table: what every export writes out.

    score     = intercept + sum of weight * value over columns of numbers
                          + sum of the weight of a column's level over columns of categories
    log odds  = a line in the score, or straight lines between knots, constant beyond them
    risk      = 1 / (1 + exp(-log odds))

A number that is missing is replaced by the column's fill value, as in training; where a column has
none, rows with a gap get no answer. A level that the model does not know counts zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from hipad.estimator.calibration import MOST_LOG_ODDS, CalibrationMap
from hipad.estimator.model_io import Origin, StoredModel
from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError
from hipad.utils import FloatArray

MOST_TERMS = 5_000  # beyond it a formula is no formula any more, and most readers refuse it


@dataclass(frozen=True)
class NumberTerm:
    """A column of numbers: its weight, and what stands for a missing value (None: no answer)."""

    column: str
    weight: float
    fill: float | None


@dataclass(frozen=True)
class CategoryTerm:
    """A column of categories: the weight of each level; any other level counts zero."""

    column: str
    weights: tuple[tuple[str, float], ...]
    answers_gaps: bool  # whether a row without a value gets an answer


@dataclass(frozen=True)
class RiskLine:
    """Log odds of the positive class: slope * score + intercept, within the bounds."""

    slope: float
    intercept: float


@dataclass(frozen=True)
class RiskKnots:
    """Log odds of the positive class on straight lines between knots, constant beyond them."""

    scores: tuple[float, ...]
    log_odds: tuple[float, ...]


@dataclass(frozen=True)
class ScoringFormula:
    """A model of two classes over raw columns.

    Attributes
    ----------
    outcome : str
        The column that the model predicts.
    classes : tuple of str
        The negative and the positive class.
    numbers, categories : tuple
        The terms whose weight is not zero.
    intercept : float
        The score of a row in which every term is zero.
    risk : RiskLine, RiskKnots or None
        From the score to the log odds; None where the model was saved without probabilities.
    threshold : float or None
        The risk from which on the positive class is the answer; None: a score above zero.
    """

    outcome: str
    classes: tuple[str, str]
    numbers: tuple[NumberTerm, ...]
    categories: tuple[CategoryTerm, ...]
    intercept: float
    risk: RiskLine | RiskKnots | None
    threshold: float | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the formula reads, numbers first."""
        numbers = tuple(term.column for term in self.numbers)
        return numbers + tuple(term.column for term in self.categories)

    @classmethod
    def of(cls, stored: StoredModel, *, prevalence: float | None = None) -> ScoringFormula:
        """Return the formula of a model that was read from a file.

        Parameters
        ----------
        stored : StoredModel
            What `hipad.estimator.model_io.read_model` returns.
        prevalence : float, default=None
            The share of the positive class where the formula will be used; None is the model's own.

        Raises
        ------
        DataError
            For a model of several classes, or of too many features to be written as a formula.
        """
        clf, origin = stored.classifier, stored.origin
        if len(clf.classes_) != 2:
            raise DataError(
                f"expected a model of two classes, got one of {len(clf.classes_)}: fit one class "
                "against the rest and export that model"
            )
        labels = [str(label) for label in clf.classes_]
        classes = (labels[0], labels[1])
        if origin is not None:
            classes = (origin.classes[0], origin.classes[1])
        view = PositiveClassView(clf, classes)
        support = view.support
        if support.size > MOST_TERMS:
            raise DataError(
                f"expected at most {MOST_TERMS:,} features for a formula, got {support.size:,}: "
                "fit with max_features, or hand on the model file itself"
            )
        weights = {int(j): float(view.weights[j]) for j in support}
        if origin is None:
            names = clf.feature_index_
            numbers = tuple(NumberTerm(names.name(j), w, None) for j, w in weights.items())
            categories: tuple[CategoryTerm, ...] = ()
        else:
            numbers, categories = _terms(origin, weights)
        return cls(
            outcome=origin.label if origin is not None else "class",
            classes=classes,
            numbers=numbers,
            categories=categories,
            intercept=view.intercept,
            risk=_risk(view, prevalence),
            threshold=view.threshold,
        )

    def score(self, row: Mapping[str, Any]) -> float | None:
        """Return the score of a row of raw values by column, None where it cannot be answered."""
        total = self.intercept
        for term in self.numbers:
            value = _number(row.get(term.column))
            if value is None and term.fill is None:
                return None
            total += term.weight * (term.fill if value is None else value)  # type: ignore[operator]
        for category in self.categories:
            level = row.get(category.column)
            if _is_blank(level) and not category.answers_gaps:
                return None
            total += dict(category.weights).get(str(level), 0.0)
        return total

    def log_odds(self, score: float) -> float:
        """Return the log odds of the positive class at a score."""
        if self.risk is None:
            raise DataError(
                "the model was saved without probabilities: expected a model that was fitted with "
                "calibrate=True: fit it again"
            )
        if isinstance(self.risk, RiskKnots):
            found = float(np.interp(score, self.risk.scores, self.risk.log_odds))
        else:
            found = self.risk.slope * score + self.risk.intercept
        return min(max(found, -MOST_LOG_ODDS), MOST_LOG_ODDS)

    def probability(self, row: Mapping[str, Any]) -> float | None:
        """Return the risk of the positive class in a row, None where it cannot be answered."""
        score = self.score(row)
        return None if score is None else float(expit(self.log_odds(score)))


def _number(value: Any) -> float | None:
    """Return a finite number, None for a gap."""
    if _is_blank(value):
        return None
    found = float(value)
    return found if np.isfinite(found) else None


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _terms(
    origin: Origin, weights: dict[int, float]
) -> tuple[tuple[NumberTerm, ...], tuple[CategoryTerm, ...]]:
    """Return the terms of the features of a table, by the recipe that made them of its columns."""
    recipe = origin.recipe
    kept = recipe.kept if recipe.kept is not None else None
    by_place = {int(kept[j]) if kept is not None else j: w for j, w in weights.items()}
    fill = recipe.fill
    numbers = tuple(
        NumberTerm(name, by_place[j], None if fill is None else float(fill[j]))
        for j, name in enumerate(recipe.number_names)
        if j in by_place
    )
    categories = []
    at = len(recipe.number_names)
    for name, levels in recipe.levels.items():
        own = [(level, by_place[at + k]) for k, level in enumerate(levels) if at + k in by_place]
        if own:
            categories.append(CategoryTerm(name, tuple(own), answers_gaps=fill is not None))
        at += len(levels)
    return numbers, tuple(categories)


def _risk(view: PositiveClassView, prevalence: float | None) -> RiskLine | RiskKnots | None:
    """Return the log odds of the positive class by the score seen from it."""
    clf = view.classifier
    if not clf.risk_source_.known:
        return None
    curve: CalibrationMap = clf.risk_curve_
    share = clf.prevalence
    if prevalence is not None:
        share = prevalence if view.sign > 0 else 1.0 - prevalence
    moved = 0.0 if share is None else float(logit(share) - logit(curve.prevalence))
    if not curve.at.size:
        # seen from the other class both the score and the log odds change their sign
        return RiskLine(float(curve.slope), view.sign * (float(curve.intercept) + moved))
    scores: FloatArray = view.sign * curve.at
    log_odds: FloatArray = view.sign * (curve.log_odds + moved)
    order = slice(None) if view.sign > 0 else slice(None, None, -1)
    return RiskKnots(tuple(scores[order].tolist()), tuple(log_odds[order].tolist()))
