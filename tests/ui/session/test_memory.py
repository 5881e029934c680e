from __future__ import annotations

from ui.state import SessionCache


def test_what_is_remembered_is_made_anew_for_another_key_only():
    memory, made = SessionCache(), []
    for key in ("a", "a", "b", "a"):
        memory.remember("thing", key, lambda key=key: made.append(key))
    assert made == ["a", "b", "a"]


def test_each_name_is_remembered_by_itself_and_gives_what_was_made():
    memory = SessionCache()
    assert memory.remember("one", 1, lambda: "first") == "first"
    assert memory.remember("two", 1, lambda: "second") == "second"
    assert memory.remember("one", 1, lambda: "again") == "first"


def test_fresh_key_never_comes_back():
    memory = SessionCache()
    keys = [memory.fresh_key("box", shown) for shown in ("a", "a", "b", "a")]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert memory.fresh_key("other", "a") not in keys


def test_is_drawn_knows_the_last_key_of_a_name_only():
    memory = SessionCache()
    first, second = memory.fresh_key("box", "a"), memory.fresh_key("box", "b")
    assert not memory.is_drawn("box", first)
    assert memory.is_drawn("box", second)
    assert not memory.is_drawn("other", second)
