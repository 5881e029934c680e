"""LIBLINEAR, through scikit-learn's LinearSVC: the l1-penalised SVM with squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.rivals.base import LinearModel, linear_model


@dataclass(frozen=True)
class Liblinear:
    """`penalty` "l1" is sparse; "l2" is LIBSVM's problem but for a penalised intercept."""

    C: float = 1.0
    penalty: str = "l1"
    tol: float = 1e-4

    @property
    def name(self) -> str:
        return f"LIBLINEAR ({self.penalty})"

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        svc = LinearSVC(
            penalty=self.penalty,
            loss="squared_hinge",
            dual=self.penalty == "l2",
            C=self.C,
            tol=self.tol,
            max_iter=20_000,
            random_state=0,
        )
        return linear_model(svc.fit(X, y))
