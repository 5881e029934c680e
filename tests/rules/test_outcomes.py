from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules.compiled_rule import class_sign, first_outcome


@pytest.mark.parametrize(
    ("outcome", "classes", "sign"),
    [
        ("ill", ("well", "ill"), 1.0),
        ("ILL", ("well", "ill"), 1.0),
        ("not ill", ("well", "ill"), -1.0),
        ("1.0", (0, 1), 1.0),
        ("+1", (-1, 1), 1.0),
        ("positive", (-1, 1), 1.0),
        ("positive", ("case", "control"), -1.0),
        ("not positive", (0, 1), -1.0),
        ("negative", ("No", "Yes"), -1.0),
        ("positive", ("positive", "negative"), -1.0),
        ("+", ("neg", "pos"), 1.0),
        ("negative", ("BCR/ABL", "NEG"), 1.0),
        ("positive", ("BCR/ABL", "NEG"), -1.0),
    ],
)
def test_an_outcome_is_a_class(outcome, classes, sign):
    assert class_sign(outcome, classes) == sign


@pytest.mark.parametrize("word", ["positive", "Negative", "+", "not positive"])
def test_positive_is_refused_until_somebody_chose_it(word):
    with pytest.raises(RuleError, match="diabetic and healthy"):
        class_sign(word, ("diabetic", "healthy"))
    assert class_sign("positive", ("diabetic", "healthy"), positive_chosen=True) == 1.0


def test_an_unknown_outcome_names_both_classes():
    with pytest.raises(RuleError, match='"BCR/ABL" or NEG') as caught:
        class_sign("maybe NEG", ("BCR/ABL", "NEG"))
    assert caught.value.suggestion == "NEG"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", ""),
        ("a >= 1 => positive\nb >= 2 => ill", "ill"),
        ('IL-6 >= 3 => "BCR/ABL"  # why', "BCR/ABL"),
        ("a >= => x\nb >= 2 => ill", "ill"),
        ("BMI and Age raise the risk of ill", "ill"),
    ],
)
def test_first_outcome(text, outcome):
    assert first_outcome(text) == outcome
