"""How a model does on patients: right answers with their interval, and the four kinds of answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hipad.evaluation.metrics import wilson_interval
from hipad.wording import count, percent
from ui.dataset import Dataset


@dataclass(frozen=True)
class Share:
    """k of n, with Wilson's 95 % interval."""

    k: int
    n: int

    @property
    def value(self) -> float:
        return self.k / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.k, self.n)

    def __str__(self) -> str:
        if not self.n:
            return "no patients"
        low, high = self.interval
        return f"{percent(self.value)} ({percent(low)} to {percent(high)})"


@dataclass(frozen=True)
class Judgement:
    """Answers against the truth; `confusion[truth][answer]`, negative first."""

    part: str  # "test" or "training": which patients were asked
    confusion: tuple[tuple[int, int], tuple[int, int]]

    @property
    def accuracy(self) -> Share:
        (tn, fp), (fn, tp) = self.confusion
        return Share(tn + tp, tn + fp + fn + tp)

    @property
    def sensitivity(self) -> Share:
        """Of the positive patients those found."""
        missed, found = self.confusion[1]
        return Share(found, found + missed)

    @property
    def specificity(self) -> Share:
        """Of the negative patients those left in peace."""
        spared, alarmed = self.confusion[0]
        return Share(spared, spared + alarmed)

    def __str__(self) -> str:
        right = self.accuracy
        low, high = right.interval
        whom = "it had not seen" if self.part == "test" else "it was trained on"
        return (
            f"Of {count(right.n, 'patient')} {whom}, the model was right about {right.k:,}: "
            f"{percent(right.value)} (95 % interval {percent(low)} to {percent(high)})."
        )


def judge(classifier: Any, data: Dataset) -> Judgement:
    """Ask a classifier about the test patients, or the training ones where there are no others."""
    has_test = data.X_test is not None and data.y_test is not None and len(data.y_test) > 0
    X, y = (data.X_test, data.y_test) if has_test else (data.X_train, data.y_train)
    assert y is not None
    said = np.asarray(classifier.predict(X)).astype(str)
    negative, positive = data.classes
    table = [[int(np.sum((y == t) & (said == s))) for s in (negative, positive)]
             for t in (negative, positive)]  # fmt: skip
    (tn, fp), (fn, tp) = table
    return Judgement("test" if has_test else "training", ((tn, fp), (fn, tp)))
