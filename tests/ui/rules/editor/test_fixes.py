from __future__ import annotations

import pytest

from tests.ui.pima import fitted
from ui.rules.checks import read_study
from ui.rules.rule_editor import fixes_of


def fixes(text: str) -> list[str]:
    """The lines that are offered for the first mistake in a text."""
    data = fitted()[0].data
    (error, *_) = read_study(data, text)[0].errors
    return [fix.line for fix in fixes_of(error, text.splitlines()[error.line - 1], data)]


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("Glukose >= 126 => diabetic", "Glucose >= 126 => diabetic"),
        ("a: BMI > 3 and Glukose >= 126 => diabetic  # Glukose", None),
        ("metabolic >= 2 => healthy worth 3 patients", None),
        ("off x: Glucose >= 1 => diabetik worth 2 patients", None),
        ("Glucose between 9 and 3 => healthy", "Glucose between 3 and 9 => healthy"),
    ],
)
def test_the_first_remedy_makes_the_line_right_and_keeps_the_rest(line, mended):
    offered = fixes(line)
    assert offered
    assert not read_study(fitted()[0].data, offered[0])[0].errors
    expected = {
        "a: BMI": "a: BMI > 3 and Glucose >= 126 => diabetic  # Glukose",
        "metabo": "mean(metabolic) >= 2 => healthy worth 3 patients",
        "off x:": "off x: Glucose >= 1 => diabetic worth 2 patients",
    }
    assert offered[0] == (mended or expected[line[:6]])


@pytest.mark.parametrize("line", ["zzzzqq >= 1 => diabetic", "this is ** not", "Glucose >="])
def test_what_would_not_help_is_not_offered(line):
    assert fixes(line) == []
