from __future__ import annotations

from hipad.data import Limits
from hipad.data.cells import CHARACTER_BYTES, TEXT_SHARE, TextRoom


def test_columns_are_let_in_while_there_is_room():
    limits = Limits(memory_bytes=TEXT_SHARE * CHARACTER_BYTES * 10 * 25, text_characters=100)
    room = TextRoom(10, limits)
    assert [room.takes(name, 10) for name in "abc"] == [True, True, False]
    assert room.takes("d", 5)
    assert not room.takes("e", 101)
    assert room.remarks() == [
        "1 column with texts too long for so many rows left out: 'c'",
        "1 column with texts of more than 100 characters left out: 'e'",
    ]


def test_nothing_is_told_of_columns_that_fit():
    room = TextRoom(10, Limits())
    assert room.takes("a", 10)
    assert room.remarks() == []
