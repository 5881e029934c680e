"""HIPADClassifier behind the rivals' signature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.rivals.base import LinearModel, linear_model
from hipad import HIPADClassifier

# As LIBSVM: every patient counts alike, and the intercept is the optimisation's own.
UNWEIGHTED: dict[str, Any] = {"class_weight": None, "calibrate": False}


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

    lambda2 is to HIPAD what C is to LIBSVM; lambda1 is chosen inside, by itself. A tie goes to the
    first value, the default.
    """

    name: str = "HIPAD, tuned"
    lambda2: tuple[float, ...] = (10.0, 1.0, 100.0)
    folds: int = 5

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        plain = HIPADClassifier(**UNWEIGHTED)
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        search = GridSearchCV(plain, {"lambda2": self.lambda2}, cv=folds)
        return linear_model(search.fit(X, y).best_estimator_)
