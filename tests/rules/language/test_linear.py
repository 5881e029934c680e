from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import Condition, Term
from hipad.rules.language.linear import check_linear, inequalities

A, THREE = Term(1.0, ("a",)), Term(3.0)
LOWEST, HIGHEST = Term(1.0, ("K",), "min"), Term(1.0, ("K",), "max")


@pytest.mark.parametrize(("relation", "signs"), [("<=", [1]), (">", [-1]), ("=", [1, -1])])
def test_each_relation_has_its_inequalities(relation, signs):
    found = inequalities(Condition(((A,), (THREE,)), (relation,)))
    assert [terms[0][0] for terms in found] == signs
    assert [terms[1][0] for terms in found] == [-3 * sign for sign in signs]


@pytest.mark.parametrize(
    ("side", "relation", "fits"),
    [(LOWEST, ">=", True), (LOWEST, "<=", False), (HIGHEST, "<=", True), (HIGHEST, ">=", False)],
)
def test_only_what_is_asked_of_every_feature_is_linear(side, relation, fits):
    condition = Condition(((side,), (THREE,)), (relation,))
    if fits:
        check_linear(condition)
    else:
        with pytest.raises(RuleError, match="not linear") as caught:
            check_linear(condition)
        assert caught.value.suggestion == f"mean(K) {relation} 3"


def test_a_negative_weight_turns_it_round():
    minus = Term(-1.0, ("K",), "max")
    check_linear(Condition(((minus,), (THREE,)), (">=",)))
