"""How a model does on patients whose class is known: one judgement, which others draw or print.

judged = judge(scores, truth, ("well", "ill"), part="test")
judged.accuracy, judged.sensitivity, judged.specificity, judged.area
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hipad.evaluation.metrics import (
    Area,
    effective_rows,
    effective_wilson_interval,
    fold_inflation,
    roc_area,
    wilson_interval,
)
from hipad.wording import count, percent

Confusion = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Share:
    """k of n, with Wilson's 95 % interval.

    Of rows that belong to fewer patients, `patients` is the number of these. `effective` is the
    number of independent rows which would tell as much, where that is not n.
    """

    k: int
    n: int
    patients: int | None = None
    effective: float | None = None

    @property
    def value(self) -> float:
        return self.k / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The shares that are plausible for so many patients."""
        if self.effective is None:
            return wilson_interval(self.k, self.n)
        return effective_wilson_interval(self.value, self.effective)

    @property
    def whom(self) -> str:
        """How many were asked.

        >>> Share(3, 4).whom, Share(3, 10, patients=2, effective=2.0).whom
        ('4 patients', '10 rows of 2 patients')
        """
        if self.patients is None:
            return count(self.n, "patient")
        return f"{count(self.n, 'row')} of {count(self.patients, 'patient')}"

    def __str__(self) -> str:
        if not self.n:
            return "no patients"
        low, high = self.interval
        return f"{percent(self.value)} ({percent(low)} to {percent(high)})"


@dataclass(frozen=True)
class Judgement:
    """Answers against the truth; `confusion[truth][answer]`, negative first."""

    part: str  # which patients were asked: "test", "training" or another word for them
    classes: tuple[str, str]  # negative, positive
    confusion: Confusion
    area: Area  # under the ROC curve
    # patients and effective rows: of all, of the negative and of the positive class
    clusters: tuple[tuple[int | None, float], ...] = ()

    def _share(self, k: int, n: int, which: int) -> Share:
        return Share(k, n, *(self.clusters[which] if self.clusters else ()))

    @property
    def accuracy(self) -> Share:
        """Patients who got the answer that is true of them."""
        (tn, fp), (fn, tp) = self.confusion
        return self._share(tn + tp, tn + fp + fn + tp, 0)

    @property
    def sensitivity(self) -> Share:
        """Positive patients who got the answer "positive"."""
        fn, tp = self.confusion[1]
        return self._share(tp, tp + fn, 2)

    @property
    def specificity(self) -> Share:
        """Negative patients who got the answer "negative"."""
        tn, fp = self.confusion[0]
        return self._share(tn, tn + fp, 1)

    @property
    def sentence(self) -> str:
        """The right answers in a sentence, for patients of the test or the training."""
        right = self.accuracy
        low, high = right.interval
        whom = "it was trained on" if self.part == "training" else "it had not seen"
        return (
            f"Of {right.whom} {whom}, the model got {right.k:,} right: "
            f"{percent(right.value)} (95 % interval {percent(low)} to {percent(high)})."
        )

    def __str__(self) -> str:
        """The right answers in one line: all of them, then those of each class.

        >>> scores, truth = [1.0, -1.0, -2.0, -3.0], ["ill", "ill", "well", "well"]
        >>> print(judge(scores, truth, ("well", "ill"), part="test"))
        test: 3 of 4 right, 75.0 % (30.1 to 95.4); well 2 of 2, ill 1 of 2
        """
        right, parts = self.accuracy, (self.specificity, self.sensitivity)
        low, high = right.interval
        each = ", ".join(
            f"{name} {share.k:,} of {share.n:,}"
            for name, share in zip(self.classes, parts, strict=True)
        )
        share = f"{percent(right.value)} ({100 * low:.1f} to {100 * high:.1f})"
        of = f"{right.n:,}" if right.patients is None else right.whom
        return f"{self.part}: {right.k:,} of {of} right, {share}; {each}"


def judge(
    scores: npt.ArrayLike,
    truth: npt.ArrayLike,
    classes: tuple[str, str],
    *,
    part: str,
    groups: npt.ArrayLike | None = None,
    folds: int = 1,
) -> Judgement:
    """Compare scores, which are above zero for the positive class, with the true class names.

    A patient whose true class is neither of the two counts as negative. Rows with the same value in
    `groups` are of one patient. Scores of several `folds` are by models that share most of their
    rows: their intervals are wider (`fold_inflation`).
    """
    scores = np.asarray(scores, dtype=float)
    positive, said = np.asarray(truth).astype(str) == classes[1], scores > 0
    (tn, fp), (fn, tp) = (
        (int((mine & ~said).sum()), int((mine & said).sum())) for mine in (~positive, positive)
    )
    clusters: tuple[tuple[int | None, float], ...] = ()
    less, parts = fold_inflation(folds), (np.ones(positive.size, dtype=bool), ~positive, positive)
    if groups is not None:
        own, right = np.asarray(groups), positive == said
        clusters = tuple(
            (int(np.unique(own[rows]).size), effective_rows(right[rows], own[rows]) / less)
            for rows in parts
        )
    elif folds > 1:
        clusters = tuple((None, float(rows.sum()) / less) for rows in parts)
    area = roc_area(positive, scores, groups=groups, folds=folds)
    return Judgement(part, classes, ((tn, fp), (fn, tp)), area, clusters)


def classes_line(
    said: npt.ArrayLike, truth: npt.ArrayLike, classes: Sequence[object], *, part: str
) -> str:
    """The right answers among several classes in one line: all of them, then those of each class.

    >>> classes_line(["a", "b", "b"], ["a", "b", "c"], ["a", "b", "c"], part="test")
    'test: 2 of 3 right, 66.7 % (20.8 to 93.9); a 1 of 1, b 1 of 1, c 0 of 1'
    """
    said, truth = np.asarray(said).astype(str), np.asarray(truth).astype(str)
    right = said == truth
    share = Share(int(right.sum()), right.size)
    low, high = share.interval
    each = ", ".join(
        f"{name} {int(right[truth == str(name)].sum()):,} of {int((truth == str(name)).sum()):,}"
        for name in classes
    )
    found = f"{percent(share.value)} ({100 * low:.1f} to {100 * high:.1f})"
    return f"{part}: {share.k:,} of {share.n:,} right, {found}; {each}"
