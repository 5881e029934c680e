from __future__ import annotations

import pytest

from tests.rules.settled import refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at least 1 of (p, male)", ["at least 1 of (p, `sex=male`)"]),
        ("at most 1 of (p:q)", ["at most 1 of (p:q)"]),
    ],
)
def test_counted_columns_hold_0_and_1(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at least 1 of (a, b)", "does not hold 0 and 1 only"),
        ("at least 1 of (p, K)", "does not hold 0 and 1 only"),
        ("at least 1 of (p, nobody)", "nobody"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)
