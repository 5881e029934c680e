from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.evaluation.rule_study import RuleCheck
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex, NameTable, compile_each, read_rules
from tests.ui.pima import fitted
from ui.rules import rule_editor
from ui.rules.checks import read_study
from ui.rules.rule_editor import (
    FOLDER,
    EditorLink,
    Places,
    fixes_of,
    known_names,
    line_messages,
    span,
    units,
)
from ui.rules.rule_text import TextHistory
from ui.settings import RULES


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


def test_names_are_spelt_as_a_rule_writes_them():
    names = ["Glucose", "p-36=t", "and", "a`b", "Größe", "1007_s_at"]
    data = SimpleNamespace(
        index=FeatureIndex(names), n_features=len(names), blocks={"my block": [0, 1]},
        classes=("NEG", "BCR/ABL"),
    )  # fmt: skip
    lists = json.loads(known_names(data).content)
    assert lists["features"] == ["Glucose", "`p-36=t`", "`and`", "`a``b`", "Größe", "`1007_s_at`"]
    assert lists["blocks"] == [["`my block`", 2]]
    assert lists["classes"] == ["NEG", '"BCR/ABL"']


def test_the_key_is_that_of_the_content():
    data = fitted()[0].data
    first = known_names(data)
    assert known_names(data) == first
    assert known_names(data.with_blocks({"other": "Glucose"})).key != first.key


LEVELS = (
    "current", "never smoked", "Never-smoked", "2", "10", "02", "1.50", "-1", "+1", "1e3", "nan",
    "high", "normal", "none", "unknown", "and", "not", "worth", "II", "<5", "5-10", "a=b", "x#y",
    "a`b", 'a"b', "50%", "at least 2", "5 or more", "10 mg", "top 10 %", "e.g.",
)  # fmt: skip


def columns_of(line, names):
    """The columns that the condition of a rule reads."""
    index = FeatureIndex(names)
    text = read_rules(line, NameTable(index))
    assert not text.errors
    values = np.tile([[0.0], [1.0]], (1, len(names)))
    found, errors = compile_each(
        text.rules, feature_names=index, classes=("well", "ill"), values=values
    )
    assert not errors
    (rule,) = found.values()
    return [names[j] for j in sorted(set(rule.B.nonzero()[1]))]


@pytest.mark.parametrize("group", ["smoking", "my group"])
def test_known_names_writes_levels_so_that_they_are_read_back(group):
    names = ["age", *(f"{group}={level}" for level in LEVELS)]
    data = SimpleNamespace(
        index=FeatureIndex(names), n_features=len(names), blocks={}, classes=("well", "ill")
    )
    ((written, levels),) = json.loads(known_names(data).content)["categories"]
    assert len(levels) == len(LEVELS)
    assert levels[:5] == ["current", "`never smoked`", "`Never-smoked`", "2", "10"]
    for name, level in zip(names[1:], levels, strict=True):
        assert columns_of(f"{written} = {level} => ill", names) == [name]


def test_known_names_joins_a_category_whose_case_differs():
    names = ["Sex=male", "sex = Female", "odd=", "=odd", "plain"]
    data = SimpleNamespace(
        index=FeatureIndex(names), n_features=len(names), blocks={}, classes=("well", "ill")
    )
    assert json.loads(known_names(data).content)["categories"] == [["Sex", ["male", "Female"]]]


SOURCES = Path(__file__).resolve().parents[3] / "web" / "editor"
ASSETS = FOLDER / "assets"


def test_what_is_shipped_was_built_from_the_sources():
    digest = hashlib.sha256((SOURCES / "package-lock.json").read_bytes())
    for path in sorted((SOURCES / "src").iterdir()):
        digest.update(path.read_bytes())
    assert f"sources {digest.hexdigest()}" in (ASSETS / "editor.js").read_text("utf-8")[:200]


def test_the_script_is_small():
    assert (ASSETS / "editor.js").stat().st_size < 600_000


def test_every_package_in_it_ships_its_licence():
    licences = (ASSETS / "LICENSES.txt").read_text("utf-8")
    wanted = json.loads((SOURCES / "package.json").read_text("utf-8"))["dependencies"]
    for name, version in wanted.items():
        assert f"{name} {version} (MIT)" in licences
    assert licences.count("Permission is hereby granted") == licences.count("(MIT)")


@pytest.mark.parametrize("path", sorted((SOURCES / "src").glob("*.js")), ids=lambda path: path.name)
def test_words_of_the_data_are_never_taken_for_markup(path):
    code = path.read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)


def edit(text: str, number: int, burst: int = 1, client: str = "a") -> dict[str, object]:
    return {"client": client, "edit": number, "burst": burst, "text": text}


def test_a_burst_of_typing_makes_one_version_that_undo_takes_back():
    link, history = EditorLink(), TextHistory()
    history.change("x >= 1 => yes", "first")
    for number, end in enumerate(("\n", "\nb: y", "\nb: y >= 2 => no"), 1):
        link.take(edit("x >= 1 => yes" + end, number), history)
    assert [each.what for each in history.edits] == ["empty", "first", "added b"]
    link.take(edit("", 4, burst=2), history)
    assert len(history.edits) == 4
    history.undo()
    history.undo()
    assert history.text == "x >= 1 => yes"


def test_a_burst_that_changed_nothing_yet_leaves_the_version_before_it():
    link, history = EditorLink(), TextHistory()
    history.change("x >= 1 => yes", "first")
    link.take(edit("x >= 1 => yes", 1), history)
    link.take(edit("x >= 2 => yes", 2), history)
    assert [each.text for each in history.edits] == ["", "x >= 1 => yes", "x >= 2 => yes"]


def test_what_came_from_elsewhere_during_a_burst_stays_in_the_history():
    link, history = EditorLink(), TextHistory()
    link.take(edit("a", 1), history)
    history.change("imported", "import")
    link.take(edit("ab", 2), history)
    assert [each.text for each in history.edits] == ["", "a", "imported", "ab"]


def test_an_old_edit_that_comes_again_does_nothing():
    link, history = EditorLink(), TextHistory()
    link.take(edit("ab", 2), history)
    history.change("ab and more", "elsewhere")
    link.take(edit("ab", 2), history)
    link.take(edit("a", 1), history)
    assert history.text == "ab and more"
    assert link.last_seen == {"client": "a", "edit": 2}
    link.take(edit("new", 1, client="b"), history)
    assert history.text == "new"


@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 3)), max_size=12))
def test_the_newest_text_is_current_whatever_the_bursts(steps):
    link, history = EditorLink(), TextHistory()
    for number, (text, burst) in enumerate(steps, 1):
        link.take(edit(text, number, burst), history)
        assert history.text == text
        assert history.at == len(history.edits) - 1


@pytest.mark.parametrize(
    "value",
    [None, "text", {}, edit("x", 1) | {"edit": "1"}, edit("x", 1) | {"client": 3},
     edit("x", 1) | {"text": None}, edit("x" * (RULES.longest + 1), 1),
     edit("x", 1, client="c" * 99)],
)  # fmt: skip
def test_what_is_no_edit_is_refused_and_changes_nothing(value):
    link, history = EditorLink(), TextHistory()
    with pytest.raises(DataError):
        link.take(value, history)
    assert (link, history) == (EditorLink(), TextHistory())


def told(text: str) -> dict[str, list]:
    """What is said of a text whose rules were not tried on the patients yet."""
    data = fitted()[0].data
    study, compiled = read_study(data, text)
    checks = [RuleCheck(at, rule, None, None) for at, rule in compiled.items()]
    return line_messages(text, replace(study, checks=tuple(checks)), data)


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
    assert line_messages("a", None, fitted()[0].data) == {"meanings": [], "problems": []}


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
    said = line_messages(text, read_study(data, text)[0], data)
    size = units(text)
    assert all(0 <= p["from"] <= p["to"] <= size for p in said["problems"])


@pytest.mark.parametrize("text", ["", "\n\n", "   "])
def test_nothing_is_said_of_nothing(text):
    assert told(text) == {"meanings": [], "problems": []}
