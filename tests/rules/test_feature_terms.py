from __future__ import annotations

import pytest

from hipad.rules import compile_rules
from tests.rules.reading import premises, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Glucose (mg/dL) >= 126", "Glucose >= 126 mg/dL"),
        ("mean of K1 >= 4", "mean(K1) >= 4"),
        ("debt / income > 0.4", "debt/income > 0.4"),
        ("LDL/HDL ratio > 3", "LDL/HDL > 3"),
        ("ratio of LDL to HDL > 3", "LDL/HDL > 3"),
    ],
)
def test_what_a_name_stands_for(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ratio of LDL > 3", "write the ratio as LDL/HDL"),
        ("mean of 3 >= 4", "name a feature or block"),
        ("Glucose (morning) >= 126", "is not a function here"),
    ],
)
def test_what_is_no_feature_is_told(text, words):
    assert words in str(refused(text))


def test_a_figure_alone_is_that_of_the_compared_feature():
    X = [[float(k)] for k in range(11)]
    (rule,) = compile_rules("HER2 < p10 => positive", feature_names=["HER2"], values=X)
    assert rule.resolved_text == "HER2 < 1 => positive"
