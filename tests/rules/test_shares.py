from __future__ import annotations

import pytest

from hipad.rules.ast import Term
from hipad.rules.ranges import read_share, share_condition
from tests.rules.reading import at_start, refused


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("top 10 %", (True, 10.0)),
        ("the lowest quartile", (False, 25.0)),
        ("upper tertile", (True, 100 / 3)),
        ("bottom 5 percent", (False, 5.0)),
        ("the mean", None),
        ("top 5", None),
    ],
)
def test_shares_in_words(text, found):
    assert read_share(at_start(text)) == found


@pytest.mark.parametrize(
    ("top", "share", "text"), [(True, 10.0, "x >= p90(x)"), (False, 25.0, "x <= p25(x)")]
)
def test_a_share_is_a_percentile(top, share, text):
    assert str(share_condition(Term(1.0, ("x",)), top, share)) == text


@pytest.mark.parametrize("text", ["top 0 % of x", "top 100 % of x"])
def test_a_share_of_all_or_nothing_is_refused(text):
    assert "between 0 and 100 %" in str(refused(text))
