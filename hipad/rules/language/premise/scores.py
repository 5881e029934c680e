"""Points scores: `2*(age >= 75) + (chf) + (diabetes) >= 3`, taken apart as `at least k of` is.

A condition between brackets counts 1 where it holds and 0 elsewhere. With L the plain part of the
sum and w_i the points of condition c_i, all above 0 (what counts against becomes its opposite),

    L + sum of w_i [c_i] >= t   is   any set S of conditions: all of S, and L >= t - sum of w_i in S

of which only the smallest sets are kept where L is nothing or has known ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from hipad.rules.language.logic import MOST_ALTERNATIVES, All, Any, Node, negated, too_many
from hipad.rules.language.model import Condition
from hipad.rules.language.premise.bracketed import closing_bracket
from hipad.rules.language.sides.arithmetic import constant, times
from hipad.rules.language.sides.expressions import read_product
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.spelling import spoken
from hipad.rules.language.terms import Side, Term
from hipad.rules.language.words.cursor import RELATION_KINDS, Cursor
from hipad.rules.language.words.quantities import is_number, read_number

MOST_POINTS: Final = 24  # conditions of one score
_JOINS: Final = frozenset(spoken("and or but unless except then while"))
_ARITHMETIC: Final = ("PLUS", "MINUS", "TIMES")
_HOLDS: Final = (*RELATION_KINDS, "AND", "OR", "NOT", "IN", "NOTIN")
_Reader = Callable[[Cursor], Node]


@dataclass
class _Score:
    """A sum of plain terms and of points for conditions."""

    plain: list[Term] = field(default_factory=list)
    points: list[tuple[float, Node]] = field(default_factory=list)

    def less(self, other: _Score) -> _Score:
        """This score minus another."""
        return _Score(
            [*self.plain, *times(tuple(other.plain), -1.0)],
            [*self.points, *((-weight, node) for weight, node in other.points)],
        )


def read_score(cursor: Cursor, read_premise: _Reader) -> Node | None:
    """A points score compared, or None if something else comes."""
    if not _is_score(cursor):
        return None
    start, column = cursor.at, cursor.peek().column
    left = _read_sum(cursor, read_premise)
    node: list[Node] = []
    if cursor.says("between") or cursor.says("from") or cursor.says("within"):
        cursor.take()
        low = _read_sum(cursor, read_premise)
        if not (cursor.accept_words("and") or cursor.accept_words("to") or cursor.accept("MINUS")):
            raise cursor.error("write the range as: a between 1 and 3")
        high = _read_sum(cursor, read_premise)
        node = [_compared(cursor, left.less(low), ">=", column),
                _compared(cursor, left.less(high), "<=", column)]  # fmt: skip
        return All(tuple(node))
    while (found := cursor.relation()) is not None:
        cursor.at += found[1]
        right = _read_sum(cursor, read_premise)
        node.append(_compared(cursor, left.less(right), found[0], column))
        left = right
    if not node:
        said = cursor.text(start)
        raise cursor.error(f"the points are not compared: write {said} >= 2")
    return node[0] if len(node) == 1 else All(tuple(node))


def _is_score(cursor: Cursor) -> bool:
    """Whether a sum with conditions between brackets comes next."""
    at, arithmetic, bracket = cursor.at, False, False
    while at < len(cursor.words):
        word = cursor.words[at]
        if word.low in _JOINS or word.kind in ("AND", "OR", "COMMA", "ARROW", "SEMICOLON"):
            break
        if word.kind == "OPEN" and word.text != "{":
            end = closing_bracket(cursor, at)
            if end is None:
                return False
            before = cursor.words[at - 1] if at > cursor.at else None
            function = before is not None and before.kind == "NAME" and before.end == word.start
            if not function and _holds_relation(cursor, at + 1, end):
                bracket = True
                joined = before is not None and before.end == word.start
                kinds = (*_ARITHMETIC, "NUMBER") if joined else _ARITHMETIC
                arithmetic |= before is not None and before.kind in kinds
                after = cursor.words[end + 1 : end + 2]
                arithmetic |= bool(after) and after[0].kind in _ARITHMETIC
            at = end
        at += 1
    return bracket and arithmetic


def _holds_relation(cursor: Cursor, first: int, last: int) -> bool:
    inner = cursor.part(first, last)
    while not inner.is_over:
        if inner.peek().kind in _HOLDS or inner.phrase() is not None or inner.says("between"):
            return True
        inner.take()
    return False


def _read_sum(cursor: Cursor, read_premise: _Reader) -> _Score:
    """Products with + and - between them."""
    score = _Score()
    sign = 1.0
    while cursor.peek().kind in ("PLUS", "MINUS"):
        sign *= -1.0 if cursor.take().kind == "MINUS" else 1.0
    while True:
        _read_part(cursor, read_premise, sign, score)
        word = cursor.accept("PLUS", "MINUS")
        if word is None:
            return score
        sign = -1.0 if word.kind == "MINUS" else 1.0


def _read_part(cursor: Cursor, read_premise: _Reader, sign: float, score: _Score) -> None:
    """One part of the sum: points for a condition, or a plain product."""
    start, weight = cursor.at, 1.0
    if is_number(cursor):
        weight = read_number(cursor)
        if cursor.accept("TIMES") is None and not cursor.accept_words("times"):
            cursor.accept_words("x")
    if cursor.peek().kind == "OPEN" and (node := _condition(cursor, read_premise)) is not None:
        if cursor.accept("TIMES") is not None:
            if not is_number(cursor):
                raise cursor.error("write the points as a number, as in 2*(age >= 75)")
            weight *= read_number(cursor)
        score.points.append((sign * weight, node))
        return
    cursor.at = start
    score.plain += times(read_product(cursor), sign)


def _condition(cursor: Cursor, read_premise: _Reader) -> Node | None:
    """The condition between the brackets that come next; None for a sum or a number."""
    end = closing_bracket(cursor)
    if end is None:
        return None
    inner = cursor.part(cursor.at + 1, end)
    if not _holds_relation(cursor, cursor.at + 1, end) and not _is_category(inner):
        return None
    node = read_premise(inner)
    cursor.at = end + 1
    return node


def _is_category(inner: Cursor) -> bool:
    """Whether a name stands alone that is a category's value and no column of numbers."""
    known, words = inner.vocabulary, inner.words
    if known is None or not words or any(w.kind not in ("NAME", "QUOTED") for w in words):
        return False
    name = plain_text(words[0].text) if len(words) == 1 else " ".join(w.text for w in words)
    return known.is_flag(name) and not known.is_zero_one_name(name)


def _compared(cursor: Cursor, score: _Score, relation: str, column: int) -> Node:
    """The score, all on the left, compared with 0."""
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
        sets = _Sets(weights, target, strict, *_ends(cursor, plain))
        found = []
        for chosen, need in sets.smallest():
            parts = [nodes[k] for k in chosen]
            if need is not None:
                parts.append(Condition((plain, (Term(need),)), (relation,)))
            if not parts:
                raise cursor.error("this is always true: write a larger number", cursor.words[0])
            found.append(parts[0] if len(parts) == 1 else All(tuple(parts)))
            if len(found) > MOST_ALTERNATIVES:
                raise too_many(column)
    if not found:
        raise cursor.error("so many points cannot be reached: write a smaller number",
                           cursor.words[0])  # fmt: skip
    return found[0] if len(found) == 1 else Any(tuple(found))


def _ends(cursor: Cursor, plain: Side) -> tuple[float, float]:
    """Between which values the plain part lies: known where all its features hold 0 and 1."""
    known = cursor.vocabulary
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
        """Each set of positions, and the least value of the plain part; None where any will do."""
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
    """The score equal to a number: each way in which some conditions hold and the others do not."""
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
