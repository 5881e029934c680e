"""What every classifier here is to scikit-learn: two classes, and rows that are dense or sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from hipad.designs.base import FloatArray
from hipad.estimator.labels import known_labels, plain_labels, signed_labels, unlabelled_rows

FORMS = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


class TrainingRows(NamedTuple):
    """Rows of finite numbers, their labels, the labels as -1 and +1, and weights of at least 0.

    `known` marks the rows that have a label among all that came; `unlabelled` are the others.
    """

    X: Any
    y: np.ndarray
    signs: FloatArray
    weights: FloatArray
    known: np.ndarray
    unlabelled: Any = None
    others: np.ndarray | None = None  # marks the unlabelled rows among all that came


class TwoClasses(ClassifierMixin, BaseEstimator):
    """A classifier of two classes that takes sparse rows as they are."""

    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """The rows of a fit, checked; the classifier learns its classes and columns from them."""
        missing, unlabelled, counted = unlabelled_rows(y), None, None
        if missing is None:
            X, y = validate_data(self, X, plain_labels(y), **FORMS)
            known = np.ones(X.shape[0], dtype=bool)
        else:
            X = validate_data(self, X, **FORMS)
            check_consistent_length(X, missing)
            known = ~missing
            y = known_labels(y, known)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if missing is not None:
            counted = missing & (weights > 0)
            unlabelled = X[counted] if counted.any() else None
            X, weights = X[known], weights[known]
        self.classes_, signs = signed_labels(y, weights)
        return TrainingRows(X, y, signs, weights, known, unlabelled, counted)

    def _rows_to_predict(self, X: Any) -> Any:
        """Rows to predict, which must have the columns of the fit."""
        return validate_data(self, X, reset=False, **FORMS)
