"""What every rival offers: `fit(X, y)` gives a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from hipad.utils import FloatArray


@dataclass(frozen=True)
class LinearModel:
    """x -> w'x + b, positive for the second of the two classes."""

    w: FloatArray
    b: float
    classes: np.ndarray

    def scores(self, X: Any) -> FloatArray:
        """Decision values."""
        return np.asarray(X @ self.w, dtype=float).ravel() + self.b

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row."""
        return self.classes[(self.scores(X) > 0).astype(int)]

    def accuracy(self, X: Any, y: np.ndarray) -> float:
        """Share of rows that are right."""
        return float(np.mean(self.predict(X) == y))

    @property
    def support_size(self) -> int:
        """Features with a weight."""
        return int(np.count_nonzero(self.w))

    def objective(self, X: Any, y: np.ndarray, lambda1: float, lambda2: float) -> float:
        """The elastic-net SVM of the paper: what Sgd and our exact mode minimise."""
        signs = np.where(y == self.classes[1], 1.0, -1.0)
        loss = np.maximum(1.0 - signs * self.scores(X), 0.0).mean()
        return float(loss + lambda1 * np.abs(self.w).sum() + 0.5 * lambda2 * self.w @ self.w)


class Rival(Protocol):
    """A classifier with its settings."""

    @property
    def name(self) -> str: ...

    def fit(self, X: Any, y: np.ndarray) -> LinearModel: ...


def linear_model(fitted: Any) -> LinearModel:
    """From a fitted scikit-learn classifier with coef_ and intercept_."""
    coef = fitted.coef_.toarray() if issparse(fitted.coef_) else fitted.coef_
    return LinearModel(
        np.asarray(coef, dtype=float).ravel(),
        float(np.ravel(fitted.intercept_)[0]),
        fitted.classes_,
    )
