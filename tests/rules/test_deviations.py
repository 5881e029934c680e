from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import ColumnValues, FeatureIndex, NameTable, parse_rules

X = np.random.default_rng(0).normal(5, 2, (50, 2))
WORDS = NameTable(FeatureIndex(["x", "y"]), {}, ColumnValues(X))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 2 sd", "x > mean(x) + 2*sd(x)"),
        ("x >= 2 standard deviations", "x >= mean(x) + 2*sd(x)"),
        ("x is more than 1.5 SDs above its mean", "x > mean(x) + 1.5*sd(x)"),
        ("x < -2 sd", "x < mean(x) - 2*sd(x)"),
        ("x > 2 sd above the median", "x > median(x) + 2*sd(x)"),
        ("x > mean + 2 sd", "x > mean(x) + 2*sd(x)"),
        ("x > 2*sd(x)", "x > 2*sd(x)"),
        ("x within 2 sd of the mean", "mean(x) - 2*sd(x) <= x <= mean(x) + 2*sd(x)"),
        ("x > 2 sd and y > 1 sd", "x > mean(x) + 2*sd(x) and y > mean(y) + 1*sd(y)"),
    ],
)
def test_deviations_are_counted_from_the_mean(text, expected):
    rules = parse_rules(f"{text} => positive", WORDS)
    assert rules == parse_rules(f"{expected} => positive", WORDS)
    assert parse_rules(str(rules), WORDS) == rules


@pytest.mark.parametrize("text", ["x < 2 sd", "x > 2 sd below the mean", "x <= 1 sd"])
def test_which_border_is_meant_is_asked(text):
    with pytest.raises(RuleError, match="two ways") as caught:
        parse_rules(f"{text} => positive", WORDS)
    assert len(parse_rules(f"{caught.value.suggestion} => positive", WORDS)) == 1


def test_a_feature_that_is_called_sd_is_one():
    words = NameTable(FeatureIndex(["x", "sd"]), {}, ColumnValues(X))
    assert str(parse_rules("x > 2 sd => positive", words)) == "x > 2*sd => positive"
