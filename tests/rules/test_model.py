from __future__ import annotations

import pytest
from hypothesis import given

from hipad.exceptions import RuleError
from hipad.rules import Condition, Rule, RuleSet, Term, parse_rules
from tests.rules.strategies import RULE_SETS

RULES = RuleSet((Rule.simple("a", {"x": 1}, 2, "y"), Rule.simple("", {"z": -2}, 3, "n", 4.0)))


@given(RULE_SETS)
def test_printing_gives_back_the_same_rules(rules: RuleSet):
    assert parse_rules(str(rules)) == rules


def test_labels_and_slices():
    assert RULES.labels == ("a", "rule 2")
    assert len(RULES[:1]) == 1
    assert str(RULES[1]) == "-2*z >= 3 => n worth 4 patients"


def test_without_switches_one_off_and_leaves_the_rest():
    left = RULES.without(0)
    assert [rule.enabled for rule in left] == [False, True]
    assert RULES[0].enabled


@pytest.mark.parametrize(
    "make",
    [
        lambda: RuleSet((RULES[0], RULES[0])),
        lambda: Rule((), "y"),
        lambda: Rule.simple("a", {"x": 1}, 2, "y", worth=-1),
        lambda: Rule.simple("a", {"x": 1}, 2, " "),
        lambda: Condition(((Term(1.0),), (Term(2.0),)), ("<=",)),
        lambda: Condition(((Term(1.0, ("a",)),),), ()),
        lambda: Condition(((Term(1.0, ("a",)),), (Term(2.0),)), ("!",)),
    ],
)
def test_what_cannot_be_a_rule_is_refused(make):
    with pytest.raises(RuleError):
        make()


def test_labels_of_rules_are_their_lines():
    text = "# first\na >= 1 => ill\n\nb >= 1 or c >= 1 => ill\nmine: a >= 3 => ill\nc >= 9 => well"
    rules = parse_rules(text)
    assert rules.labels == ("rule 2", "rule 4.1", "rule 4.2", "mine", "rule 6")
    assert rules.numbers == ("2", "4.1", "4.2", "5", "6")
    assert rules[1:].labels == rules.labels[1:]
    assert RuleSet(rules.rules).labels[0] == "rule 1"
