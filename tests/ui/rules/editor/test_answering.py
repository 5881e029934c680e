from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.evaluation.rule_study import RuleCheck
from tests.ui.pima import fitted
from ui.rules import rule_editor
from ui.rules.checks import read_study
from ui.rules.rule_editor import Places, said_of, span, units


def told(text: str) -> dict[str, list]:
    """What is said of a text whose rules were not tried on the patients yet."""
    data = fitted()[0].data
    study, compiled = read_study(data, text)
    checks = [RuleCheck(at, rule, None, None) for at, rule in compiled.items()]
    return said_of(text, replace(study, checks=tuple(checks)), data)


def test_each_line_has_its_meaning_or_its_mistake_at_its_place():
    said = told("# note 😀\nGlucose >= 126 => diabetic\nGlukose >= 1 => healthy")
    start = units("# note 😀\n")
    assert said["meanings"] == [(start, "Glucose at least 126, says diabetic")]
    (problem,) = said["problems"]
    line = start + len("Glucose >= 126 => diabetic\n")
    assert (problem["line"], problem["from"], problem["to"]) == (line, line, line + len("Glukose"))
    assert problem["words"].startswith("No feature or block is called Glukose")
    assert problem["fixes"][0] == {
        "label": "Write Glucose",
        "before": "Glukose >= 1 => healthy",
        "after": "Glucose >= 1 => healthy",
    }


def test_a_line_of_two_rules_has_both_meanings():
    said = told("Glucose >= 126 or BMI >= 30 => diabetic")
    assert said["meanings"] == [
        (0, "Glucose at least 126, says diabetic; or BMI at least 30, says diabetic")
    ]


def test_before_the_first_check_nothing_is_said():
    assert said_of("a", None, fitted()[0].data) == {"meanings": [], "problems": []}


def test_what_is_said_of_many_lines_has_an_end(monkeypatch):
    monkeypatch.setattr(rule_editor, "MOST_WORDS", 1_000)
    meanings = told("\n".join(f"Glucose >= {n} => diabetic" for n in range(100)))["meanings"]
    assert 1_000 < sum(len(words) for _, words in meanings) < 1_000 + rule_editor.LONGEST_MESSAGE
    problems = told("Glukose >= 1 => x" + "\nq >= => y" * 99)["problems"]
    assert (
        1_000
        < sum(len(problem["words"]) for problem in problems)
        < 1_000 + rule_editor.LONGEST_MESSAGE
    )


LINE = st.text(alphabet='aé😀 >=\t`"#\x0b\u2028\r\n', max_size=40)


@given(LINE)
def test_places_are_those_of_a_browser(text):
    places = Places(text)
    spread = text.encode("utf-16-le")
    for number, line in enumerate(text.splitlines(), 1):
        assert places.line(number) == line
        at = places.at(number)
        assert spread[2 * at : 2 * (at + units(line))].decode("utf-16-le") == line


@given(st.text(alphabet='ab`" >=.é', max_size=20), st.none() | st.integers(-2, 30))
def test_a_mark_lies_within_its_line(line, column):
    start, end = span(line, column)
    assert 0 <= start <= end <= len(line)


@given(LINE)
def test_any_text_is_answered(text):
    data = fitted()[0].data
    said = said_of(text, read_study(data, text)[0], data)
    size = units(text)
    assert all(0 <= p["from"] <= p["to"] <= size for p in said["problems"])


@pytest.mark.parametrize("text", ["", "\n\n", "   "])
def test_nothing_is_said_of_nothing(text):
    assert told(text) == {"meanings": [], "problems": []}
