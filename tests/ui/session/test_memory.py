from __future__ import annotations

from ui.session.memory import Memory


def test_what_is_remembered_is_made_anew_for_another_key_only():
    memory, made = Memory(), []
    for key in ("a", "a", "b", "a"):
        memory.remember("thing", key, lambda key=key: made.append(key))
    assert made == ["a", "b", "a"]


def test_each_name_is_remembered_by_itself_and_gives_what_was_made():
    memory = Memory()
    assert memory.remember("one", 1, lambda: "first") == "first"
    assert memory.remember("two", 1, lambda: "second") == "second"
    assert memory.remember("one", 1, lambda: "again") == "first"
