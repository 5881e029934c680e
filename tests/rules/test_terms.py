from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureSpan, Term
from hipad.rules.ast import side_text


def test_a_side_is_written_as_a_sum():
    side = (
        Term(2.0, ("a",)),
        Term(-1.0, ("p-1=t",)),
        Term(-0.5, ("K", FeatureSpan("a", "c")), "mean"),
    )
    assert side_text(side) == "2*a - `p-1=t` - 0.5*mean(K, a:c)"
    assert side_text((Term(0.0), Term(-3.0))) == "0 - 3"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Term(1.0, ("a", "b")),
        lambda: Term(1.0, (FeatureSpan("a", "b"),)),
        lambda: Term(1.0, ("a",), "mode"),
        lambda: Term(float("nan"), ("a",)),
        lambda: Term(1e200, ("a",)),
        lambda: Term(1.0, ("two\nlines",)),
    ],
)
def test_what_cannot_be_a_term_is_refused(make):
    with pytest.raises(RuleError):
        make()


def test_where_a_term_stood_does_not_matter():
    assert Term(1.0, ("a",), column=3) == Term(1.0, ("a",), column=9)
