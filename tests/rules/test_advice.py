from __future__ import annotations

import numpy as np
import pytest

from hipad.rules import (
    best_threshold,
    compile_rules,
    holding_threshold,
    leave_each_out,
    needed_worth,
    parse_rules,
    rule_pull,
    worst_case,
)
from hipad.rules.report import short_number


@pytest.mark.parametrize(
    ("text", "premise"),
    [
        ("x0 >= 1 => positive", "x0 >= 4"),
        ("9 <= x0 => positive", "4 <= x0"),
        ("2*x0 - 1 > 1 => positive", "2*x0 - 1 > 6"),
        ("-x0 <= 1 => positive", "-x0 <= -4"),
        ("x0 >= 1 and x1 >= 0 => positive", "x0 >= 4 and x1 >= 0"),
    ],
)
def test_the_threshold_that_the_data_support(text: str, premise: str):
    X = np.array([[1.0, 1], [2.0, 1], [5.0, 1], [6.0, 1]])
    (rule,) = compile_rules(text, n_features=2)
    found = best_threshold(rule, X, [-1, -1, 1, 1])
    assert found is not None
    assert found.rule.premise == premise
    assert (found.fires, found.right) == (2, 2)
    (again,) = compile_rules([found.rule], n_features=2)
    assert again.fires(X).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "text", ["x0 = 3 => positive", "x0 between 1 and 3 => positive", "x0 >= x1 => positive"]
)
def test_a_condition_without_one_number_has_no_better_threshold(text: str):
    (rule,) = compile_rules(text, n_features=2)
    assert best_threshold(rule, np.eye(2), [1, -1]) is None


def test_no_threshold_is_suggested_where_none_helps():
    (rule,) = compile_rules("x0 >= 1 => positive", n_features=1)
    assert best_threshold(rule, [[5.0], [6.0], [1.0]], [-1, -1, 1]) is None
    assert best_threshold(rule, [[np.nan]], [1]) is None


def test_the_threshold_from_which_a_rule_holds():
    w, b = np.array([1.0, 0.25]), -4.0
    (rule,) = compile_rules("x0 >= 2 => positive", n_features=2)
    assert not worst_case(rule.B, rule.d, rule.sign, w, b, 0.0, 9.0).holds
    better = holding_threshold(rule, w, b, 0.0, 9.0)
    assert better is not None
    (again,) = compile_rules([better], n_features=2)
    worst = worst_case(again.B, again.d, again.sign, w, b, 0.0, 9.0)
    assert worst.holds
    assert worst.value < 0.05
    assert holding_threshold(rule, -w, 0.0, 0.0, 9.0) is None


def test_short_numbers_lie_between():
    rng = np.random.default_rng(0)
    for low, width in zip(rng.normal(size=200), rng.random(200), strict=True):
        assert low < short_number(low, low + width, from_low=True) < low + width
    assert short_number(3.0, 3.0, from_low=True) == 3.0


def test_the_worth_that_is_needed():
    (rule,) = compile_rules("mean(x0:x4) >= 4 => positive", n_features=5)
    pull = rule_pull(rule.B, rule.d, sigma=1.0, rho=1e6, lambda1=0.1)
    assert needed_worth(pull, n_samples=80) == pytest.approx(2.0)


def test_leaving_each_rule_out():
    rules = parse_rules(
        "a: x0 >= 1 => positive\noff b: x0 >= 2 => positive\nc: x0 >= 3 => positive"
    )
    found = tuple(leave_each_out(rules, lambda some: sum(rule.enabled for rule in some) / 2))
    assert [(part.label, part.gain) for part in found] == [("a", 0.5), ("c", 0.5)]
    assert str(found[0]) == "without a: 0.500, with it: 1.000"
