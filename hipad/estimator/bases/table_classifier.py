"""What every classifier here is to scikit-learn: labels of any kind, rows dense or sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from hipad.arrays import IntArray
from hipad.designs.base import FloatArray
from hipad.errors import DataError
from hipad.estimator.labels import coded_labels, known_labels, plain_labels, unlabelled_rows

FORMS = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


class TrainingRows(NamedTuple):
    """Rows of finite numbers, their labels, the positions of their classes, weights of at least 0.

    `known` marks the rows that have a label among all that came; `unlabelled` are the others.
    Rows of one group have the same number.
    """

    X: Any
    y: np.ndarray
    codes: IntArray
    weights: FloatArray
    known: np.ndarray
    unlabelled: Any = None
    groups: IntArray | None = None  # of the rows with a label, then of the others
    others: np.ndarray | None = None  # marks the unlabelled rows among all that came


def group_codes(groups: Any, n_rows: int) -> IntArray | None:
    """Return a number for each row, equal where rows are of one group; None without groups.

    >>> group_codes(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        shape = "x".join(map(str, values.shape))
        raise DataError(
            f"expected a group for each of {n_rows:,} rows, got {shape}: give one value per row"
        )
    if values.dtype.kind == "O":
        values = np.array([str(value) for value in values.tolist()])
    codes: IntArray = np.unique(values, return_inverse=True)[1].astype(np.intp)
    return codes


class TableClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that takes sparse rows as they are."""

    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _labelled(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> TrainingRows:
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
        numbers = group_codes(groups, X.shape[0])
        if missing is not None:
            counted = missing & (weights > 0)
            unlabelled = X[counted] if counted.any() else None
            numbers = None if numbers is None else np.r_[numbers[known], numbers[counted]]
            X, weights = X[known], weights[known]
        self.classes_, codes = coded_labels(y, weights)
        return TrainingRows(X, y, codes, weights, known, unlabelled, numbers, counted)

    def _rows_to_predict(self, X: Any) -> Any:
        """Rows to predict, which must have the columns of the fit."""
        return validate_data(self, X, reset=False, **FORMS)
