from __future__ import annotations

import pytest

from tests.rules.settled import refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*A - IL >= 1", ["2*a - IL >= 1"]),
        ("mean(k) >= 2", ["mean(K) >= 2"]),
        ("a >= 0.5 mg", ["a >= 0.5"]),
    ],
)
def test_sides_have_the_datas_own_names(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mean(a) >= 2", "write a where the patient's own value is meant"),
        ("a >= 0.9*max(a)", "p100(a)"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)
