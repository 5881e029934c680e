from __future__ import annotations

import pytest

from hipad.rules import compile_rules
from hipad.rules.compiled_rule import meaning

NAMES = ["Glucose", "BMI", "sex=male", "p", "q"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Glucose >= 126 => ill", "Glucose at least 126, says ill"),
        ("126 < Glucose => ill", "Glucose above 126, says ill"),
        ("mean(K) >= 9.5 => ill", "mean of K, 2 features, at least 9.5, says ill"),
        ("2*Glucose - BMI <= 3 => well", "2 times Glucose minus BMI at most 3, says well"),
        ("BMI 20-30 => well", "BMI from 20 to 30, says well"),
        ("20 < BMI <= 30 => well", "BMI above 20 and at most 30, says well"),
        ("male => ill worth 5 patients", "sex=male holds, says ill, worth 5 patients"),
        ("not male => ill", "sex=male does not hold, says ill"),
        ("at least 1 of (p, q) => ill", "at least 1 of p and q being 1, says ill"),
    ],
)
def test_a_rule_in_plain_words(text, words):
    (rule,) = compile_rules(
        text, feature_names=NAMES, blocks={"K": [0, 1]}, classes=("well", "ill")
    )
    assert meaning(rule) == words
