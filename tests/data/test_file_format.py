"""How a file is stated to be written, and the account of a reading, to and from plain values."""

from __future__ import annotations

import json

import pytest

from hipad.data import FileFormat, Reading, read_table
from hipad.exceptions import DataError

STATED = FileFormat(
    encoding="cp1252",
    separator=";",
    decimal=",",
    three_digits="thousands",
    header_row=3,
    footer_rows=1,
    gap_words=("k.A.", "-"),
    column_gaps={"age": ("999",)},
    as_text=("zip",),
    as_numbers=("crp",),
    sheet="one",
    accepted=("header",),
)


def test_to_dict_round_trip():
    assert FileFormat.from_dict(json.loads(json.dumps(STATED.to_dict()))) == STATED
    assert FileFormat().to_dict() == {}
    table = read_table(b"sep=;\nage;crp\n31;1,5\n999;k.A.\n40;2,5\n50;7\nSum;3\n")
    assert table.reading.questions
    assert Reading.from_dict(json.loads(json.dumps(table.reading.to_dict()))) == table.reading


@pytest.mark.parametrize(
    "content",
    [
        "n" * 1_000 + ",b\n" + "".join(f"{i % 3 + 1},{i}\n" for i in range(20)) + "999,4\n",
        "a,b\n" + "".join(f"{i},{i}\n" for i in range(20)) + f"{'x' * 150},1\n" * 10,
    ],
    ids=["a long name", "a long cell"],
)
def test_long_texts_in_questions_come_back_and_are_accepted(content):
    reading = read_table(content.encode()).reading
    (question,) = reading.questions
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict()))) == reading
    for change in (*(answer.change for answer in question.answers), {"accepted": (question.key,)}):
        stated = FileFormat().with_change(change)
        assert FileFormat.from_dict(json.loads(json.dumps(stated.to_dict()))) == stated


@pytest.mark.parametrize(
    "raw", [[], {"x": 1}, {"encoding": 3}, {"gap_words": "NA"}, {"header_row": "1"},
            {"column_gaps": {"a": "b"}}, {"separator": "xx"}, {"header_row": -1},
            {"sheet": "\ud800"}, {"as_text": ["\ud800"]}, {"column_gaps": {"\ud800": ["b"]}}],
)  # fmt: skip
def test_from_dict_refuses_what_does_not_fit(raw):
    with pytest.raises((ValueError, DataError)):
        FileFormat.from_dict(raw)


def test_with_change_adds_columns_and_words():
    changed = STATED.with_change({"column_gaps": {"age": ("888",), "bmi": ("99",)}})
    assert changed.column_gaps == {"age": ("999", "888"), "bmi": ("99",)}
    assert STATED.with_change({"as_text": ("crp",)}).as_numbers == ()
    assert STATED.with_change({"as_numbers": ("zip",)}).as_text == ()


def test_for_later_files_keeps_what_columns_mean():
    later = STATED.for_later_files()
    assert later.separator is None
    assert later.gap_words == ("k.A.", "-")
    assert later.column_gaps == {"age": ("999",)}


def test_later_remembers_what_three_digits_were():
    table = read_table(b"cost;crp\n1.234;1,5\n12.345;2,5\n999;0,5\n")
    new = read_table(b"cost;crp\n1.234;1\n", stated=table.reading.later)
    assert new.column("cost").tolist() == [1234]


def test_stated_words_are_followed_to_the_letter():
    data = b"crp,drug,n\n1.5,none,1\nNA,a,2\n2.5,b,3\n3.5,none,4\n"
    stated = read_table(data, stated=FileFormat(gap_words=("none", "NA")))
    assert stated.text["drug"].tolist() == ["", "a", "b", ""]
    assert not stated.reading.questions
    fewer = read_table(data.replace(b"a,2", b"NA,2"), stated=FileFormat(gap_words=()))
    assert fewer.text["drug"].tolist() == ["none", "NA", "b", "none"]


def test_lines_say_what_was_found_and_why():
    lines = read_table(b"sep=;\nage;crp\n31;1,5\n40;k.A.\n").reading.lines()
    assert "separator: semicolons (told by the first line)" in lines
    assert "gaps: empty cells and k.A. (1)" in lines
    stated = FileFormat(separator=";")
    assert (
        "separator: semicolons (as stated)"
        in read_table(b"a;b\n1;2\n", stated=stated).reading.lines()
    )
