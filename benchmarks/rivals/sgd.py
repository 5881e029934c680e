"""Stochastic gradient descent on the elastic-net SVM, through scikit-learn's SGDClassifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

from benchmarks.rivals.base import LinearModel, linear_model


@dataclass(frozen=True)
class Sgd:
    """The same lambda1 and lambda2 as ours: alpha (r |w|_1 + (1 - r)/2 |w|^2) + mean hinge."""

    lambda1: float
    lambda2: float
    tol: float = 1e-4
    max_iter: int = 1000

    @property
    def name(self) -> str:
        return f"SGDClassifier, tol {self.tol:g}"

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        total = self.lambda1 + self.lambda2
        sgd = SGDClassifier(
            loss="hinge",
            penalty="elasticnet",
            alpha=total,
            l1_ratio=self.lambda1 / total,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=0,
        )
        return linear_model(sgd.fit(X, y))
