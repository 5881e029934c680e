"""A better threshold is told only where patients clearly support it."""

from __future__ import annotations

from hipad.evaluation.rule_study import MOST_ROWS, supported_thresholds
from hipad.rules import compile_rules
from tests.evaluation.rows import CLASSES, INDEX, X, Y


def compiled(text):
    return compile_rules(text, feature_names=INDEX, classes=CLASSES)


def test_a_threshold_is_suggested_only_where_the_data_speak_clearly():
    poor, chance = compiled("a >= 2 => ill\nb >= 0 => ill")
    (better,) = supported_thresholds(poor, X, Y)
    assert 4 < better.number < 6.5
    assert better.right == better.fires == 30
    assert supported_thresholds(chance, X, Y) == ()


def test_a_threshold_that_changes_nobody_is_not_suggested():
    (better,) = supported_thresholds(compiled("a >= 2 => ill")[0], X, Y)
    assert supported_thresholds(compiled(f"a >= {better.number!r} => ill")[0], X, Y) == ()


def test_of_several_conditions_only_the_one_that_gains_most_is_moved():
    (rule,) = compiled("a >= 2 and b >= -9 => ill")
    (better,) = supported_thresholds(rule, X, Y)
    assert "b >= -9" in better.rule.premise
    assert 4 < better.number < 6.5


def test_only_the_first_conditions_are_looked_at():
    many = " and ".join(f"b + {k + 1} * c >= -900" for k in range(MOST_ROWS))
    (rule,) = compiled(f"{many} and a >= 2 => ill")
    assert len(rule.d) > MOST_ROWS
    silent = X * [1.0, 0.0, 0.0]  # only the last condition could gain
    assert supported_thresholds(rule, silent, Y) == ()
    (short,) = compiled("b + c >= -900 and a >= 2 => ill")
    assert supported_thresholds(short, silent, Y)
