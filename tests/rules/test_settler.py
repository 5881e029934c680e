from __future__ import annotations

import pytest

from tests.rules.settled import refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IL-6 >= 5", ["`IL-6` >= 5"]),
        ("IL - 6 >= 5", ["IL - 6 >= 5"]),
    ],
)
def test_names_that_only_the_data_tell_are_read_again(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a != 2", "write a < 2 or a > 2"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)
