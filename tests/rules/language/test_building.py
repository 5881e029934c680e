from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import FeatureSpan, parse_rules


def test_a_line_with_everything():
    (rule,) = parse_rules(
        'off `my rule`: a ≥ 1 and b between 2 and 3 => "not ill" worth 5 patients'
    )
    assert (rule.name, rule.outcome, rule.worth, rule.enabled) == ("my rule", "not ill", 5.0, False)
    first, second = rule.conditions
    assert first.relations == (">=",)
    assert (second.form, second.relations) == ("between", ("<=", "<="))


def test_groups_and_counts():
    first, second = parse_rules("mean(K, a:c) >= 1 => y\nat least 2 of (a, b) => y")
    assert first.conditions[0].sides[0][0].names == ("K", FeatureSpan("a", "c"))
    assert str(second.conditions[0]) == "at least 2 of (a, b)"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a >= 1 => y worth -1 patients", "cannot be worth -1"),
        ('a >= 1 => "  "', "the outcome is empty"),
        ("1 <= a >= 3 => y", "point the same way"),
        ("5 <= a <= 3 => y", "limits are exchanged"),
        ("a between 5 and 3 => y", "write a between 3 and 5"),
        ("1 >= 2 => y", "names no feature"),
        ("median(a) >= 2 => y", "is not a function here"),
    ],
)
def test_what_a_sentence_may_not_say(line, words):
    with pytest.raises(RuleError, match=words) as caught:
        parse_rules(line)
    assert caught.value.line == 1
