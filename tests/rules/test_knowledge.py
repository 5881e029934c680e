from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules.compiler import SignConstraints, compile_knowledge

CLASSES = ("healthy", "diabetic")
NAMES = ["Glucose", "BMI", "Age", "Insulin", "Skin"]


def known(text: str):
    return compile_knowledge(text, feature_names=NAMES, blocks={"K": [3, 4]}, classes=CLASSES)


def test_nothing_is_known_until_it_is_said() -> None:
    assert not SignConstraints()
    assert SignConstraints(certain=np.array([3]))
    assert not known("off Age is certain").features


def test_rules_are_compiled_beside_it() -> None:
    found = compile_knowledge("x0 >= 1 => positive", n_features=2)
    assert len(found.rules) == 1
    assert not found.features


def test_each_statement_is_about_columns() -> None:
    found = known("BMI and Glucose raise the risk of diabetic\nK does not matter\nBMI is certain")
    assert found.features.raised.tolist() == [0, 1]
    assert found.features.ignored.tolist() == [3, 4]
    assert found.features.certain.tolist() == [1]
    assert found.statements[1].meaning == "K (2 features) gets no weight"


def test_what_is_raised_in_the_negative_class_lowers() -> None:
    found = known("Age is raised in healthy\nBMI is lowered in healthy")
    assert found.features.lowered.tolist() == [2]
    assert found.features.raised.tolist() == [1]
    assert found.statements[0].meaning == "a high Age can only speak for healthy"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Age raises the risk", "which class is positive is not known"),
        ("Gluccose is certain", "Glucose"),
        ("Age is raised in diabetic\nAge is raised in healthy", "cannot both"),
        ("Age is certain\nAge does not matter", "cannot both"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        known(text)


def test_an_error_says_its_line() -> None:
    with pytest.raises(RuleError) as caught:
        known("Glucose >= 1 => healthy\nHeight matters")
    assert caught.value.line == 2
