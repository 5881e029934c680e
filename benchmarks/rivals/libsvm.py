"""LIBSVM, through scikit-learn's SVC with a linear kernel; C fixed or by inner cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.rivals.base import LinearModel, linear_model

GRID = tuple(10.0**k for k in range(-5, 3))
FOLDS = 5


@dataclass(frozen=True)
class Libsvm:
    """C=None chooses C on the training rows; `scale` standardises the columns of a dense X."""

    C: float | None = 1.0
    scale: bool = False

    @property
    def name(self) -> str:
        return "LIBSVM" + (", C tuned" if self.C is None else "") + (", scaled" * self.scale)

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        return self._fit_scaled(X, y) if self.scale else self._fit(X, y)

    def _fit(self, X: Any, y: np.ndarray) -> LinearModel:
        if self.C is not None:
            return linear_model(SVC(kernel="linear", C=self.C).fit(X, y))
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        search = GridSearchCV(SVC(kernel="linear"), {"C": GRID}, cv=folds)
        return linear_model(search.fit(X, y).best_estimator_)

    def _fit_scaled(self, X: Any, y: np.ndarray) -> LinearModel:
        mean, scale = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
        scale[scale == 0] = 1.0
        model = self._fit((X - mean) / scale, y)
        w = model.w / scale
        return LinearModel(w, model.b - float(mean @ w), model.classes)
