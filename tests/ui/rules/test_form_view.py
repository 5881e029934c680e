from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import Rule, parse_rules
from tests.ui.pima import fitted
from ui.rules.form_view import AS_WRITTEN, ConditionFields, checked_name, drafted

DATA = fitted()[0].data


@pytest.mark.parametrize(
    "premise",
    [
        "Glucose >= 126",
        "mean(Glucose, BMI) < 3.5",
        "BMI between 20 and 30",
        "at least 2 of (Age, BMI)",
        "2*Glucose - BMI <= 4",
        "1 < Age < 9",
        "Insulin = 0",
    ],
)
def test_fields_make_the_condition_they_were_made_of(premise):
    (rule,) = parse_rules(f"{premise} => diabetic")
    fields = ConditionFields.of_condition(rule.conditions[0])
    assert drafted([fields], rule, DATA).conditions == rule.conditions


@pytest.mark.parametrize("premise", ["Glucose >= BMI", "Glucose > 7 mmol/l"])
def test_what_fields_cannot_hold_is_kept_as_written(premise):
    (rule,) = parse_rules(f"{premise} => diabetic")
    fields = ConditionFields.of_condition(rule.conditions[0])
    assert (fields.kind, fields.of) == (AS_WRITTEN, premise)
    assert drafted([fields], rule, DATA).conditions == rule.conditions


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([], "at least one condition"),
        ([ConditionFields("", "Glucose")], "expected a number to compare Glucose"),
        ([ConditionFields("", "Glucose", "between", 1.0)], "expected a number"),
        ([ConditionFields(AS_WRITTEN, "a >= 1 or b >= 1")], "expected one rule"),
        ([ConditionFields("", "no such thing", ">=", 1.0)], "write 'not'"),
    ],
)
def test_fields_that_make_no_rule_say_why(fields, words):
    like = Rule.simple("", {"x": 1}, 0, "diabetic")
    with pytest.raises(RuleError, match=words):
        drafted(fields, like, DATA)


def test_a_name_is_tidied_and_used_once():
    rules = parse_rules("a: x >= 1 => y\nb: x >= 2 => y")
    assert checked_name("  c  d ", rules, None) == "c d"
    assert checked_name("a", rules, 0) == "a"
    with pytest.raises(RuleError, match="a name of its own"):
        checked_name("a", rules, 1)
