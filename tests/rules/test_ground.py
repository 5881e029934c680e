from __future__ import annotations

import pytest

from hipad.rules.ast import FeatureSpan, Term
from hipad.rules.context import is_feature, lone_name, members_of, own_name
from tests.rules.settled import ground, refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INCOME >= 1", ["income >= 1"]),
    ],
)
def test_other_case_is_understood(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing >= 1", "no feature or block is called nothing"),
        ("K >= 1", "write mean(K)"),
        ("a >= inf", "no number to compare with"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


def test_groups_are_spelled_out_each_feature_once():
    term = Term(1.0, ("K", FeatureSpan("b", "debt"), "a"), "max")
    assert members_of(ground(), term) == ["a", "b", "income", "debt"]
    assert is_feature(ground(), ("a",))
    assert not is_feature(ground(), ("K",))


def test_names_are_the_datas_own():
    assert own_name(ground(), "Debt", None) == "debt"
    assert lone_name((Term(1.0, ("a",)),)) == "a"
    assert lone_name((Term(2.0, ("a",)),)) is None
