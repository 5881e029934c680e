from __future__ import annotations

import pytest

from hipad.rules import RuleGradient, compile_rules
from tests.ui.pima import fitted
from ui.rules.checks import study_rows
from ui.workbench.controls import gradient_at_zero, strength_words


def gradient(text: str) -> RuleGradient:
    state, model = fitted()
    data = state.data
    (rule,) = compile_rules(text, feature_names=data.index, classes=data.classes)
    return gradient_at_zero(rule, model, study_rows(data, model.settings))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Glucose >= 200 => diabetic worth 500 patients", "Strong enough"),
        ("Glucose >= 200 => diabetic worth 0.001 patients", "weight of at least"),
        ("Glucose >= 1 => diabetic", "The midpoint between the classes already meets"),
        ("Glucose >= 5 and Glucose <= 3 => diabetic", "No patient can meet this rule"),
    ],
)
def test_strength_words_of_a_rule(text, said):
    assert said in strength_words(gradient(text), 500)


def test_the_gradient_is_that_of_the_report():
    """The report of the fitted model knows the same strength of a rule with a written weight."""
    text = "Glucose >= 150 => diabetic worth 20 patients"
    state, _ = fitted()
    (first,) = state.request(rules=text).fit().classifier.rule_report_
    found = gradient(text)
    assert found.strongest == pytest.approx(first.gradient.strongest, rel=1e-6)
