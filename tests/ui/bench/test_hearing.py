from __future__ import annotations

import pytest

from hipad.rules import RuleGradient, compile_rules
from tests.ui.pima import fitted
from ui.bench.hearing import pull_of, words
from ui.rules.checks import study_rows


def pull(text: str) -> RuleGradient:
    state, model = fitted()
    data = state.data
    (rule,) = compile_rules(text, feature_names=data.index, classes=data.classes)
    return pull_of(rule, model, study_rows(data, model.settings))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Glucose >= 200 => diabetic worth 500 patients", "Strong enough"),
        ("Glucose >= 200 => diabetic worth 0.001 patients", "from a worth of"),
        ("Glucose >= 1 => diabetic", "The middle between the classes already meets"),
        ("Glucose >= 5 and Glucose <= 3 => diabetic", "No patient can meet this rule"),
    ],
)
def test_the_pull_is_said_in_words(text, said):
    assert said in words(pull(text), 500)


def test_the_pull_is_that_of_the_report():
    """The report of the fitted model knows the same strength of a rule with a written weight."""
    text = "Glucose >= 150 => diabetic worth 20 patients"
    state, _ = fitted()
    (first,) = state.request(rules=text).fit().classifier.rule_report_
    found = pull(text)
    assert found.strongest == pytest.approx(first.pull.strongest, rel=1e-6)
