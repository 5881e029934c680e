from __future__ import annotations

from hipad.rules.ast import Condition, FeatureSpan, negated
from hipad.rules.comparisons import read_atom
from hipad.rules.operands import flag_name, named_flag, with_relation
from tests.rules.reading import at_start


def test_a_name_alone_is_a_flag_until_it_is_turned_round():
    flag = named_flag("smoker", 1)
    assert (str(flag), flag_name(flag)) == ("smoker", "smoker")
    assert flag_name(negated(flag)) is None
    assert flag_name(read_atom(at_start("a >= 2"))) is None


def test_a_range_of_columns_is_a_flag_where_it_may_be():
    span = named_flag(FeatureSpan("g1", "g4"), 1)
    assert flag_name(span) is None
    assert flag_name(span, spans=True) == FeatureSpan("g1", "g4")


def test_a_flag_takes_the_comparison_of_another():
    like = read_atom(at_start("a >= 2"))
    assert isinstance(like, Condition)
    assert str(with_relation(named_flag("b", 1), like)) == "b >= 2"
