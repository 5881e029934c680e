"""From the parser to conditions: arithmetic on terms, and what a sentence may not say.

The callbacks run while the parser reads, without a tree, so that a long or deeply nested text
cannot exhaust the stack. They know columns only; `parsing` knows the line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lark import Token, Transformer, v_args

from hipad.errors import RuleError
from hipad.rules.hints import unknown_function
from hipad.rules.linear import inequalities
from hipad.rules.model import COUNTS, FUNCTIONS, Condition, Name, Side, Span, Term
from hipad.rules.words import checked_number, read_quoted, rule_error

_SIGNS = {"≤": "<=", "⩽": "<=", "=<": "<=", "≥": ">=", "⩾": ">=", "==": "="}


@dataclass(frozen=True)
class Draft:
    """What one line says, before `or` is taken apart."""

    conjunctions: tuple[tuple[Condition, ...], ...]
    outcome: str
    column: int
    name: str
    worth: float | None
    enabled: bool


@dataclass(frozen=True)
class _Word:
    text: str
    column: int


@dataclass(frozen=True)
class _Label(_Word):
    """The outcome."""


@dataclass(frozen=True)
class _Worth:
    patients: float


@v_args(inline=True)
class Builder(Transformer):
    """Callbacks named after the grammar's rules; a sum, product or factor is a Side."""

    def rule(self, *parts: Any) -> Draft:
        found = {type(part): part for part in parts}
        label: _Label = found[_Label]
        return Draft(
            conjunctions=found[tuple],
            outcome=label.text,
            column=label.column,
            name=found[_Word].text if _Word in found else "",
            worth=found[_Worth].patients if _Worth in found else None,
            enabled=bool not in found,
        )

    def off(self, _: Token) -> bool:
        return False

    def worth(self, word: Token, number: float) -> _Worth:
        if number < 0:
            message = (
                f"a rule cannot be worth {number:g} patients: "
                "write 0 or more, or exchange the outcome"
            )
            raise rule_error(message, column=_column(word))
        return _Worth(number)

    def quoted_label(self, token: Token) -> _Label:
        text = read_quoted(token)
        if not text.strip():
            raise rule_error("the outcome is empty: write a class label", column=_column(token))
        return _Label(text, _column(token))

    def bare_label(self, *tokens: Token) -> _Label:
        return _Label("".join(tokens).replace("−", "-"), _column(tokens[0]))

    def premise(self, *parts: Any) -> tuple:
        return _without_tokens(parts)

    conjunction = premise

    def name(self, token: Token) -> _Word:
        text = read_quoted(token) if token.type == "QUOTED" else str(token)
        if not text.strip():
            raise rule_error("the name is empty: write it between backticks", column=_column(token))
        return _Word(text, _column(token))

    def comparison(self, *parts: Any) -> Condition:
        signs = [part for part in parts if isinstance(part, Token)]
        relations = tuple(_SIGNS.get(sign, str(sign)) for sign in signs)
        if len({relation[0] for relation in relations}) > 1 or relations.count("=") > 1:
            message = "the signs of a chain must point the same way: write 3 <= x <= 5"
            raise rule_error(message, column=_column(signs[-1]))
        return self._checked(_without_tokens(parts), relations, "compare", signs[0])

    def between(self, middle: Side, word: Token, low: float, _: Token, high: float) -> Condition:
        sides = ((Term(low),), middle, (Term(high),))
        return self._checked(sides, ("<=", "<="), "between", word)

    def count(self, word: Token, number: float, _: Token, names: tuple[Name, ...]) -> Condition:
        spoken = " ".join(word.lower().split())
        relation = next(sign for sign, words in COUNTS.items() if words == spoken)
        counted = (Term(1.0, names, "sum", _column(word)),)
        return self._checked((counted, (Term(number),)), (relation,), "count", word)

    def _checked(
        self, sides: tuple[Side, ...], relations: tuple[str, ...], form: str, sign: Token
    ) -> Condition:
        column = _column(sign)
        try:
            condition = Condition(sides, relations, form)
        except RuleError as error:
            raise rule_error(str(error), column=column) from None
        inequalities(condition)
        if len(sides) == 3:
            self._check_range(condition, column)
        return condition

    def _check_range(self, condition: Condition, column: int) -> None:
        first, last = constant(condition.sides[0]), constant(condition.sides[2])
        if first is None or last is None:
            return
        if (first > last) if condition.relations[0][0] == "<" else (first < last):
            low, high = sorted((first, last))
            middle = replace(condition, sides=((Term(low),), condition.sides[1], (Term(high),)))
            remedy = replace(middle, relations=("<=", "<="), form="between")
            message = f"'{condition}' can never be met, its limits are exchanged: write {remedy}"
            raise rule_error(message, column=column, suggestion=str(remedy))

    def add(self, left: Side, sign: Token, right: Side) -> Side:
        return left + self.signed(sign, right)

    def signed(self, sign: Token, side: Side) -> Side:
        return side if sign == "+" else times(side, -1.0)

    def multiply(self, left: Side, sign: Token, right: Side) -> Side:
        factor = constant(left)
        side = right
        if factor is None:
            factor, side = constant(right), left
        if factor is None:
            message = (
                "a product of features is not linear: multiply a feature by a number, or add the "
                "product to the data as a feature of its own"
            )
            raise rule_error(message, column=_column(sign))
        return self._scaled(side, factor, sign)

    def divide(self, left: Side, sign: Token, right: Side) -> Side:
        divisor = constant(right)
        if divisor is None:
            message = (
                "a quotient of features is not linear: compare a >= 2*b in place of a/b >= 2, or "
                "add the quotient to the data as a feature of its own"
            )
            raise rule_error(message, column=_column(sign), suggestion="a >= 2*b")
        if divisor == 0:
            message = "a division by zero has no value: divide by another number"
            raise rule_error(message, column=_column(sign))
        try:
            return tuple(Term(t.coefficient / divisor, t.names, t.function, t.column) for t in left)
        except RuleError as error:
            raise rule_error(str(error), column=_column(sign)) from None

    def _scaled(self, side: Side, factor: float, sign: Token) -> Side:
        try:
            return times(side, factor)
        except RuleError as error:
            raise rule_error(str(error), column=_column(sign)) from None

    def plain_number(self, token: Token) -> Side:
        return (Term(self.number(token)),)

    def number(self, *tokens: Token) -> float:
        try:
            return checked_number(float("".join(tokens).replace("−", "-")))
        except RuleError as error:
            raise rule_error(str(error), column=_column(tokens[0])) from None

    def feature(self, word: _Word) -> Side:
        return (Term(1.0, (word.text,), column=word.column),)

    def call(self, word: _Word, names: tuple[Name, ...]) -> Side:
        function = word.text.lower()
        if function not in FUNCTIONS:
            raise unknown_function(word.text, word.column)
        return (Term(1.0, names, function, word.column),)

    def items(self, *items: _Word | Span) -> tuple[Name, ...]:
        return tuple(item if isinstance(item, Span) else item.text for item in items)

    def span(self, first: _Word, last: _Word) -> Span:
        return Span(first.text, last.text)


def constant(side: Side) -> float | None:
    """The value of a side that names no feature, else None."""
    return sum(term.coefficient for term in side) if all(t.is_number for t in side) else None


def times(side: Side, factor: float) -> Side:
    """The side with every coefficient multiplied."""
    return tuple(Term(t.coefficient * factor, t.names, t.function, t.column) for t in side)


def _column(token: Token) -> int:
    return token.column or 1


def _without_tokens(parts: tuple) -> tuple:
    return tuple(part for part in parts if not isinstance(part, Token))
