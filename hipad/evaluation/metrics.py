"""How good answers are, with the uncertainty that few rows bring; seen from the positive class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, rankdata
from scipy.stats import t as student

from hipad.estimator.calibration import check_prevalence
from hipad.estimator.path import PathPoint
from hipad.exceptions import DataError
from hipad.rules import RuleSet, parse_rules
from hipad.rules.compiled_rule import class_sign
from hipad.rules.lexer import Place, Vocabulary
from hipad.utils import FloatArray, IntArray, count, percent

# --------------------------------------------------------------------------------------------------
# How good answers are, with the uncertainty that few patients bring.
#
# Every figure comes with an interval that stays inside 0 and 1 and does not vanish when all answers
# are right: Wilson's for a share, Newcombe's for the area under the ROC curve.
#
# Several rows of one patient are fewer than as many patients. Where rows have groups, the intervals
# are those of an effective number of rows: their number, divided by the design effect that the
# groups show (the variance of the figure between groups over that of independent rows), and by what
# Student's t adds for few groups.


CHOOSING = 4.5  # numbers that choosing a feature among many counts for, beside its weight
INSTABILITY = 4.0  # what a number that is fitted adds to the variance, in rows
PRIOR_GROUPS = 1.0  # groups whose rows are all alike, as which the design effect is drawn to them


def wilson_interval(right: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """The shares that are plausible when `right` of `total` were right.

    >>> low, high = wilson_interval(8, 8)
    >>> round(low, 3), high
    (0.676, 1.0)
    """
    if not total:
        return 0.0, 1.0
    found = binomtest(right, total).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)


def effective_rows(right: npt.ArrayLike, groups: npt.ArrayLike, level: float = 0.95) -> float:
    """Return how many independent rows tell as much as these rows, of which some are right.

    >>> right, groups = np.tile([1, 0], 40), np.repeat(np.arange(16), 5)
    >>> round(effective_rows(right, groups)), round(effective_rows(np.ones(80), groups))
    (68, 14)
    """
    right = np.asarray(right, dtype=float)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    k, n = np.bincount(codes, right), np.bincount(codes).astype(float)
    total, n_groups = float(n.sum()), n.size
    if n_groups < 2:
        return 0.0
    share, prior = right.mean(), (right.sum() + 1.0) / (total + 2.0)
    between = float(((k - share * n) ** 2).sum()) * n_groups / (n_groups - 1)
    largest = float((n**2).sum()) / total  # design effect of rows that are all alike in their group
    added = PRIOR_GROUPS * prior * (1.0 - prior) * total / n_groups
    effect = (between + largest * added) / (total * share * (1.0 - share) + added)
    return total / _bounded(effect, largest) * _few_groups(n_groups, level)


def effective_wilson_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """The shares that are plausible for a share of so many rows, which need not be whole.

    >>> [round(bound, 3) for bound in effective_wilson_interval(1.0, 8.0)]
    [0.676, 1.0]
    """
    if not n > 0:
        return 0.0, 1.0
    z2 = float(norm.ppf(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = math.sqrt(z2 * share * (1 - share) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def fold_inflation(folds: int, fitted: float = math.inf, rows: float = 1.0) -> float:
    """Return by how much the variance of a cross-validated figure exceeds that of fresh rows.

    Models of two folds share most of their rows, and what they get right is correlated, at most by
    the share that each holds out (Nadeau and Bengio 2003): 1 / folds. The more independent `rows`
    there are for each number that a model has `fitted`, the less the models of the folds differ
    from that of all rows, and the excess vanishes (Bayle and others 2020). `INSTABILITY` is what
    simulations show (benchmarks/coverage.py).

    >>> fold_inflation(1), fold_inflation(5), fold_inflation(5, fitted=10.0, rows=400.0)
    (1.0, 1.8, 1.1)
    """
    most = (folds - 1.0) / folds
    return 1.0 + (min(most, INSTABILITY * fitted / rows) if rows > 0 else most)


def fitted_numbers(n_used: float, n_features: int) -> float:
    """Return how many numbers a model with so many of the features has fitted, choice included.

    >>> fitted_numbers(4, 4), fitted_numbers(4, 1000)
    (4.0, 18.0)
    """
    return float(min(n_features, CHOOSING * n_used))


def _few_groups(n_groups: int, level: float) -> float:
    """By what the number of rows shrinks, as the design effect was seen in few groups only."""
    level = 0.5 + level / 2
    return float(norm.ppf(level) / student.ppf(level, n_groups - 1)) ** 2


def _bounded(effect: float, largest: float) -> float:
    return min(max(effect, 1.0), max(largest, 1.0))


@dataclass(frozen=True)
class Area:
    """The chance that a positive patient scores above a negative one, and its interval.

    Without patients of both classes the value is nan and nothing is excluded.
    """

    value: float
    low: float = 0.0
    high: float = 1.0


def roc_area(
    positive: npt.ArrayLike,
    scores: npt.ArrayLike,
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    folds: int = 1,
    fitted: float = math.inf,
) -> Area:
    """Area under the ROC curve; `positive` marks the positive patients, ties count one half.

    Rows of one group are not independent; their design effect is Obuchowski's (1997).

    >>> roc_area([False, False, True, True], [0.1, 0.4, 0.3, 0.8]).value
    0.75
    """
    sick = np.asarray(positive, dtype=bool)
    n_sick, n_well = int(sick.sum()), int((~sick).sum())
    if not n_sick or not n_well:
        return Area(math.nan)
    ranks = rankdata(np.asarray(scores, dtype=float))
    value = (ranks[sick].sum() - n_sick * (n_sick + 1) / 2) / (n_sick * n_well)
    shrunk = 1.0
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        shrunk = _area_rows(sick, ranks, float(value), codes, level)
    shrunk /= fold_inflation(folds, fitted, shrunk * sick.size)
    if not shrunk > 0:
        return Area(float(value))
    return Area(float(value), *_newcombe(float(value), shrunk * n_sick, shrunk * n_well, level))


def _area_rows(
    sick: npt.NDArray[np.bool_], ranks: FloatArray, value: float, codes: IntArray, level: float
) -> float:
    """The share of the rows that are as good as independent, by the variance between groups."""
    n_sick, n_well, n_groups = int(sick.sum()), int((~sick).sum()), int(codes.max()) + 1
    if n_groups < 2:
        return 0.0
    own = np.zeros(ranks.size)  # the rank of each row among those of its own class
    own[sick], own[~sick] = rankdata(ranks[sick]), rankdata(ranks[~sick])
    placed = np.where(sick, (ranks - own) / n_well, 1.0 - (ranks - own) / n_sick)
    parts = (placed - value) / np.where(sick, n_sick, n_well)
    sums, sizes = np.bincount(codes, parts), np.bincount(codes).astype(float)
    largest = float((sizes**2).sum()) / ranks.size
    alone = float(parts @ parts)
    between = float(sums @ sums) * n_groups / (n_groups - 1)
    effect = largest if alone == 0 else between / alone
    return _few_groups(n_groups, level) / _bounded(effect, largest)


def _newcombe(value: float, n_sick: float, n_well: float, level: float) -> tuple[float, float]:
    """The areas theta with |theta - value| <= z sd(theta), by Hanley and McNeil's sd.

    Newcombe, Statistics in Medicine 25 (2006) 559-573, method 5.
    """
    z = float(norm.ppf((1 + level) / 2))
    others = max((n_sick + n_well) / 2 - 1, 0.0)

    def excess(theta: float) -> float:
        spread = 1 + others * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return (theta - value) ** 2 - z**2 * theta * (1 - theta) * spread / (n_sick * n_well)

    tiny = 1e-9  # at 0 and 1 the sd is zero, which is a root but not the end of the interval
    low = brentq(excess, 0.0, value - tiny) if value > tiny else 0.0
    high = brentq(excess, value + tiny, 1.0) if value < 1 - tiny else 1.0
    return float(low), float(high)


def paired_interval(
    better: int, worse: int, total: int, level: float = 0.95
) -> tuple[float, float]:
    """The differences in the share of right answers that are plausible, from paired answers.

    Of `total` rows answered by two models, `better` became right and `worse` became wrong. Given
    how many changed, the number that became right is binomial: the exact interval of its
    probability, carried over to the difference, excludes zero where `paired_p_value` is small.

    >>> [round(bound, 3) for bound in paired_interval(0, 8, 16)]
    [-0.5, -0.131]
    """
    changed = better + worse
    if not changed:
        return 0.0, 0.0
    found = binomtest(better, changed).proportion_ci(level, method="exact")
    low, high = ((2 * bound - 1) * changed / total for bound in (found.low, found.high))
    return float(low), float(high)


def paired_p_value(better: int, worse: int) -> float:
    """How likely so uneven a change of answers is if both models were equally good.

    McNemar's test in its exact form: of the patients whose answer changed, `better` became right
    and `worse` became wrong.

    >>> paired_p_value(5, 0), paired_p_value(3, 3)
    (0.0625, 1.0)
    """
    changed = better + worse
    return float(binomtest(better, changed).pvalue) if changed else 1.0


# --------------------------------------------------------------------------------------------------
# How a model does on patients whose class is known: one judgement, which others draw or print.
#
# judged = judge(scores, truth, ("well", "ill"), part="test") judged.accuracy, judged.sensitivity,
# judged.specificity, judged.area


Confusion = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Proportion:
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

        >>> Proportion(3, 4).whom, Proportion(3, 10, patients=2, effective=2.0).whom
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
class ClassificationReport:
    """Answers against the truth; `confusion[truth][answer]`, negative first."""

    part: str  # which patients were asked: "test", "training" or another word for them
    classes: tuple[str, str]  # negative, positive
    confusion: Confusion
    area: Area  # under the ROC curve
    # patients and effective rows: of all, of the negative and of the positive class
    clusters: tuple[tuple[int | None, float], ...] = ()

    def _share(self, k: int, n: int, which: int) -> Proportion:
        return Proportion(k, n, *(self.clusters[which] if self.clusters else ()))

    @property
    def accuracy(self) -> Proportion:
        """Patients who got the answer that is true of them."""
        (tn, fp), (fn, tp) = self.confusion
        return self._share(tn + tp, tn + fp + fn + tp, 0)

    @property
    def sensitivity(self) -> Proportion:
        """Positive patients who got the answer "positive"."""
        fn, tp = self.confusion[1]
        return self._share(tp, tp + fn, 2)

    @property
    def specificity(self) -> Proportion:
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
    fitted: float = math.inf,
) -> ClassificationReport:
    """Compare scores, which are above zero for the positive class, with the true class names.

    A patient whose true class is neither of the two counts as negative. Rows with the same value in
    `groups` are of one patient. Scores of several `folds` are by models that share most of their
    rows: their intervals are wider, the more numbers a model has `fitted` (`fold_inflation`).
    """

    def fewer(n: float) -> float:
        return n / fold_inflation(folds, fitted, n)

    scores = np.asarray(scores, dtype=float)
    positive, said = np.asarray(truth).astype(str) == classes[1], scores > 0
    (tn, fp), (fn, tp) = (
        (int((mine & ~said).sum()), int((mine & said).sum())) for mine in (~positive, positive)
    )
    clusters: tuple[tuple[int | None, float], ...] = ()
    parts = np.ones(positive.size, dtype=bool), ~positive, positive
    if groups is not None:
        own, right = np.asarray(groups), positive == said
        clusters = tuple(
            (int(np.unique(own[rows]).size), fewer(effective_rows(right[rows], own[rows])))
            for rows in parts
        )
    elif folds > 1:
        clusters = tuple((None, fewer(float(rows.sum()))) for rows in parts)
    area = roc_area(positive, scores, groups=groups, folds=folds, fitted=fitted)
    return ClassificationReport(part, classes, ((tn, fp), (fn, tp)), area, clusters)


def classes_line(
    said: npt.ArrayLike, truth: npt.ArrayLike, classes: Sequence[object], *, part: str
) -> str:
    """The right answers among several classes in one line: all of them, then those of each class.

    >>> classes_line(["a", "b", "b"], ["a", "b", "c"], ["a", "b", "c"], part="test")
    'test: 2 of 3 right, 66.7 % (20.8 to 93.9); a 1 of 1, b 1 of 1, c 0 of 1'
    """
    said, truth = np.asarray(said).astype(str), np.asarray(truth).astype(str)
    right = said == truth
    share = Proportion(int(right.sum()), right.size)
    low, high = share.interval
    each = ", ".join(
        f"{name} {int(right[truth == str(name)].sum()):,} of {int((truth == str(name)).sum()):,}"
        for name in classes
    )
    found = f"{percent(share.value)} ({100 * low:.1f} to {100 * high:.1f})"
    return f"{part}: {share.k:,} of {share.n:,} right, {found}; {each}"


# --------------------------------------------------------------------------------------------------
# Which of two classes is positive: the user says so, while scikit-learn sorts class names.
#
# Everything that goes into a classifier or comes out of it passes here, so that elsewhere "above
# zero" always means the class that the user calls positive. `classes` is (negative, positive), as
# the user means it.


def named_outcomes(
    text: str | RuleSet,
    classes: tuple[str, str],
    vocabulary: Vocabulary | None = None,
    *,
    positive_chosen: bool = True,
) -> RuleSet:
    """Rules whose outcomes are class names, also where the user wrote positive or negative.

    With a vocabulary names such as IL-6 are read at once, as text that stands on its own needs it.

    >>> print(named_outcomes("x0 >= 2 => positive", ("well", "ill")))
    x0 >= 2 => ill
    """
    rules = parse_rules(text, vocabulary) if isinstance(text, str) else text

    def label(outcome: str, place: Place | None) -> str:
        sign = class_sign(outcome, classes, positive_chosen=positive_chosen, place=place)
        return classes[int(sign > 0)]

    named = [replace(rule, outcome=label(rule.outcome, rule.place)) for rule in rules]
    stated = [
        replace(each, outcome=label(each.outcome or "positive", each.place))
        if each.kind in ("raised", "lowered")
        else each
        for each in rules.statements
    ]
    return replace(rules, rules=tuple(named), statements=tuple(stated))


@dataclass(frozen=True, eq=False)
class PositiveClassView:
    """A fitted linear classifier, seen from the user's positive class."""

    classifier: Any
    classes: tuple[str, str]

    def __post_init__(self) -> None:
        own = [str(label) for label in self.classifier.classes_]
        if sorted(own) != sorted(self.classes):
            raise DataError(
                f"expected a model of the classes {self.classes[0]!r} and {self.classes[1]!r}, "
                f"got one of {' and '.join(map(repr, own))}: take the model of these classes"
            )

    @property
    def sign(self) -> float:
        """+1 where the classifier's second class is the positive one, -1 otherwise."""
        return 1.0 if str(self.classifier.classes_[1]) == self.classes[1] else -1.0

    @property
    def support(self) -> IntArray:
        """Columns with a weight."""
        columns: IntArray = self.classifier.support_
        return columns

    @property
    def weights(self) -> FloatArray:
        """One weight per feature, in the user's units, above zero towards the positive class."""
        weights: FloatArray = self.sign * self.classifier.coef_[0]
        return weights

    @property
    def intercept(self) -> float:
        """The score of a patient whose features are all zero."""
        return self.sign * float(self.classifier.intercept_[0])

    def scores(self, X: Any) -> FloatArray:
        """Decision values, above zero for the positive class."""
        scores: FloatArray = self.sign * self.classifier.decision_function(X)
        return scores

    def risks(self, scores: FloatArray, prevalence: float | None = None) -> FloatArray:
        """The probability of the positive class at decision values of this model.

        `prevalence` is the share of the positive class; without one, what the model was told.
        """
        check_prevalence(prevalence)
        positive, curve = self.sign > 0, self.classifier.risk_curve_
        own = self.classifier.prevalence
        if prevalence is not None:
            own = prevalence if positive else 1.0 - prevalence
        risks: FloatArray = curve.risks(self.sign * scores, own)
        return risks if positive else 1.0 - risks

    def judge(self, X: Any, truth: Any, *, part: str, groups: Any = None) -> ClassificationReport:
        """How the model does on patients whose class is known."""
        return judge(self.scores(X), truth, self.classes, part=part, groups=groups)


# --------------------------------------------------------------------------------------------------
# What few features cost, by patients who were held out while the model was chosen.


def few_features_sentence(path: Sequence[PathPoint]) -> str:
    """Say what the fewest features within one standard error of the least loss would cost, or cost.

    Accuracy counts both classes alike. Empty where nothing was chosen, or the fewest are not fewer.
    """
    sparsest = next((point for point in path if point.sparsest and point.stable_size), None)
    chosen = next((point for point in path if point.chosen), None)
    if sparsest is None or chosen is None:
        return ""
    fewest = count(sparsest.stable_size, "feature")
    if chosen is sparsest:
        best = next(point for point in path if point.best)
        return (
            f"The fewest features within one standard error of the least error: about {fewest}, "
            f"which most folds keep. {_right(sparsest)}; with the least error "
            f"({count(best.support_size, 'feature')}), {percent(best.accuracy)}."
        )
    if sparsest.stable_size >= chosen.support_size:
        return ""
    return (
        f"About {fewest}, which most folds keep, would do within one standard error of the least "
        f"error. {_right(sparsest)}; with the {chosen.support_size:,} taken here, "
        f"{percent(chosen.accuracy)}."
    )


def _right(point: PathPoint) -> str:
    return f"Of held-out patients, {percent(point.accuracy)} are right, both classes counting alike"
