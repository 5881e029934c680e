"""Premises: conditions joined by and, or, not, unless, at least k of, and points scores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import (
    MOST_ALTERNATIVES,
    All,
    Any,
    Condition,
    Node,
    Side,
    Term,
    negated,
    too_many,
)
from hipad.rules.comparisons import read_atom, read_comparison
from hipad.rules.expressions import (
    constant,
    flag_name,
    named_flag,
    plain_text,
    read_item,
    read_product,
    read_side,
    times,
    with_relation,
)
from hipad.rules.lexer import (
    COUNT_WORDS,
    RELATION_KINDS,
    TokenStream,
    is_number,
    quote_name,
    read_number,
    rule_error,
    spoken,
)

# --------------------------------------------------------------------------------------------------
# Brackets in a premise: where they end, and whether they hold conditions or a sum.


_LOGIC: Final = frozenset(spoken("and or not unless between in either neither but"))


def closing_bracket(tokens: TokenStream, start: int | None = None) -> int | None:
    """Return where the bracket that comes next, or stands at `start`, ends."""
    depth = 0
    for at in range(tokens.at if start is None else start, len(tokens.words)):
        kind = tokens.words[at].kind
        depth += (kind == "OPEN") - (kind == "CLOSE")
        if depth == 0:
            return at
    return None


def holds_conditions(tokens: TokenStream, end: int) -> bool:
    """Return whether a bracket holds conditions, and not a sum or a name."""
    if tokens.peek().text == "{":
        return False
    inner = tokens.part(tokens.at + 1, end)
    depth = 0
    while not inner.is_over:
        word = inner.peek()
        depth += (word.kind == "OPEN") - (word.kind == "CLOSE")
        if word.kind in RELATION_KINDS or word.kind in ("AND", "OR", "NOT", "IN", "NOTIN"):
            return True
        if word.kind == "NAME" and (word.low in _LOGIC or inner.phrase() is not None):
            return True
        inner.take()
    after = tokens.words[end + 1] if end + 1 < len(tokens.words) else None
    lone = after is None or after.low in _LOGIC or after.kind in ("AND", "OR", "COMMA", "CLOSE")
    return tokens.peek().text == "(" and lone


# --------------------------------------------------------------------------------------------------
# The words between conditions, and what they make of them: and before or, unless last.
#
# A comma is what its list ends with, and a name may share the comparison of a later one.


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
_DENIED: Final = (("but", "not", "if"), ("but", "not", "when"), ("unless",), ("except", "if"),
                  ("except", "when"))  # fmt: skip


@dataclass(frozen=True)
class JoinedPart:
    """One piece of a premise, the word before it, and where it stands."""

    join: str
    node: Node
    column: int


def read_join(tokens: TokenStream) -> str:
    """Return the word between two conditions."""
    comma = tokens.accept("COMMA") is not None
    if any(tokens.accept_words(*words) for words in _DENIED if comma or words[0] == "but"):
        tokens.accept_words("if")
        return "unless"
    if comma:
        return ", and" if accept_and(tokens) else "or" if accept_or(tokens) else ","
    if any(tokens.accept_words(*words) for words in _UNLESS):
        tokens.accept_words("if")
        return "unless"
    if accept_or(tokens):
        return "or"
    if accept_and(tokens):
        return "and"
    if tokens.peek().kind == "OPEN" and tokens.peek(1).low in ("unless", "except"):
        return "and"  # a >= 2 (unless b >= 3)
    if tokens.accept_words("xor"):
        return "xor"
    raise _no_join(tokens)


def accept_and(tokens: TokenStream) -> bool:
    """Step over and, &, as well as, and the like, but not over and/or."""
    if tokens.matches("and") and tokens.peek(1).kind == "DIVIDED" and tokens.matches("or", ahead=2):
        return False
    return bool(tokens.accept("AND")) or any(tokens.accept_words(*words) for words in _AND)


def accept_or(tokens: TokenStream) -> bool:
    """Step over or, |, or and/or."""
    if tokens.matches("and") and tokens.peek(1).kind == "DIVIDED" and tokens.matches("or", ahead=2):
        tokens.at += 3
        return True
    return bool(tokens.accept("OR", "BAR")) or tokens.accept_words("or")


def _no_join(tokens: TokenStream) -> RuleError:
    word = tokens.peek()
    if word.low in ("otherwise", "else"):
        return tokens.error(
            f"'{word.text}' has no rule of its own: write one rule for each case on a line of its "
            "own"
        )
    if word.text in _NO_SIGNS:
        return tokens.error(f"'{word.text}' is no sign here: write {_NO_SIGNS[word.text]}")
    if word.kind == "SEMICOLON":
        return tokens.error("write 'and' or 'or' in place of ';', and one rule per line")
    if word.kind == "DEFINE":
        return tokens.error("write '=>' before the outcome, in place of ':='")
    if is_number(tokens):
        return tokens.error("write a sign before the number, as in Glucose >= 126")
    if word.kind == "POWER":
        return tokens.error(
            "a power is not linear: add it to the data as a feature of its own, or write abs(a)"
        )
    return tokens.error(
        f"'{word.text}' does not belong here: write 'and' or 'or' between conditions, and put "
        "names with signs or blanks between backticks"
    )


def completed(parts: list[JoinedPart], tokens: TokenStream) -> list[JoinedPart]:
    """Read `a, b >= 2` with the comparison given to both, where a is not 0 or 1."""
    known = tokens.vocabulary
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
                raise _which(later, name, tokens, part.column)
            part = replace(part, node=_given(later, name, part.column))
        done.append(part)
    return done[::-1]


def _which(later: Condition, name: str, tokens: TokenStream, column: int) -> RuleError:
    """Return the error for a name that is 0 or 1 or shares a comparison, as only the rows tell."""
    both = [f"{quote_name(name)} = 1", str(_given(later, name, column))]
    return tokens.error(
        f"whether {quote_name(name)} is a column of 0 and 1 or is compared too is not known "
        f"without rows: pass the rows (values=X), or write {' or '.join(both)} for it",
        next((word for word in tokens.words if word.text == name), None),
    )


def _shared(node: Node) -> Condition | None:
    """Return a comparison of one feature, which names before it may share; else None."""
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
    """Return the parts joined: and before or, unless last; a comma is what the list ends with."""
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


def unclear(example: str, column: int) -> RuleError:
    """Return what is said where words that join conditions can be read in two ways."""
    return rule_error(
        f"it is not clear what belongs together: write brackets, as in {example}", column=column
    )


def _one_only(parts: list[JoinedPart]) -> Node:
    """Read `a xor b`: one of the two and not the other."""
    if len(parts) > 2:
        raise unclear("(a >= 1 xor b >= 2) and c >= 3", parts[-1].column)
    one, other = (part.node for part in parts)
    return Any((All((one, negated(other))), All((negated(one), other))))


def _and_or(parts: list[JoinedPart]) -> Node:
    joins = {part.join for part in parts[1:]}
    comma = "and"
    if "or" in joins and joins & {",", ", and"}:
        first_or = next(k for k, part in enumerate(parts[1:]) if part.join == "or")
        after = {part.join for part in parts[first_or + 1 :]}
        if ("," in joins and joins & {"and", ", and"}) or after & {",", ", and"}:
            raise unclear("(a >= 1 or b >= 2) and c >= 3", parts[first_or + 1].column)
        comma = "or"
    branches: list[list[Node]] = [[parts[0].node]]
    for part in parts[1:]:
        if (comma if part.join == "," else part.join) == "or":
            branches.append([])
        branches[-1].append(part.node)
    anded = [nodes[0] if len(nodes) == 1 else All(tuple(nodes)) for nodes in branches]
    return anded[0] if len(anded) == 1 else Any(tuple(anded))


# --------------------------------------------------------------------------------------------------
# `at least 2 of (a, b, c)` and its relatives: how many, of what, and the rules that this makes.


_FILLERS: Final = ("the", "these", "following", "conditions", "criteria", "features", "columns")
_NOUNS: Final = frozenset(
    spoken("genes gene features feature columns column markers marker probes probe sensors sensor "
           "values value members member items variables signals readings")
)  # fmt: skip
_NUMBERED: Final = re.compile(r"(.*?\D)(\d{1,6})")
_Reader = Callable[[TokenStream], Node]


def read_count(tokens: TokenStream, read_one: _Reader) -> Node | None:
    """Read `at least 2 of (a, b, c)` and its relatives, or None if no such words come next."""
    start = tokens.at
    found = _how_many(tokens)
    of = found is not None and (tokens.accept_words("of") or tokens.accept_words("out", "of"))
    if found is None or not (of or _block_at(tokens)):
        tokens.at = start
        return None
    relation, number, column = *found, tokens.words[start].column
    _skip_fillers(tokens)
    if (members := _members(tokens)) and not _ends(tokens):
        return _of_block(tokens, relation, number, members, column)
    tokens.accept("COLON")
    parts = _elements(tokens, read_one)
    given = tokens.relation()
    if given is not None and all(flag_name(part) for part in parts):
        parts = [_compared(part, tokens, given) if k == 0 else part for k, part in enumerate(parts)]
        first = parts[0]
        assert isinstance(first, Condition)
        parts = [first, *(with_relation(part, first) for part in parts[1:])]
        if relation in ("any", "all") and isinstance(parts[0], Condition):
            return _among(relation, parts)
    return _counting(relation, number, parts, column, tokens)


def _skip_fillers(tokens: TokenStream) -> None:
    """Step over `the following`, and over how many there are to choose from."""
    if is_number(tokens) and (tokens.peek(1).kind == "COLON" or tokens.is_name(1)):
        tokens.take()
    while tokens.peek().kind == "NAME" and tokens.peek().low in _FILLERS:
        tokens.take()


def _block_at(tokens: TokenStream) -> bool:
    """Return whether the name of a block comes next."""
    known, word = tokens.vocabulary, tokens.peek()
    return known is not None and tokens.is_name() and bool(known.members(plain_text(word.text)))


def _members(tokens: TokenStream) -> tuple[str, ...]:
    """Step over a block, or a range such as T1-T4, and give back its features."""
    known, word = tokens.vocabulary, tokens.peek()
    if known is None:
        return ()
    if word.kind == "OPEN" and tokens.is_name(1) and tokens.peek(2).kind == "CLOSE":
        if members := known.members(plain_text(tokens.peek(1).text)):
            tokens.at += 3
        return members
    if not tokens.is_name():
        return ()
    if members := known.members(plain_text(word.text)):
        after = tokens.peek(1)
        if after.kind in ("COMMA", "OPEN", "COLON", "CLOSE") or after.low in ("and", "or"):
            return ()
        tokens.take()
        while tokens.peek().kind == "NAME" and tokens.peek().low in _NOUNS:
            tokens.take()
        return members
    if tokens.peek(1).kind == "MINUS" and tokens.peek(2).kind == "NAME":
        first, last = (_NUMBERED.fullmatch(tokens.peek(k).text) for k in (0, 2))
        if first and last and first[1].lower() == last[1].lower():
            numbers = range(int(first[2]), int(last[2]) + 1)
            members = tuple(f"{first[1]}{k}" for k in numbers)
            if len(members) > 1 and all(map(known.is_name, members)):
                tokens.at += 3
                return members
    return ()


def _ends(tokens: TokenStream) -> bool:
    """Return whether nothing that compares comes next: a block of 0 and 1 is counted as it is."""
    return tokens.is_over or tokens.peek().kind in ("CLOSE", "AND", "OR", "COMMA")


def _of_block(
    tokens: TokenStream, relation: str, number: float, members: tuple[str, ...], column: int
) -> Node:
    """Read `at least 2 of K1 > 8`: the comparison is one of each feature."""
    first = members[0]
    node = read_comparison(tokens, (Term(1.0, (first,), column=column),))
    plain = isinstance(node, Condition) and node.form == "compare" and len(node.sides) == 2
    if relation in ("any", "all") and plain:
        parts: list[Node] = [renamed(node, first, name) for name in members]
        return _among(relation, parts)
    if relation == "none" and plain:
        assert isinstance(node, Condition)
        turned = negated(node)
        return _among("all", [renamed(turned, first, name) for name in members])
    exceeded = relation not in ("any", "all", "none") and len(members) > MOST_ALTERNATIVES
    if exceeded:
        raise too_many(column)
    return _counting(
        relation, number, [renamed(node, first, name) for name in members], column, tokens
    )


def renamed(node: Node, old: str, new: str) -> Node:
    """Return a node with one feature in the place of another."""
    if not isinstance(node, Condition):
        return type(node)(tuple(renamed(part, old, new) for part in node.parts))
    sides = tuple(
        tuple(replace(t, names=tuple(new if n == old else n for n in t.names)) for t in side)
        for side in node.sides
    )
    return replace(node, sides=sides, written=None)


def _compared(part: Node, tokens: TokenStream, given: tuple[str, int]) -> Condition:
    tokens.at += given[1]
    side = read_side(tokens)
    name = flag_name(part)
    assert name is not None
    return Condition(((Term(1.0, (name,)),), side), (given[0],))


def _among(word: str, parts: list[Node]) -> Node:
    """Read `any of (a, b) >= 2`: the largest of them is; blocks may be among the names."""
    conditions = [part for part in parts if isinstance(part, Condition)]
    names = tuple(condition.sides[0][0].names[0] for condition in conditions)
    relation = conditions[0].relations[0]
    if relation[0] not in "<>":
        return Any(tuple(parts)) if word == "any" else All(tuple(parts))
    function = "max" if (word == "any") == (relation[0] == ">") else "min"
    term = Term(1.0, names, function, conditions[0].sides[0][0].column)
    return Condition(((term,), conditions[0].sides[1]), (relation,))


def _how_many(tokens: TokenStream) -> tuple[str, float] | None:
    """Return the sign and the number of a count; any, all and none stand for themselves."""
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
        if tokens.matches(*words):
            tokens.at += len(words)
            if tokens.matches("of") or _block_at(tokens):
                return kind, 1.0
            tokens.at -= len(words)
    tokens.accept_words("any")
    relation = ">="
    if (found := tokens.relation()) is not None and found[0] != "!=":
        relation, n = found
        tokens.at += n
    elif tokens.accept_words("exactly") or tokens.accept_words("only"):
        relation = "="
    number = _count_number(tokens)
    if number is None:
        return None
    if tokens.accept_words("or", "more"):
        relation = ">="
    elif tokens.accept_words("or", "fewer") or tokens.accept_words("or", "less"):
        relation = "<="
    strict = {">": (">=", number + 1), "<": ("<=", number - 1)}
    return strict.get(relation, (relation, number))


def _count_number(tokens: TokenStream) -> float | None:
    word = tokens.peek()
    if word.kind == "NAME" and word.low in COUNT_WORDS:
        tokens.take()
        return float(COUNT_WORDS[word.low])
    minus = word.kind == "MINUS" and is_number(tokens, 1)
    if minus:
        tokens.take()
    if not is_number(tokens):
        return None
    return -read_number(tokens) if minus else read_number(tokens)


def _elements(tokens: TokenStream, read_one: _Reader) -> list[Node]:
    """Return what is counted: between brackets, or up to the end."""
    word = tokens.peek()
    if word.kind == "OPEN" and (end := closing_bracket(tokens)) is not None:
        inner = tokens.part(tokens.at + 1, end)
        tokens.at = end + 1
        return _listed(inner, read_one)
    return _listed(tokens, read_one)


def _listed(tokens: TokenStream, read_one: _Reader) -> list[Node]:
    """Return conditions or names with commas (or and, or) between them."""
    parts: list[JoinedPart] = []
    while True:
        parts.append(JoinedPart("", _element(tokens, read_one), tokens.peek().column))
        if tokens.is_over:
            break
        if tokens.accept("COMMA", "SEMICOLON"):
            if not accept_and(tokens):
                accept_or(tokens)
            continue
        at = tokens.at
        if not (accept_and(tokens) or accept_or(tokens)):
            tokens.at = at
            break
    return [part.node for part in completed(parts, tokens)]


def _element(tokens: TokenStream, read_one: _Reader) -> Node:
    """Return one thing that is counted; a range of columns is written with a colon."""
    if tokens.is_name() and tokens.peek(1).kind in ("COLON", "DOTS"):
        return named_flag(read_item(tokens), tokens.peek().column)
    return read_one(tokens)


def _counting(
    relation: str, number: float, parts: list[Node], column: int, tokens: TokenStream
) -> Node:
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
        raise tokens.error(
            "write a whole number of conditions, as in at least 2 of", tokens.words[0]
        )
    return _some_of(relation, int(number), parts, column, tokens)


def _some_of(
    relation: str, number: int, parts: list[Node], column: int, tokens: TokenStream
) -> Node:
    """Return at least, at most or exactly so many of the conditions."""
    if not 0 <= number <= len(parts) or (relation == ">=" and number == 0):
        raise tokens.error(
            f"there are {len(parts)} conditions to count, {number} of them cannot be asked for: "
            "write another number",
            tokens.words[0],
        )
    if relation == "<=":
        if number == len(parts):
            raise tokens.error("this is always true: write a smaller number", tokens.words[0])
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


# --------------------------------------------------------------------------------------------------
# Points scores: `2*(age >= 75) + (chf) + (diabetes) >= 3`, taken apart as `at least k of` is.
#
# A condition between brackets counts 1 where it holds and 0 elsewhere. With L the plain part of the
# sum and w_i the points of condition c_i, all above 0 (what counts against becomes its opposite),
#
#  L + sum of w_i [c_i] >= t   is   any set S of conditions: all of S, and L >= t - sum of w_i in S
#
# of which only the smallest sets are kept where L is nothing or has known ends.


MOST_POINTS: Final = 24  # conditions of one score
_JOINS: Final = frozenset(spoken("and or but unless except then while"))
_ARITHMETIC: Final = ("PLUS", "MINUS", "TIMES")
_HOLDS: Final = (*RELATION_KINDS, "AND", "OR", "NOT", "IN", "NOTIN")


@dataclass
class _Score:
    """A sum of plain terms and of points for conditions."""

    plain: list[Term] = field(default_factory=list)
    points: list[tuple[float, Node]] = field(default_factory=list)

    def less(self, other: _Score) -> _Score:
        """Return this score minus another."""
        return _Score(
            [*self.plain, *times(tuple(other.plain), -1.0)],
            [*self.points, *((-weight, node) for weight, node in other.points)],
        )


def read_score(tokens: TokenStream, read_premise: _Reader) -> Node | None:
    """Return a points score compared, or None if something else comes."""
    if not _is_score(tokens):
        return None
    start, column = tokens.at, tokens.peek().column
    left = _read_sum(tokens, read_premise)
    node: list[Node] = []
    if tokens.matches("between") or tokens.matches("from") or tokens.matches("within"):
        tokens.take()
        low = _read_sum(tokens, read_premise)
        if not (tokens.accept_words("and") or tokens.accept_words("to") or tokens.accept("MINUS")):
            raise tokens.error("write the range as: a between 1 and 3")
        high = _read_sum(tokens, read_premise)
        node = [_compared_score(tokens, left.less(low), ">=", column),
                _compared_score(tokens, left.less(high), "<=", column)]  # fmt: skip
        return All(tuple(node))
    while (found := tokens.relation()) is not None:
        tokens.at += found[1]
        right = _read_sum(tokens, read_premise)
        node.append(_compared_score(tokens, left.less(right), found[0], column))
        left = right
    if not node:
        said = tokens.text(start)
        raise tokens.error(f"the points are not compared: write {said} >= 2")
    return node[0] if len(node) == 1 else All(tuple(node))


def _is_score(tokens: TokenStream) -> bool:
    """Return whether a sum with conditions between brackets comes next."""
    at, arithmetic, bracket = tokens.at, False, False
    while at < len(tokens.words):
        word = tokens.words[at]
        if word.low in _JOINS or word.kind in ("AND", "OR", "COMMA", "ARROW", "SEMICOLON"):
            break
        if word.kind == "OPEN" and word.text != "{":
            end = closing_bracket(tokens, at)
            if end is None:
                return False
            before = tokens.words[at - 1] if at > tokens.at else None
            function = before is not None and before.kind == "NAME" and before.end == word.start
            if not function and _holds_relation(tokens, at + 1, end):
                bracket = True
                joined = before is not None and before.end == word.start
                kinds = (*_ARITHMETIC, "NUMBER") if joined else _ARITHMETIC
                arithmetic |= before is not None and before.kind in kinds
                after = tokens.words[end + 1 : end + 2]
                arithmetic |= bool(after) and after[0].kind in _ARITHMETIC
            at = end
        at += 1
    return bracket and arithmetic


def _holds_relation(tokens: TokenStream, first: int, last: int) -> bool:
    inner = tokens.part(first, last)
    while not inner.is_over:
        if inner.peek().kind in _HOLDS or inner.phrase() is not None or inner.matches("between"):
            return True
        inner.take()
    return False


def _read_sum(tokens: TokenStream, read_premise: _Reader) -> _Score:
    """Return products with + and - between them."""
    score = _Score()
    sign = 1.0
    while tokens.peek().kind in ("PLUS", "MINUS"):
        sign *= -1.0 if tokens.take().kind == "MINUS" else 1.0
    while True:
        _read_part(tokens, read_premise, sign, score)
        word = tokens.accept("PLUS", "MINUS")
        if word is None:
            return score
        sign = -1.0 if word.kind == "MINUS" else 1.0


def _read_part(tokens: TokenStream, read_premise: _Reader, sign: float, score: _Score) -> None:
    """One part of the sum: points for a condition, or a plain product."""
    start, weight = tokens.at, 1.0
    if is_number(tokens):
        weight = read_number(tokens)
        if tokens.accept("TIMES") is None and not tokens.accept_words("times"):
            tokens.accept_words("x")
    if tokens.peek().kind == "OPEN" and (node := _condition(tokens, read_premise)) is not None:
        if tokens.accept("TIMES") is not None:
            if not is_number(tokens):
                raise tokens.error("write the points as a number, as in 2*(age >= 75)")
            weight *= read_number(tokens)
        score.points.append((sign * weight, node))
        return
    tokens.at = start
    score.plain += times(read_product(tokens), sign)


def _condition(tokens: TokenStream, read_premise: _Reader) -> Node | None:
    """Return the condition between the brackets that come next; None for a sum or a number."""
    end = closing_bracket(tokens)
    if end is None:
        return None
    inner = tokens.part(tokens.at + 1, end)
    if not _holds_relation(tokens, tokens.at + 1, end) and not _is_category(inner):
        return None
    node = read_premise(inner)
    tokens.at = end + 1
    return node


def _is_category(inner: TokenStream) -> bool:
    """Return whether a name stands alone that is a category's value and no column of numbers."""
    known, words = inner.vocabulary, inner.words
    if known is None or not words or any(w.kind not in ("NAME", "QUOTED") for w in words):
        return False
    name = plain_text(words[0].text) if len(words) == 1 else " ".join(w.text for w in words)
    return known.is_flag(name) and not known.is_zero_one_name(name)


def _compared_score(tokens: TokenStream, score: _Score, relation: str, column: int) -> Node:
    """Return the score, all on the left, compared with 0."""
    if len(score.points) > MOST_POINTS:
        raise too_many(column)
    if relation in ("<=", "<"):
        score, relation = _Score().less(score), relation.replace("<", ">")
    target = -(constant(tuple(t for t in score.plain if t.is_number)) or 0.0)
    plain = tuple(term for term in score.plain if term.names)
    if relation in ("=", "!="):
        node = _exactly(plain, score.points, target, column)
        found = [node] if node is not None else []
        if relation == "!=" and node is not None:
            return negated(node)
    else:
        weights: list[float] = []
        nodes: list[Node] = []
        for weight, node in sorted(score.points, key=lambda point: -abs(point[0])):
            target += abs(weight) if weight < 0 else 0.0
            weights.append(abs(weight))
            nodes.append(negated(node) if weight < 0 else node)
        strict = relation == ">"
        sets = _Sets(weights, target, strict, *_score_ends(tokens, plain))
        found = []
        for chosen, need in sets.smallest():
            parts = [nodes[k] for k in chosen]
            if need is not None:
                parts.append(Condition((plain, (Term(need),)), (relation,)))
            if not parts:
                raise tokens.error("this is always true: write a larger number", tokens.words[0])
            found.append(parts[0] if len(parts) == 1 else All(tuple(parts)))
            if len(found) > MOST_ALTERNATIVES:
                raise too_many(column)
    if not found:
        raise tokens.error("so many points cannot be reached: write a smaller number",
                           tokens.words[0])  # fmt: skip
    return found[0] if len(found) == 1 else Any(tuple(found))


def _score_ends(tokens: TokenStream, plain: Side) -> tuple[float, float]:
    """Between which values the plain part lies: known where all its features hold 0 and 1."""
    known = tokens.vocabulary
    if not plain:
        return 0.0, 0.0
    alone = [t.names[0] if not t.function and isinstance(t.names[0], str) else "" for t in plain]
    if known is None or not all(name and known.is_zero_one_name(name) for name in alone):
        return -math.inf, math.inf
    sizes = [term.coefficient for term in plain]
    return sum(min(each, 0.0) for each in sizes), sum(max(each, 0.0) for each in sizes)


@dataclass(frozen=True)
class _Sets:
    """Which sets of points, with what is left for the plain part, reach a number."""

    weights: list[float]  # from the largest on
    target: float
    strict: bool
    low: float
    high: float

    def smallest(
        self, at: int = 0, chosen: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], float | None]]:
        """Yield each set of positions, and the least value of the plain part; None where any will
        do.
        """
        need = float(f"{self.target - sum(self.weights[k] for k in chosen):.12g}")
        if self._reached(self.low, need):
            yield chosen, None
            return
        if at == len(self.weights):
            if self._reached(self.high, need) and self.low < self.high:
                yield chosen, need
            return
        if not self._reached(self.high, float(f"{need - sum(self.weights[at:]):.12g}")):
            return
        yield from self.smallest(at + 1, (*chosen, at))
        yield from self.smallest(at + 1, chosen)

    def _reached(self, value: float, need: float) -> bool:
        return value > need if self.strict else value >= need


def _exactly(
    plain: Side, points: list[tuple[float, Node]], target: float, column: int
) -> Node | None:
    """Return the score equal to a number: each way in which some conditions hold and the others do
    not.
    """
    if 2 ** len(points) > MOST_ALTERNATIVES:
        raise too_many(column)
    found: list[Node] = []
    for code in range(2 ** len(points)):
        holds = [bool(code >> k & 1) for k in range(len(points))]
        total = sum(weight for (weight, _), on in zip(points, holds, strict=True) if on)
        need = float(f"{target - total:.12g}")
        if not plain and need != 0:
            continue
        parts: list[Node] = [node if on else negated(node)
                             for (_, node), on in zip(points, holds, strict=True)]  # fmt: skip
        if plain:
            parts.append(Condition((plain, (Term(need),)), ("=",)))
        found.append(parts[0] if len(parts) == 1 else All(tuple(parts)))
    if not found:
        return None
    return found[0] if len(found) == 1 else Any(tuple(found))


# --------------------------------------------------------------------------------------------------
# Conditions joined by and, or, not, unless, at least k of: taken apart into rules.
#
# A rule holds conditions that must all be met. Everything else is distributed: `a or b` makes two
# rules, `at least 2 of (a, b, c)` makes three. What would make too many is refused.


_LEADS: Final = frozenset(
    spoken("has have having with on taking receiving history presence evidence known documented")
)
_STARTS: Final = frozenset(
    spoken(
        "not no without neither either both any all each every none exactly only at more less "
        "fewer greater over above below under is"
    )
) | frozenset(COUNT_WORDS)


def read_premise(tokens: TokenStream, *, ends: frozenset[str] = frozenset()) -> Node:
    """Read conditions up to the end of the words, or to a word of one of these kinds."""
    parts = [JoinedPart("", _unit(tokens), tokens.peek().column)]
    while not tokens.is_over and tokens.peek().kind not in ends:
        column = tokens.peek().column
        parts.append(JoinedPart(read_join(tokens), _unit(tokens), column))
    return joined(completed(parts, tokens))


def _unit(tokens: TokenStream) -> Node:
    """Return a condition, a negation, a bracket with conditions in it, or a count."""
    tokens.deeper()
    if tokens.peek().low in _LEADS:
        _skip_lead(tokens)
    node = read_score(tokens, read_premise)
    if node is None:
        node = _special(tokens) if _is_special(tokens) else read_atom(tokens)
    tokens.depth -= 1
    return node


def _skip_lead(tokens: TokenStream) -> None:
    """Step over `has`, `on` or `history of` before a name that is a condition by itself."""
    known = tokens.vocabulary
    if known is None or known.is_name(tokens.peek().text):
        return
    ahead = 1 + (tokens.peek(1).low in ("a", "an", "the", "of"))
    for n in range(4, 0, -1):
        words = [tokens.peek(ahead + k) for k in range(n)]
        if all(word.kind in ("NAME", "QUOTED") for word in words):
            name = " ".join(plain_text(word.text) for word in words)
            if known.is_flag(name) and tokens.phrase(ahead + n) is None:
                tokens.at += ahead
                return


def _unless_bracket(tokens: TokenStream, end: int) -> Node | None:
    """Read `(unless a >= 2)`: what must not hold."""
    inner = tokens.part(tokens.at + 1, end)
    if not (inner.accept_words("unless") or inner.accept_words("except")):
        return None
    inner.accept_words("if")
    tokens.at = end + 1
    return negated(read_premise(inner))


def _is_special(tokens: TokenStream) -> bool:
    """Return whether the next word may begin something else than a condition."""
    word = tokens.peek()
    return word.low in _STARTS or word.kind in ("NOT", "OPEN", "NUMBER", *RELATION_KINDS)


def _special(tokens: TokenStream) -> Node:
    if tokens.matches("no") and (counted := read_count(tokens, _unit)) is not None:
        return counted
    if tokens.matches("no") or tokens.matches("without"):
        if (absent := _absent(tokens)) is not None:
            return absent
    elif tokens.accept("NOT") or tokens.accept_words("not"):
        return negated(_unit(tokens))
    if tokens.matches("neither"):
        return _neither(tokens)
    for pair in ("either", "both"):
        if tokens.matches(pair) and not tokens.matches(pair, "of"):
            tokens.take()
            return _pair(tokens, pair)
    if (counted := read_count(tokens, _unit)) is not None:
        return counted
    return _bracket(tokens) or read_atom(tokens)


def _bracket(tokens: TokenStream) -> Node | None:
    """Return the conditions between brackets; None if something else comes."""
    end = closing_bracket(tokens) if tokens.peek().kind == "OPEN" else None
    if end is not None and (node := _unless_bracket(tokens, end)) is not None:
        return node
    if end is None or not holds_conditions(tokens, end):
        return None
    node = read_premise(tokens.part(tokens.at + 1, end))
    tokens.at = end + 1
    return node


def _absent(tokens: TokenStream) -> Node | None:
    """`no hypertension`: a name that stands alone, turned round; None if something else comes."""
    if not tokens.is_name(1) or tokens.phrase() is not None:
        return None
    word = tokens.take()
    node = _unit(tokens)
    if flag_name(node) is None:
        raise tokens.error(f"write 'not' in place of '{word.text}' before a comparison", word)
    return negated(node)


def _pair(tokens: TokenStream, word: str) -> Node:
    """Read `either a or b`, `both a and b`: the two belong together."""
    parts = [JoinedPart("", _unit(tokens), tokens.peek().column)]
    accept = accept_or if word == "either" else accept_and
    while (comma := tokens.peek().kind == "COMMA") or not tokens.is_over:
        at = tokens.at
        if comma:
            tokens.take()
        if not accept(tokens) and not comma:
            tokens.at = at
            break
        parts.append(JoinedPart("", _unit(tokens), tokens.peek().column))
        if word == "both":
            break
    nodes = tuple(part.node for part in completed(parts, tokens))
    if len(nodes) == 1:
        return nodes[0]
    return Any(nodes) if word == "either" else All(nodes)


def _neither(tokens: TokenStream) -> Node:
    tokens.take()
    parts = [JoinedPart("", _unit(tokens), tokens.peek().column)]
    while tokens.accept_words("nor"):
        parts.append(JoinedPart("", _unit(tokens), tokens.peek().column))
    return All(tuple(negated(part.node) for part in completed(parts, tokens)))
