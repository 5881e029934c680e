from __future__ import annotations

import pytest

from hipad.rules import Pull, compile_rules
from tests.ui.pima import fitted
from ui.bench.hearing import pull_of, trust_of, words
from ui.rules.checking import as_seen


def pull(text: str) -> Pull:
    state, model = fitted()
    data = state.data
    (rule,) = compile_rules(text, feature_names=data.index, classes=data.classes)
    return pull_of(rule, [rule], model, as_seen(data, model.settings))


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
    """The report of the fitted model knows the same strength of each rule."""
    _, model = fitted()
    (first, *_) = model.classifier.rule_report_
    found = pull(first.text)
    assert found.strongest == pytest.approx(first.pull.strongest, rel=1e-6)


def test_patients_who_contradict_a_rule_lower_its_automatic_worth_only():
    state, model = fitted()
    data = state.data
    seen = as_seen(data, model.settings)
    text = "Glucose >= 126 => healthy"
    auto, written = (
        compile_rules(rule, feature_names=data.index, classes=data.classes)[0]
        for rule in (text, f"{text} worth 20 patients")
    )
    assert trust_of(auto, [auto], model, seen) < 0.9
    assert trust_of(written, [written], model, seen) == 1.0
