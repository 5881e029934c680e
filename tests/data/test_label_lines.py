from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hipad.data.dialect import cut_label_lines

VALUES = b"".join(b"g%d\t%d\t%d\n" % (i, i, i * i) for i in range(200))
HEADER = b"gene\ta\tb\n"
CLASSES = b"class\till\twell\n"


def test_lines_of_words_are_cut_above_and_below():
    for data in (
        HEADER + CLASSES + VALUES,
        HEADER + VALUES + CLASSES,
        HEADER + VALUES + CLASSES[:-1],
    ):
        rest, found = cut_label_lines(data)
        assert rest == HEADER + VALUES
        assert found.of(["a", "b"]) == {"class": ["ill", "well"]}


def test_a_header_as_r_writes_it():
    _, found = cut_label_lines(b"a\tb\n" + CLASSES + VALUES)
    assert found.of(["b"]) == {"class": ["well"]}


def test_tables_of_patients_lose_nothing():
    for data in (
        HEADER + VALUES,
        b"a,b,c\n" + b"x,1,2\n" * 9,
        b"a,b,c\n" + b"x,y,z\n" * 9,
        b"",
        b"\n",
    ):
        rest, found = cut_label_lines(data)
        assert rest == data
        assert not found


@given(st.binary(max_size=80), st.integers(0, 3))
def test_any_bytes_are_cut_into_lines_of_the_same_bytes(data, times):
    data = HEADER + data * times
    rest, found = cut_label_lines(data)
    assert (rest == data) is not bool(found)
