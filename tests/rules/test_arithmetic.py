from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules.ast import Term, side_text
from hipad.rules.expressions import constant, in_range, ratio_of, times
from hipad.rules.lexer import words_of
from tests.rules.reading import refused

A, B = Term(1.0, ("a",)), Term(2.0, ("b",))
(SIGN,) = words_of("/")


def test_a_side_without_features_has_a_value():
    assert constant((Term(2.0), Term(-0.5))) == 1.5
    assert constant((Term(2.0), A)) is None


def test_every_coefficient_is_multiplied():
    assert side_text(times((A, B, Term(1.0)), -3.0)) == "-3*a - 6*b - 3"


def test_each_term_stands_over_the_divisor():
    assert side_text(ratio_of((A, Term(4.0, ("c",))), (B,), SIGN)) == "0.5*a/b + 2*c/b"


@pytest.mark.parametrize("divisor", [(A, B), (Term(1.0, ("K",), "mean"),)])
def test_only_one_feature_may_stand_below_the_line(divisor):
    with pytest.raises(RuleError, match="as a ratio"):
        ratio_of((A,), divisor, SIGN)
    assert "as a ratio" in str(refused("3/a >= 2"))


def test_numbers_that_computers_cannot_hold_are_refused():
    assert in_range(0.0, SIGN) == 0.0
    with pytest.raises(RuleError, match="in another unit"):
        in_range(1e180, SIGN)
    assert refused("1e90*1e90*age >= 1").column == 10
