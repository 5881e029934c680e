from __future__ import annotations

import pytest

from hipad.rules.context import RowsNeeded
from tests.rules.settled import refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("debt/income > 0.4", ["debt > 0.4*income"]),
        ("debt/income - a/income > 40 %", ["debt - a > 0.4*income"]),
    ],
)
def test_ratios_are_multiplied_out(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a/b > 2", "goes down to"),
        ("a/income > b", "a ratio against a number only"),
        ("a/income > b/hbc", "a ratio against a number only"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


def test_without_rows_that_is_said():
    with pytest.raises(RowsNeeded):
        settled("debt/income > 2", known=False)
