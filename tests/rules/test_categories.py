from __future__ import annotations

import pytest

from tests.rules.settled import refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sex = male", ["`sex=male` >= 1"]),
        ("sex != male", ["`sex=male` <= 0"]),
        ("male", ["`sex=male` >= 1"]),
        ("not male", ["`sex=male` <= 0"]),
        ("stage >= II", ["at least 1 of (`stage=II`, `stage=III`)"]),
        ("stage > 2", ["`stage=III` >= 1"]),
        ("stage in {I, III}", ["at least 1 of (`stage=I`, `stage=III`)"]),
        ("stage not in {I, III}", ["at most 0 of (`stage=I`, `stage=III`)"]),
        ("p = yes", ["p >= 1"]),
        ("p != 0", ["p >= 1"]),
    ],
)
def test_categories_are_columns_of_0_and_1(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "not known to hold 0 and 1"),
        ("p in {0, 1}", "write p between 0 and 1"),
        ("sex = other", "has no value other"),
        ("sex >= male", "the order of the values of sex is not known"),
        ("stage < I", "no value of stage"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)
