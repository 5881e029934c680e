from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import parse_rules


@pytest.mark.parametrize(
    ("side", "terms"),
    [
        ("2*3*a", {"a": 6.0}),
        ("6*a/4", {"a": 1.5}),
        ("(a + 2*b)*3/2", {"a": 1.5, "b": 3.0}),
        ("-(a - b)", {"a": -1.0, "b": 1.0}),
        ("a/(1 + 1)", {"a": 0.5}),
        ("0.1*a*3", {"a": 0.1 * 3}),
    ],
)
def test_numbers_and_features_are_multiplied_out(side, terms):
    (rule,) = parse_rules(f"{side} >= 1 => yes")
    found = {term.names[0]: term.coefficient for term in rule.conditions[0].sides[0]}
    assert found == terms


@pytest.mark.parametrize(
    ("side", "words"),
    [
        ("a*b", "a product of features is not linear"),
        ("a/b", "a quotient of features is not linear"),
        ("a/0", "division by zero"),
        ("1e90*1e90*a", "must be 0 or between"),
        ("a/1e90/1e90", "must be 0 or between"),
    ],
)
def test_what_has_no_meaning_is_refused_at_its_sign(side, words):
    with pytest.raises(RuleError, match=words) as caught:
        parse_rules(f"{side} >= 1 => yes")
    assert caught.value.line == 1
    assert caught.value.column is not None
    assert caught.value.column > 1
