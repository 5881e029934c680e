from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules import Condition, Term
from hipad.rules.ast import MOST_ALTERNATIVES, All, Any, Node, alternatives, negated

VALUES = {"a": 0.0, "b": 1.0, "c": 2.0}
LEAVES = st.builds(
    lambda name, sign, level: Condition(((Term(1.0, (name,)),), (Term(level),)), (sign,)),
    st.sampled_from(list(VALUES)),
    st.sampled_from([">=", "<=", ">", "<"]),
    st.sampled_from([0.0, 1.0, 2.0]),
)
NODES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda kind, parts: kind(tuple(parts)),
        st.sampled_from([All, Any]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


def holds(node: Node) -> bool:
    """Straight from the meaning."""
    if isinstance(node, All):
        return all(map(holds, node.parts))
    if isinstance(node, Any):
        return any(map(holds, node.parts))
    left, right = VALUES[str(node.sides[0][0].names[0])], node.sides[1][0].coefficient
    return {">=": left >= right, "<=": left <= right, ">": left > right, "<": left < right}[
        node.relations[0]
    ]


@given(NODES)
def test_the_opposite_holds_where_the_other_does_not(node: Node):
    assert holds(negated(node)) != holds(node)


@given(NODES)
def test_taken_apart_it_says_the_same(node: Node):
    assert any(all(map(holds, each)) for each in alternatives(node)) == holds(node)


def test_too_many_rules_are_refused():
    leaf = Condition(((Term(1.0, ("a",)),), (Term(1.0),)), (">=",))
    pair = Any((leaf, Condition(((Term(1.0, ("b",)),), (Term(1.0),)), (">=",))))
    assert len(alternatives(All((pair,) * 6))) <= MOST_ALTERNATIVES
    with pytest.raises(RuleError, match="more than 64 rules"):
        alternatives(All((pair,) * 7))
