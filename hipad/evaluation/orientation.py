"""Which of two classes is positive: the user says so, while scikit-learn sorts class names.

Everything that goes into a classifier or comes out of it passes here, so that elsewhere "above
zero" always means the class that the user calls positive. `classes` is (negative, positive), as
the user means it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hipad.arrays import FloatArray, IntArray
from hipad.errors import DataError
from hipad.estimator.risks.risk_curve import check_prevalence
from hipad.evaluation.judging import Judgement, judge
from hipad.rules import RuleSet, parse_rules
from hipad.rules.compiling.outcomes import class_sign
from hipad.rules.language.spelling import Place
from hipad.rules.language.words.lexing import Vocabulary


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
class Oriented:
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

    def judge(self, X: Any, truth: Any, *, part: str, groups: Any = None) -> Judgement:
        """How the model does on patients whose class is known."""
        return judge(self.scores(X), truth, self.classes, part=part, groups=groups)
