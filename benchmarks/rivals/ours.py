"""HIPADClassifier behind the rivals' signature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
