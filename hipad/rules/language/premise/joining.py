"""The words between conditions, and what they make of them: and before or, unless last.

A comma is what its list ends with, and a name may share the comparison of a later one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.conditions.flags import flag_name
from hipad.rules.language.logic import All, Any, Node, negated
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.terms import Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.quantities import is_number

_AND: Final = (("as", "well", "as"), ("together", "with"), ("and",), ("but",), ("plus",), ("with",),
               ("while",), ("whilst",), ("whereas",))  # fmt: skip
_NO_SIGNS: Final = {
    "~": "a range, as in Glucose between 120 and 130",
    "≈": "a range, as in Glucose between 120 and 130",
    "≫": "> and how much, as in Glucose > 126",
    "≪": "< and how much, as in Glucose < 126",
    "'": "a number without marks between its digits, as in 40000",
}
_UNLESS: Final = (("unless",), ("except", "if"), ("except", "when"), ("except", "for"), ("except",),
                  ("excluding",), ("without",))  # fmt: skip


@dataclass(frozen=True)
class JoinedPart:
    """One piece of a premise, the word before it, and where it stands."""

    join: str
    node: Node
    column: int


def read_join(cursor: Cursor) -> str:
    """The word between two conditions."""
    if cursor.accept("COMMA"):
        return "and" if accept_and(cursor) else "or" if accept_or(cursor) else ","
    if any(cursor.accept_words(*words) for words in _UNLESS):
        cursor.accept_words("if")
        return "unless"
    if accept_or(cursor):
        return "or"
    if accept_and(cursor):
        return "and"
    if cursor.peek().kind == "OPEN" and cursor.peek(1).low in ("unless", "except"):
        return "and"  # a >= 2 (unless b >= 3)
    if cursor.accept_words("xor"):
        return "xor"
    raise _no_join(cursor)


def accept_and(cursor: Cursor) -> bool:
    """Step over and, &, as well as, and the like, but not over and/or."""
    if cursor.says("and") and cursor.peek(1).kind == "DIVIDED" and cursor.says("or", ahead=2):
        return False
    return bool(cursor.accept("AND")) or any(cursor.accept_words(*words) for words in _AND)


def accept_or(cursor: Cursor) -> bool:
    """Step over or, |, or and/or."""
    if cursor.says("and") and cursor.peek(1).kind == "DIVIDED" and cursor.says("or", ahead=2):
        cursor.at += 3
        return True
    return bool(cursor.accept("OR", "BAR")) or cursor.accept_words("or")


def _no_join(cursor: Cursor) -> RuleError:
    word = cursor.peek()
    if word.low in ("otherwise", "else"):
        return cursor.error(
            f"'{word.text}' has no rule of its own: write one rule for each case on a line of its "
            "own"
        )
    if word.text in _NO_SIGNS:
        return cursor.error(f"'{word.text}' is no sign here: write {_NO_SIGNS[word.text]}")
    if word.kind == "SEMICOLON":
        return cursor.error("write 'and' or 'or' in place of ';', and one rule per line")
    if word.kind == "DEFINE":
        return cursor.error("write '=>' before the outcome, in place of ':='")
    if is_number(cursor):
        return cursor.error("write a sign before the number, as in Glucose >= 126")
    if word.kind == "POWER":
        return cursor.error(
            "a power is not linear: add it to the data as a feature of its own, or write abs(a)"
        )
    return cursor.error(
        f"'{word.text}' does not belong here: write 'and' or 'or' between conditions, and put "
        "names with signs or blanks between backticks"
    )


def completed(parts: list[JoinedPart], cursor: Cursor) -> list[JoinedPart]:
    """`a, b >= 2` with the comparison given to both, where a is not 0 or 1."""
    known = cursor.vocabulary
    if known is None:
        return parts
    later: Condition | None = None
    done = []
    for part in reversed(parts):
        name = flag_name(part.node)
        if name is None:
            later = _shared(part.node)
        elif later and isinstance(name, str) and known.is_name(name) and not known.is_flag(name):
            if not known.has_values:
                raise _which(later, name, cursor, part.column)
            part = replace(part, node=_given(later, name, part.column))
        done.append(part)
    return done[::-1]


def _which(later: Condition, name: str, cursor: Cursor, column: int) -> RuleError:
    """The error for a name that is 0 or 1 or shares a comparison, as only the rows tell."""
    both = [f"{quote_name(name)} = 1", str(_given(later, name, column))]
    return cursor.error(
        f"whether {quote_name(name)} is a column of 0 and 1 or is compared too is not known "
        f"without rows: pass the rows (values=X), or write {' or '.join(both)} for it",
        next((word for word in cursor.words if word.text == name), None),
    )


def _shared(node: Node) -> Condition | None:
    """A comparison of one feature, which names before it may share; else None."""
    if not isinstance(node, Condition) or node.form not in ("compare", "between"):
        return None
    if len(node.sides) != (3 if node.form == "between" else 2):
        return None
    left = node.sides[1 if node.form == "between" else 0]
    single = len(left) == 1 and bool(left[0].names) and not left[0].function
    return node if single else None


def _given(later: Condition, name: str, column: int) -> Condition:
    sides = list(later.sides)
    sides[1 if later.form == "between" else 0] = (Term(1.0, (name,), column=column),)
    return replace(later, sides=tuple(sides), written=None)


def joined(parts: list[JoinedPart]) -> Node:
    """The parts joined: and before or, unless last; a comma is what the list ends with."""
    if any(part.join == "xor" for part in parts):
        return _one_only(parts)
    groups: list[list[JoinedPart]] = [[]]
    for part in parts:
        if part.join == "unless":
            groups.append([])
        groups[-1].append(part)
    node = _and_or(groups[0])
    for group in groups[1:]:
        node = All((node, negated(_and_or(group))))
    return node


def _one_only(parts: list[JoinedPart]) -> Node:
    """`a xor b`: one of the two and not the other."""
    if len(parts) > 2:
        raise rule_error(
            "it is not clear what belongs together: write brackets around the conditions of xor",
            column=parts[-1].column,
        )
    one, other = (part.node for part in parts)
    return Any((All((one, negated(other))), All((negated(one), other))))


def _and_or(parts: list[JoinedPart]) -> Node:
    joins = {part.join for part in parts[1:]}
    comma = "and"
    if "," in joins and "or" in joins:
        first_or = next(k for k, part in enumerate(parts[1:]) if part.join == "or")
        if "and" in joins or any(part.join == "," for part in parts[first_or + 1 :]):
            raise rule_error(
                "it is not clear what belongs together: write brackets, as in (a >= 1 or b >= 2) "
                "and c >= 3",
                column=parts[first_or + 1].column,
            )
        comma = "or"
    branches: list[list[Node]] = [[parts[0].node]]
    for part in parts[1:]:
        if (comma if part.join == "," else part.join) == "or":
            branches.append([])
        branches[-1].append(part.node)
    anded = [nodes[0] if len(nodes) == 1 else All(tuple(nodes)) for nodes in branches]
    return anded[0] if len(anded) == 1 else Any(tuple(anded))
