"""From the parser to conditions: what each part of a sentence becomes, and what it may not say.

The callbacks run while the parser reads, without a tree, so that a long or deeply nested text
cannot exhaust the stack. They know columns only; `parsing` knows the line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lark import Token, Transformer

from hipad.errors import RuleError
from hipad.rules.language.arithmetic import constant, divisor, scaled, sign_column, times
from hipad.rules.language.hints import unknown_function
from hipad.rules.language.linear import check_linear
from hipad.rules.language.model import COUNTS, Condition
from hipad.rules.language.spelling import checked_number, read_quoted, rule_error
from hipad.rules.language.terms import FUNCTIONS, FeatureSpan, Name, Side, Term

_SIGNS = {"≤": "<=", "⩽": "<=", "=<": "<=", "≥": ">=", "⩾": ">=", "==": "="}


@dataclass(frozen=True)
class LineDraft:
    """What one line says, before `or` is taken apart."""

    conjunctions: tuple[tuple[Condition, ...], ...]
    outcome: str
    column: int
    name: str
    worth: float | None
    enabled: bool


class _Title(NamedTuple):
    name: str


class _Label(NamedTuple):
    outcome: str
    column: int


class _Worth(NamedTuple):
    patients: float


class Builder(Transformer):
    """Callbacks named after the grammar's rules; a sum, product or factor is a Side.

    Each takes the parts of its rule as lark hands them over, in one list.
    """

    def rules(self, drafts: list[LineDraft]) -> list[LineDraft]:
        return drafts

    def rule(self, parts: list[Any]) -> LineDraft:
        found = {type(part): part for part in parts}
        label: _Label = found[_Label]
        return LineDraft(
            conjunctions=found[tuple],
            outcome=label.outcome,
            column=label.column,
            name=found[_Title].name if _Title in found else "",
            worth=found[_Worth].patients if _Worth in found else None,
            enabled=bool not in found,
        )

    def off(self, _: list[Token]) -> bool:
        return False

    def title(self, names: list[Token]) -> _Title:
        return _Title(str(names[0]))

    def worth(self, parts: list[Any]) -> _Worth:
        word, number = parts
        if number < 0:
            message = (
                f"a rule cannot be worth {number:g} patients: "
                "write 0 or more, or exchange the outcome"
            )
            raise rule_error(message, column=sign_column(word))
        return _Worth(number)

    def quoted_label(self, parts: list[Token]) -> _Label:
        (token,) = parts
        text = read_quoted(token)
        if not text.strip():
            raise rule_error("the outcome is empty: write a class label", column=sign_column(token))
        return _Label(text, sign_column(token))

    def bare_label(self, tokens: list[Token]) -> _Label:
        return _Label("".join(tokens).replace("−", "-"), sign_column(tokens[0]))

    def premise(self, parts: list[Any]) -> tuple:
        return tuple(parts[::2])  # between them stand the words that join them

    conjunction = premise

    def quoted(self, tokens: list[Token]) -> Token:
        (token,) = tokens
        text = read_quoted(token)
        if not text.strip():
            raise rule_error(
                "the name is empty: write it between backticks", column=sign_column(token)
            )
        return token.update(value=text)

    def comparison(self, parts: list[Any]) -> Condition:
        sides, signs = tuple(parts[::2]), parts[1::2]
        relations = tuple([_SIGNS.get(sign, str(sign)) for sign in signs])
        if len(relations) > 1:
            _check_chain(relations, signs[-1])
        return self._checked(sides, relations, "compare", signs[0])

    def between(self, parts: list[Any]) -> Condition:
        middle, word, low, _, high = parts
        sides = ((Term(low),), middle, (Term(high),))
        return self._checked(sides, ("<=", "<="), "between", word)

    def count(self, parts: list[Any]) -> Condition:
        word, number, _, names = parts
        spoken = " ".join(word.lower().split())
        relation = next(sign for sign, words in COUNTS.items() if words == spoken)
        counted = (Term(1.0, names, "sum", sign_column(word)),)
        return self._checked((counted, (Term(number),)), (relation,), "count", word)

    def _checked(
        self, sides: tuple[Side, ...], relations: tuple[str, ...], form: str, sign: Token
    ) -> Condition:
        column = sign_column(sign)
        try:
            condition = Condition(sides, relations, form)
        except RuleError as error:
            raise rule_error(str(error), column=column) from None
        check_linear(condition)
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

    def add(self, parts: list[Any]) -> Side:
        left, *signed = parts
        return left + self.signed(signed)

    def signed(self, parts: list[Any]) -> Side:
        sign, side = parts
        return side if sign == "+" else times(side, -1.0)

    def product(self, parts: list[Any]) -> Side:
        """Factors, of which at most one names features, with the signs between them."""
        side = parts[0]
        steps: list[tuple[Token, float]] = []
        for sign, factor in zip(parts[1::2], parts[2::2], strict=True):
            number = constant(factor)
            if sign.type == "DIVIDED":
                steps.append((sign, divisor(number, sign)))
            elif number is not None:
                steps.append((sign, number))
            else:
                steps = [(sign, self._number_before(side, steps, sign))]
                side = factor
        return scaled(side, steps)

    def _number_before(self, side: Side, steps: list[tuple[Token, float]], sign: Token) -> float:
        """The number before a sign after which a feature follows, such as 2*3 in 2*3*a."""
        if constant(side) is None:
            message = (
                "a product of features is not linear: multiply a feature by a number, or add the "
                "product to the data as a feature of its own"
            )
            raise rule_error(message, column=sign_column(sign))
        value = constant(scaled(side, steps))
        assert value is not None
        return value

    def plain_number(self, tokens: list[Token]) -> Side:
        return (Term(self.number(tokens)),)

    def number(self, tokens: list[Token]) -> float:
        try:
            return checked_number(float("".join(tokens).replace("−", "-")))
        except RuleError as error:
            raise rule_error(str(error), column=sign_column(tokens[0])) from None

    def feature(self, names: list[Token]) -> Side:
        (name,) = names
        return (Term(1.0, (str(name),), column=sign_column(name)),)

    def call(self, parts: list[Any]) -> Side:
        word, names = parts
        function = word.lower()
        if function not in FUNCTIONS:
            raise unknown_function(str(word), sign_column(word))
        return (Term(1.0, names, function, sign_column(word)),)

    def items(self, items: list[Token | FeatureSpan]) -> tuple[Name, ...]:
        return tuple([str(item) if isinstance(item, Token) else item for item in items])

    def span(self, names: list[Token]) -> FeatureSpan:
        first, last = names
        return FeatureSpan(str(first), str(last))


def _check_chain(relations: tuple[str, ...], sign: Token) -> None:
    first, second = relations
    if first[0] != second[0] or first == "=":
        message = "the signs of a chain must point the same way: write 3 <= x <= 5"
        raise rule_error(message, column=sign_column(sign))
