from __future__ import annotations

import pytest

from tests.ui.pima import fitted
from ui.rules.checking import look
from ui.rules.editor.meanings import meaning


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Glucose > 126 => diabetic", "Glucose above 126, says diabetic"),
        ("off Glucose < 1 => 'healthy'", "switched off: Glucose below 1, says healthy"),
        ("Glucose between 1 and 3 => healthy", "Glucose between 1 and 3, says healthy"),
        ("3 >= Glucose >= 1 => healthy", "Glucose between 1 and 3, says healthy"),
        (
            "2*Glucose - BMI >= 3 and Age = 4 => diabetic worth 1 patient",
            "2 times Glucose minus BMI at least 3; and Age exactly 4, says diabetic, "
            "worth 1 patient",
        ),
        ("sum(Glucose, BMI) >= 3 => healthy", "sum of Glucose, BMI at least 3, says healthy"),
    ],
)
def test_a_rule_in_words(line, words):
    data = fitted()[0].data
    assert meaning(look(data, line)[1][0], data) == words


def test_a_block_is_told_with_its_size():
    data = fitted()[0].data.with_blocks({"sugar": "Glucose, BMI, Age"})
    (rule,) = look(data, "mean(sugar) >= 9.5 => diabetic")[1].values()
    assert meaning(rule, data) == "mean of sugar, 3 features, at least 9.5, says diabetic"
