from __future__ import annotations

import pytest

from tests.rules.reading import premises, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stage in {II, III}", ["stage in {II, III}"]),
        ("stage not in {II, III}", ["stage not in {II, III}"]),
        ("stage is one of (II or III)", ["stage in {II, III}"]),
        ("a outside 3-5", ["a < 3", "a > 5"]),
        ("a not between 3 and 5", ["a < 3", "a > 5"]),
        ("x in the lowest quartile", ["x <= p25(x)"]),
        ("x is in the top 10 %", ["x >= p90(x)"]),
    ],
)
def test_sets_and_ranges_after_their_word(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 5 ± 2", "is a range"),
        ("a >= 18-25", "is a range"),
        ("a is NA", "no value to compare with"),
        ("a >= nan", "no value to compare with"),
        ("a + b in {1, 2, 3}", "name one feature before 'in'"),
        ("stage in {II III; +}", "values with commas"),
    ],
)
def test_what_cannot_be_a_value_is_told(text, words):
    assert words in str(refused(text))
