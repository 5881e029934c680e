from __future__ import annotations

import pytest

from hipad.rules.context import level_order


@pytest.mark.parametrize(
    "levels",
    [
        ("I", "II", "III", "IV"),
        ("G1", "G2", "G3"),
        ("very low", "low", "medium", "high", "very high"),
        ("none", "mild", "moderate", "severe"),
        ("never", "former", "current"),
        ("primary", "secondary", "tertiary"),
        ("<18", "18-24", "25-64", "65+"),
        ("poor", "fair", "good", "excellent"),
        ("A", "B", "C", "D"),
    ],
)
def test_level_order_of_words_and_numbers(levels):
    order = level_order([*reversed(levels), "unknown"])
    assert order is not None
    assert order.levels == levels


@pytest.mark.parametrize("levels", [("red", "green"), ("car", "n/a"), ("A", "C"), ("male",)])
def test_level_order_that_is_not_plain_is_none(levels):
    assert level_order(levels) is None


def test_level_order_of_letters_is_better_and_worse_only():
    letters, stages = level_order("ABC"), level_order(["I", "II"])
    assert letters is not None
    assert stages is not None
    assert (letters.ranked, letters.worse) == (False, "up")
    assert (stages.ranked, stages.worse) == (True, "up")
