"""`at least 2 of (a, b, c)` and its relatives: how many, of what, and the rules that this makes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Final

from hipad.rules.language.conditions.comparisons import read_comparison
from hipad.rules.language.conditions.flags import flag_name, named_flag, with_relation
from hipad.rules.language.logic import MOST_ALTERNATIVES, All, Any, Node, negated, too_many
from hipad.rules.language.model import Condition
from hipad.rules.language.premise.bracketed import closing_bracket
from hipad.rules.language.premise.joining import JoinedPart, accept_and, accept_or, completed
from hipad.rules.language.sides.expressions import read_side
from hipad.rules.language.sides.functions import read_item
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.spelling import spoken
from hipad.rules.language.terms import Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.phrases import COUNT_WORDS
from hipad.rules.language.words.quantities import is_number, read_number

_FILLERS: Final = ("the", "these", "following", "conditions", "criteria", "features", "columns")
_NOUNS: Final = frozenset(
    spoken("genes gene features feature columns column markers marker probes probe sensors sensor "
           "values value members member items variables signals readings")
)  # fmt: skip
_NUMBERED: Final = re.compile(r"(.*?\D)(\d{1,6})")
_Reader = Callable[[Cursor], Node]


def read_count(cursor: Cursor, read_one: _Reader) -> Node | None:
    """`at least 2 of (a, b, c)` and its relatives, or None if no such words come next."""
    start = cursor.at
    found = _how_many(cursor)
    of = found is not None and (cursor.accept_words("of") or cursor.accept_words("out", "of"))
    if found is None or not (of or _block_at(cursor)):
        cursor.at = start
        return None
    relation, number, column = *found, cursor.words[start].column
    _skip_fillers(cursor)
    if (members := _members(cursor)) and not _ends(cursor):
        return _of_block(cursor, relation, number, members, column)
    cursor.accept("COLON")
    parts = _elements(cursor, read_one)
    given = cursor.relation()
    if given is not None and all(flag_name(part) for part in parts):
        parts = [_compared(part, cursor, given) if k == 0 else part for k, part in enumerate(parts)]
        first = parts[0]
        assert isinstance(first, Condition)
        parts = [first, *(with_relation(part, first) for part in parts[1:])]
        if relation in ("any", "all") and isinstance(parts[0], Condition):
            return _among(relation, parts)
    return _counting(relation, number, parts, column, cursor)


def _skip_fillers(cursor: Cursor) -> None:
    """Step over `the following`, and over how many there are to choose from."""
    if is_number(cursor) and (cursor.peek(1).kind == "COLON" or cursor.is_name(1)):
        cursor.take()
    while cursor.peek().kind == "NAME" and cursor.peek().low in _FILLERS:
        cursor.take()


def _block_at(cursor: Cursor) -> bool:
    """Whether the name of a block comes next."""
    known, word = cursor.vocabulary, cursor.peek()
    return known is not None and cursor.is_name() and bool(known.members(plain_text(word.text)))


def _members(cursor: Cursor) -> tuple[str, ...]:
    """Step over a block, or a range such as T1-T4, and give back its features."""
    known, word = cursor.vocabulary, cursor.peek()
    if known is None:
        return ()
    if word.kind == "OPEN" and cursor.is_name(1) and cursor.peek(2).kind == "CLOSE":
        if members := known.members(plain_text(cursor.peek(1).text)):
            cursor.at += 3
        return members
    if not cursor.is_name():
        return ()
    if members := known.members(plain_text(word.text)):
        after = cursor.peek(1)
        if after.kind in ("COMMA", "OPEN", "COLON", "CLOSE") or after.low in ("and", "or"):
            return ()
        cursor.take()
        while cursor.peek().kind == "NAME" and cursor.peek().low in _NOUNS:
            cursor.take()
        return members
    if cursor.peek(1).kind == "MINUS" and cursor.peek(2).kind == "NAME":
        first, last = (_NUMBERED.fullmatch(cursor.peek(k).text) for k in (0, 2))
        if first and last and first[1].lower() == last[1].lower():
            numbers = range(int(first[2]), int(last[2]) + 1)
            members = tuple(f"{first[1]}{k}" for k in numbers)
            if len(members) > 1 and all(map(known.is_name, members)):
                cursor.at += 3
                return members
    return ()


def _ends(cursor: Cursor) -> bool:
    """Whether nothing that compares comes next: a block of 0 and 1 is counted as it is."""
    return cursor.is_over or cursor.peek().kind in ("CLOSE", "AND", "OR", "COMMA")


def _of_block(
    cursor: Cursor, relation: str, number: float, members: tuple[str, ...], column: int
) -> Node:
    """`at least 2 of K1 > 8`: the comparison is one of each feature."""
    first = members[0]
    node = read_comparison(cursor, (Term(1.0, (first,), column=column),))
    plain = isinstance(node, Condition) and node.form == "compare" and len(node.sides) == 2
    if relation in ("any", "all") and plain:
        parts: list[Node] = [renamed(node, first, name) for name in members]
        return _among(relation, parts)
    if relation == "none" and plain:
        assert isinstance(node, Condition)
        turned = negated(node)
        return _among("all", [renamed(turned, first, name) for name in members])
    too_many_ways = relation not in ("any", "all", "none") and len(members) > MOST_ALTERNATIVES
    if too_many_ways:
        raise too_many(column)
    return _counting(
        relation, number, [renamed(node, first, name) for name in members], column, cursor
    )


def renamed(node: Node, old: str, new: str) -> Node:
    """A node with one feature in the place of another."""
    if not isinstance(node, Condition):
        return type(node)(tuple(renamed(part, old, new) for part in node.parts))
    sides = tuple(
        tuple(replace(t, names=tuple(new if n == old else n for n in t.names)) for t in side)
        for side in node.sides
    )
    return replace(node, sides=sides, written=None)


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
        (("every",), "all"),
        (("none",), "none"),
        (("neither",), "none"),
        (("no",), "none"),
    ):
        if cursor.says(*words):
            cursor.at += len(words)
            if cursor.says("of") or _block_at(cursor):
                return kind, 1.0
            cursor.at -= len(words)
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


def _elements(cursor: Cursor, read_one: _Reader) -> list[Node]:
    """What is counted: between brackets, or up to the end."""
    word = cursor.peek()
    if word.kind == "OPEN" and (end := closing_bracket(cursor)) is not None:
        inner = cursor.part(cursor.at + 1, end)
        cursor.at = end + 1
        return _listed(inner, read_one)
    return _listed(cursor, read_one)


def _listed(cursor: Cursor, read_one: _Reader) -> list[Node]:
    """Conditions or names with commas (or and, or) between them."""
    parts: list[JoinedPart] = []
    while True:
        parts.append(JoinedPart("", _element(cursor, read_one), cursor.peek().column))
        if cursor.is_over:
            break
        if cursor.accept("COMMA", "SEMICOLON"):
            if not accept_and(cursor):
                accept_or(cursor)
            continue
        at = cursor.at
        if not (accept_and(cursor) or accept_or(cursor)):
            cursor.at = at
            break
    return [part.node for part in completed(parts, cursor)]


def _element(cursor: Cursor, read_one: _Reader) -> Node:
    """One thing that is counted; a range of columns is written with a colon."""
    if cursor.is_name() and cursor.peek(1).kind in ("COLON", "DOTS"):
        return named_flag(read_item(cursor), cursor.peek().column)
    return read_one(cursor)


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
