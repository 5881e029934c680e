from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import DataError
from ui.rules.rule_editor import EditorLink
from ui.rules.rule_text import TextHistory
from ui.settings import RULES


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
