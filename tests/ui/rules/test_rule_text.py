from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import Rule, read_rules
from ui.rules.rule_text import (
    LONGEST,
    Edit,
    TextHistory,
    describe,
    with_new_rule,
    with_rule,
    with_rules,
)

TEXT = "# above\na: x >= 1 => yes  # first\n\nb: y >= 2 or z <= 1 => no\nc: z>=3 => yes"


def test_edits_leave_the_other_lines_alone():
    rules = read_rules(TEXT).rules
    assert with_rule(TEXT, 0, rules[0]).splitlines()[2:] == TEXT.splitlines()[2:]
    without = with_rule(TEXT, 1, None)
    assert read_rules(without).rules.labels == ("a", "b_2", "c")
    assert without.endswith("c: z>=3 => yes")
    added = with_new_rule(TEXT, Rule.simple("d", {"x": 1}, 2, "no"))
    assert read_rules(added).rules[4].name == "d"


def test_several_rules_are_exchanged_at_once():
    other = Rule.simple("n", {"x": 1}, 9, "yes")
    assert read_rules(with_rules(TEXT, {0: other, 3: None})).rules.labels == ("n", "b_1", "b_2")


def test_a_line_that_cannot_be_read_stays():
    text = "a >= => yes\nb: b >= 2 => no"
    assert with_rule(text, 0, None) == "a >= => yes"


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("a: x >= 1 => yes  # n\nb: y >= 2 => no", "note of a"),
        ("off a: x >= 1 => yes\nb: y >= 2 => no", "a switched off"),
        ("a: x >= 7 => yes\nb: y >= 2 => no", "condition of a"),
        ("a: x >= 1 => no\nb: y >= 2 => no", "outcome of a"),
        ("a: x >= 1 => yes", "removed b"),
        ("a: x >= 2 => yes\nb: y >= 3 => no", "changed 2 rules"),
        ("a: x  >= 1 => yes\nb: y >= 2 => no", "text edited"),
    ],
)
def test_the_history_says_what_was_done(after, words):
    assert describe("a: x >= 1 => yes\nb: y >= 2 => no", after) == words


@given(st.lists(st.sampled_from(["undo", "redo", "a", "b", "c"]), max_size=40))
def test_undo_and_redo_behave_like_two_stacks(actions):
    history, past, future, now = TextHistory(), [], [], ""
    for action in actions:
        if action == "undo":
            history.undo()
            if past:
                future.append(now)
                now = past.pop()
        elif action == "redo":
            history.redo()
            if future:
                past.append(now)
                now = future.pop()
        elif action != now:
            history.change(action, action)
            past.append(now)
            future, now = [], action
        assert history.text == now
        assert (history.can_undo, history.can_redo) == (bool(past), bool(future))


def test_the_history_does_not_grow_for_ever():
    history = TextHistory()
    for n in range(2 * LONGEST):
        history.change(str(n), "edit")
    assert len(history.edits) == LONGEST
    assert history.text == str(2 * LONGEST - 1)


def test_a_version_by_name():
    history = TextHistory()
    history.change("one", "first")
    history.change("two", "second")
    first = history.edits[1]
    history.go_to(first)
    assert (history.text, history.edits[history.at].what) == ("one", "first")
    history.go_to(Edit("first", "one"))
    assert history.at == 1


def test_go_to_finds_a_version_that_moved_and_leaves_one_that_is_gone(monkeypatch):
    monkeypatch.setattr("ui.rules.rule_text.LONGEST", 4)
    history = TextHistory()
    for text in ("one", "two", "three"):
        history.change(text, "text edited")
    gone, two = history.edits[0], history.edits[2]
    history.change("four", "text edited")
    history.go_to(two)
    assert (history.at, history.text) == (1, "two")
    history.go_to(gone)
    assert history.text == "two"


def test_long_texts_push_out_the_oldest_versions(monkeypatch):
    monkeypatch.setattr("ui.rules.rule_text.MOST_CHARACTERS", 100)
    rules = TextHistory()
    for n in range(9):
        rules.change(str(n) * 40, f"edit {n}")
    assert [edit.what for edit in rules.edits] == ["edit 7", "edit 8"]
    assert rules.text == "8" * 40


def test_an_edit_that_goes_on_stays_one_version():
    history = TextHistory()
    history.change("a", "first")
    history.change("b", "second")
    history.undo()
    history.amend("ab", "first, longer")
    assert [(edit.what, edit.text) for edit in history.edits] == [
        ("empty", ""),
        ("first, longer", "ab"),
    ]
    assert not history.can_redo
