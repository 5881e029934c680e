"""HIPADClassifier behind the rivals' signature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.rivals.base import LinearModel, linear_model
from hipad import HIPADClassifier


@dataclass(frozen=True)
class Hipad:
    """Settings are those of HIPADClassifier; `paper` starts from the paper's literal ones."""

    name: str = "HIPAD"
    rules: str | None = None
    feature_names: tuple[str, ...] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    paper: bool = False

    def classifier(self) -> HIPADClassifier:
        """One that is not fitted yet."""
        make = HIPADClassifier.paper if self.paper else HIPADClassifier
        return make(self.rules, **self.settings)

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        watch = self.classifier().start(X, y, feature_names=self.feature_names)
        for _ in watch:
            pass
        return linear_model(watch.finish())


@dataclass(frozen=True)
class TunedHipad:
    """HIPAD tuned as LIBSVM is: for accuracy, on the same inner folds, without class weights.

    Both then maximise plain accuracy, so the comparison is of the classifiers alone; lambda2 is to
    HIPAD what C is to LIBSVM. Ties go to the first value: the model with the fewest features.
    """

    name: str = "HIPAD, tuned"
    lambda1: tuple[float, ...] = (0.3, 0.2, 0.15)
    lambda2: tuple[float, ...] = (5.0, 10.0)
    folds: int = 5

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        plain = HIPADClassifier(class_weight=None, calibrate=False)
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        grid = {"lambda1": self.lambda1, "lambda2": self.lambda2}
        search = GridSearchCV(plain, grid, cv=folds)
        return linear_model(search.fit(X, y).best_estimator_)
