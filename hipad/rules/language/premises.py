"""Conditions joined by and, or, not, unless, at least k of: taken apart into rules.

A rule holds conditions that must all be met. Everything else is distributed: `a or b` makes two
rules, `at least 2 of (a, b, c)` makes three. What would make too many is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.atoms import flag_name, named_flag, read_atom, with_relation
from hipad.rules.language.cursor import COUNT_WORDS, RELATION_KINDS, Cursor
from hipad.rules.language.expressions import read_item, read_side
from hipad.rules.language.logic import MOST_ALTERNATIVES, All, Any, Node, negated, too_many
from hipad.rules.language.model import Condition
from hipad.rules.language.quantities import is_number, read_number
from hipad.rules.language.spelling import rule_error, spoken
from hipad.rules.language.terms import Term

_AND: Final = (("as", "well", "as"), ("together", "with"), ("and",), ("but",), ("plus",), ("with",))
_UNLESS: Final = (("unless",), ("except", "if"), ("except", "when"), ("except",))
_FILLERS: Final = ("the", "these", "following", "conditions", "criteria", "features", "columns")


@dataclass(frozen=True)
class _Part:
    """One piece of a premise, the word before it, and where it stands."""

    join: str
    node: Node
    column: int


def read_premise(cursor: Cursor, *, ends: frozenset[str] = frozenset()) -> Node:
    """Read conditions up to the end of the words, or to a word of one of these kinds."""
    parts = [_Part("", _unit(cursor), cursor.peek().column)]
    while not cursor.is_over and cursor.peek().kind not in ends:
        column = cursor.peek().column
        parts.append(_Part(_join(cursor), _unit(cursor), column))
    return _joined(_completed(parts, cursor))


def _join(cursor: Cursor) -> str:
    """The word between two conditions."""
    if cursor.accept("COMMA"):
        return "and" if _accept_and(cursor) else "or" if _accept_or(cursor) else ","
    if any(cursor.accept_words(*words) for words in _UNLESS):
        cursor.accept_words("if")
        return "unless"
    if _accept_or(cursor):
        return "or"
    if _accept_and(cursor):
        return "and"
    raise _no_join(cursor)


def _accept_and(cursor: Cursor) -> bool:
    if cursor.says("and") and cursor.peek(1).kind == "DIVIDED" and cursor.says("or", ahead=2):
        return False
    return bool(cursor.accept("AND")) or any(cursor.accept_words(*words) for words in _AND)


def _accept_or(cursor: Cursor) -> bool:
    if cursor.says("and") and cursor.peek(1).kind == "DIVIDED" and cursor.says("or", ahead=2):
        cursor.at += 3
        return True
    return bool(cursor.accept("OR", "BAR")) or cursor.accept_words("or")


def _no_join(cursor: Cursor) -> RuleError:
    word = cursor.peek()
    if word.low in ("xor", "otherwise", "else"):
        return cursor.error(
            f"'{word.text}' has no rule of its own: write one rule for each case on a line of its "
            "own"
        )
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


def _completed(parts: list[_Part], cursor: Cursor) -> list[_Part]:
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
            part = replace(part, node=_given(later, name, part.column))
        done.append(part)
    return done[::-1]


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


def _joined(parts: list[_Part]) -> Node:
    """The parts joined: and before or, unless last; a comma is what the list ends with."""
    groups: list[list[_Part]] = [[]]
    for part in parts:
        if part.join == "unless":
            groups.append([])
        groups[-1].append(part)
    node = _and_or(groups[0])
    for group in groups[1:]:
        node = All((node, negated(_and_or(group))))
    return node


def _and_or(parts: list[_Part]) -> Node:
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


def _unit(cursor: Cursor) -> Node:
    """A condition, a negation, a bracket with conditions in it, or a count."""
    cursor.deeper()
    node = _special(cursor) if _is_special(cursor) else read_atom(cursor)
    cursor.depth -= 1
    return node


def _is_special(cursor: Cursor) -> bool:
    """Whether the next word may begin something else than a condition."""
    word = cursor.peek()
    return word.low in _STARTS or word.kind in ("NOT", "OPEN", "NUMBER", *RELATION_KINDS)


def _special(cursor: Cursor) -> Node:
    if cursor.says("no") or cursor.says("without"):
        if (absent := _absent(cursor)) is not None:
            return absent
    elif cursor.accept("NOT") or cursor.accept_words("not"):
        return negated(_unit(cursor))
    if cursor.says("neither"):
        return _neither(cursor)
    for pair in ("either", "both"):
        if cursor.says(pair) and not cursor.says(pair, "of"):
            cursor.take()
            return _pair(cursor, pair)
    if (counted := _counted(cursor)) is not None:
        return counted
    word = cursor.peek()
    if word.kind == "OPEN" and (end := _closing(cursor)) is not None and _is_logic(cursor, end):
        inner = cursor.part(cursor.at + 1, end)
        node = read_premise(inner)
        cursor.at = end + 1
        return node
    return read_atom(cursor)


def _absent(cursor: Cursor) -> Node | None:
    """`no hypertension`: a name that stands alone, turned round; None if something else comes."""
    if not cursor.is_name(1) or cursor.phrase() is not None:
        return None
    word = cursor.take()
    node = _unit(cursor)
    if flag_name(node) is None:
        raise cursor.error(f"write 'not' in place of '{word.text}' before a comparison", word)
    return negated(node)


def _pair(cursor: Cursor, word: str) -> Node:
    """`either a or b`, `both a and b`: the two belong together."""
    parts = [_Part("", _unit(cursor), cursor.peek().column)]
    accept = _accept_or if word == "either" else _accept_and
    while (comma := cursor.peek().kind == "COMMA") or not cursor.is_over:
        at = cursor.at
        if comma:
            cursor.take()
        if not accept(cursor) and not comma:
            cursor.at = at
            break
        parts.append(_Part("", _unit(cursor), cursor.peek().column))
        if word == "both":
            break
    nodes = tuple(part.node for part in _completed(parts, cursor))
    if len(nodes) == 1:
        return nodes[0]
    return Any(nodes) if word == "either" else All(nodes)


def _neither(cursor: Cursor) -> Node:
    cursor.take()
    parts = [_Part("", _unit(cursor), cursor.peek().column)]
    while cursor.accept_words("nor"):
        parts.append(_Part("", _unit(cursor), cursor.peek().column))
    return All(tuple(negated(part.node) for part in _completed(parts, cursor)))


def _closing(cursor: Cursor) -> int | None:
    """Where the bracket that comes next ends."""
    depth = 0
    for at in range(cursor.at, len(cursor.words)):
        kind = cursor.words[at].kind
        depth += (kind == "OPEN") - (kind == "CLOSE")
        if depth == 0:
            return at
    return None


def _is_logic(cursor: Cursor, end: int) -> bool:
    """Whether a bracket holds conditions, and not a sum or a name."""
    if cursor.peek().text == "{":
        return False
    inner = cursor.part(cursor.at + 1, end)
    depth = 0
    while not inner.is_over:
        word = inner.peek()
        depth += (word.kind == "OPEN") - (word.kind == "CLOSE")
        if word.kind in RELATION_KINDS or word.kind in ("AND", "OR", "NOT", "IN", "NOTIN"):
            return True
        if word.kind == "NAME" and (word.low in _LOGIC or inner.phrase() is not None):
            return True
        inner.take()
    after = cursor.words[end + 1] if end + 1 < len(cursor.words) else None
    lone = after is None or after.low in _LOGIC or after.kind in ("AND", "OR", "COMMA", "CLOSE")
    return cursor.peek().text == "(" and lone


_LOGIC: Final = frozenset(spoken("and or not unless between in either neither but"))


_STARTS: Final = frozenset(
    spoken(
        "not no without neither either both any all each every none exactly only at more less "
        "fewer greater over above below under is"
    )
) | frozenset(COUNT_WORDS)


def _counted(cursor: Cursor) -> Node | None:
    """`at least 2 of (a, b, c)` and its relatives, or None if no such words come next."""
    start = cursor.at
    found = _how_many(cursor)
    if found is None or not (cursor.accept_words("of") or cursor.accept_words("out", "of")):
        cursor.at = start
        return None
    relation, number, column = *found, cursor.words[start].column
    while cursor.peek().kind == "NAME" and cursor.peek().low in _FILLERS:
        cursor.take()
    cursor.accept("COLON")
    parts = _elements(cursor)
    given = cursor.relation()
    if given is not None and all(flag_name(part) for part in parts):
        parts = [_compared(part, cursor, given) if k == 0 else part for k, part in enumerate(parts)]
        first = parts[0]
        assert isinstance(first, Condition)
        parts = [first, *(with_relation(part, first) for part in parts[1:])]
        if relation in ("any", "all") and isinstance(parts[0], Condition):
            return _among(relation, parts)
    return _counting(relation, number, parts, column, cursor)


def _compared(part: Node, cursor: Cursor, given: tuple[str, int]) -> Condition:
    cursor.at += given[1]
    side = read_side(cursor)
    name = flag_name(part)
    assert name is not None
    return Condition(((Term(1.0, (name,)),), side), (given[0],))


def _among(word: str, parts: list[Node]) -> Node:
    """`any of (a, b) >= 2`: the largest of them is; blocks may be among the names."""
    conditions = [part for part in parts if isinstance(part, Condition)]
    names = tuple(condition.sides[0][0].names[0] for condition in conditions)
    relation = conditions[0].relations[0]
    if relation[0] not in "<>":
        return Any(tuple(parts)) if word == "any" else All(tuple(parts))
    function = "max" if (word == "any") == (relation[0] == ">") else "min"
    term = Term(1.0, names, function, conditions[0].sides[0][0].column)
    return Condition(((term,), conditions[0].sides[1]), (relation,))


def _how_many(cursor: Cursor) -> tuple[str, float] | None:
    """The sign and the number of a count; any, all and none stand for themselves."""
    for words, kind in (
        (("any",), "any"),
        (("either",), "any"),
        (("all",), "all"),
        (("both",), "all"),
        (("each",), "all"),
        (("every", "one"), "all"),
        (("none",), "none"),
        (("neither",), "none"),
    ):
        if cursor.says(*words) and cursor.says("of", ahead=len(words)):
            cursor.at += len(words)
            return kind, 1.0
    cursor.accept_words("any")
    relation = ">="
    if (found := cursor.relation()) is not None and found[0] != "!=":
        relation, n = found
        cursor.at += n
    elif cursor.accept_words("exactly") or cursor.accept_words("only"):
        relation = "="
    number = _count_number(cursor)
    if number is None:
        return None
    if cursor.accept_words("or", "more"):
        relation = ">="
    elif cursor.accept_words("or", "fewer") or cursor.accept_words("or", "less"):
        relation = "<="
    strict = {">": (">=", number + 1), "<": ("<=", number - 1)}
    return strict.get(relation, (relation, number))


def _count_number(cursor: Cursor) -> float | None:
    word = cursor.peek()
    if word.kind == "NAME" and word.low in COUNT_WORDS:
        cursor.take()
        return float(COUNT_WORDS[word.low])
    minus = word.kind == "MINUS" and is_number(cursor, 1)
    if minus:
        cursor.take()
    if not is_number(cursor):
        return None
    return -read_number(cursor) if minus else read_number(cursor)


def _elements(cursor: Cursor) -> list[Node]:
    """What is counted: between brackets, or up to the end."""
    word = cursor.peek()
    if word.kind == "OPEN" and (end := _closing(cursor)) is not None:
        inner = cursor.part(cursor.at + 1, end)
        cursor.at = end + 1
        return _listed(inner)
    return _listed(cursor)


def _listed(cursor: Cursor) -> list[Node]:
    """Conditions or names with commas (or and, or) between them."""
    parts: list[_Part] = []
    while True:
        parts.append(_Part("", _element(cursor), cursor.peek().column))
        if cursor.is_over:
            break
        if cursor.accept("COMMA", "SEMICOLON"):
            if not _accept_and(cursor):
                _accept_or(cursor)
            continue
        at = cursor.at
        if not (_accept_and(cursor) or _accept_or(cursor)):
            cursor.at = at
            break
    return [part.node for part in _completed(parts, cursor)]


def _element(cursor: Cursor) -> Node:
    """One thing that is counted; a range of columns is written with a colon."""
    if cursor.is_name() and cursor.peek(1).kind in ("COLON", "DOTS"):
        return named_flag(read_item(cursor), cursor.peek().column)
    return _unit(cursor)


def _counting(relation: str, number: float, parts: list[Node], column: int, cursor: Cursor) -> Node:
    names = [flag_name(part, spans=True) for part in parts]
    if all(names) and relation != "all":
        sign, least = {"any": (">=", 1.0), "none": ("<=", 0.0)}.get(relation, (relation, number))
        counted = (Term(1.0, tuple(n for n in names if n), "sum", column),)
        return Condition((counted, (Term(least),)), (sign,), "count")
    if relation == "any":
        return Any(tuple(parts))
    if relation == "all":
        return All(tuple(parts))
    if relation == "none":
        return All(tuple(map(negated, parts)))
    if number != int(number):
        raise cursor.error(
            "write a whole number of conditions, as in at least 2 of", cursor.words[0]
        )
    return _some_of(relation, int(number), parts, column, cursor)


def _some_of(relation: str, number: int, parts: list[Node], column: int, cursor: Cursor) -> Node:
    """At least, at most or exactly so many of the conditions."""
    if not 0 <= number <= len(parts) or (relation == ">=" and number == 0):
        raise cursor.error(
            f"there are {len(parts)} conditions to count, {number} of them cannot be asked for: "
            "write another number",
            cursor.words[0],
        )
    if relation == "<=":
        if number == len(parts):
            raise cursor.error("this is always true: write a smaller number", cursor.words[0])
        relation, number, parts = ">=", len(parts) - number, list(map(negated, parts))
    if math.comb(len(parts), number) > MOST_ALTERNATIVES:
        raise too_many(column)
    chosen = []
    for positions in combinations(range(len(parts)), number):
        nodes = [parts[k] for k in positions]
        if relation == "=":
            nodes += [negated(part) for k, part in enumerate(parts) if k not in positions]
        chosen.append(nodes[0] if len(nodes) == 1 else All(tuple(nodes)))
    return chosen[0] if len(chosen) == 1 else Any(tuple(chosen))
