"""Names that stand alone as a condition: `smoker`."""

from __future__ import annotations

from dataclasses import replace

from hipad.rules.language.logic import Node
from hipad.rules.language.model import Condition
from hipad.rules.language.terms import Name, Term


def flag_name(node: Node, *, spans: bool = False) -> Name | None:
    """The name that stands alone as a condition, not turned round; else None."""
    if not isinstance(node, Condition) or node.form != "flag" or not node.sides[1][0].coefficient:
        return None
    name = node.sides[0][0].names[0]
    return name if spans or isinstance(name, str) else None


def named_flag(name: Name, column: int) -> Condition:
    """A name that stands alone: `smoker`."""
    function = "" if isinstance(name, str) else "min"
    term = Term(1.0, (name,), function, column)
    return Condition(((term,), (Term(1.0),)), ("=",), "flag")


def with_relation(node: Node, like: Condition) -> Node:
    """A name that stands alone, compared as another one is."""
    name = flag_name(node)
    assert name is not None
    return replace(like, sides=((Term(1.0, (name,)),), *like.sides[1:]), written=None)
