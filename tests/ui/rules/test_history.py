from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ui.rules.rule_text import LONGEST, Edit, TextHistory


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
