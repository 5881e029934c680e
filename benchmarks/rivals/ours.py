"""HIPADClassifier behind the rivals' signature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.rivals.base import LinearModel, linear_model
from hipad import HIPADClassifier

# As LIBSVM: every patient counts alike, not every class.
UNWEIGHTED: dict[str, Any] = {"class_weight": None}


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
        watch = self.classifier().fit_iter(X, y, feature_names=self.feature_names)
        for _ in watch:
            pass
        return linear_model(watch.finish())


@dataclass(frozen=True)
class TunedHipad:
    """HIPAD tuned as LIBSVM is: for accuracy, on the same inner folds, without class weights.

    Among values of lambda1 with the same accuracy the smallest goes first, that is the model with
    the most features; one that keeps `most` of all features or more is passed over.
    """

    name: str = "HIPAD, tuned"
    lambda1: tuple[float, ...] = (0.1, 0.14, 0.2, 0.28, 0.4, 0.56)
    most: float = 0.1
    folds: int = 5

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        plain = HIPADClassifier(**UNWEIGHTED)
        search = GridSearchCV(plain, {"lambda1": self.lambda1}, cv=folds, refit=False).fit(X, y)
        for k in np.argsort(-search.cv_results_["mean_test_score"].round(9), kind="stable"):
            model = linear_model(clone(plain).set_params(lambda1=self.lambda1[k]).fit(X, y))
            if model.support_size < self.most * X.shape[1]:
                break
        return model
