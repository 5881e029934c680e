"""A rule as the fields of a form, and back: what is written is read by the rule language itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules import Condition, Rule, RuleSet, Term
from hipad.rules.functions import RULE_FUNCTIONS
from hipad.rules.lexer import format_number, quote_label, quote_name
from hipad.rules.parser import parse_line
from ui.dataset import Dataset

BETWEEN: Final = "between"
AS_WRITTEN: Final = "as written"
KINDS: Final = {
    "": "the value of",
    **{
        name: function.phrase
        for name, function in RULE_FUNCTIONS.items()
        if not function.statistic or function.takes_group
    },
    AS_WRITTEN: "as written:",
}
RELATIONS: Final = {
    ">=": "is at least",
    "<=": "is at most",
    ">": "is above",
    "<": "is below",
    "=": "equals",
    BETWEEN: "is between",
}


@dataclass(frozen=True)
class ConditionFields:
    """One condition in fields; an `as written` one stands in `of` whole."""

    kind: str = ""
    of: str = ""
    relation: str = ">="
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_condition(cls, condition: Condition) -> ConditionFields:
        """The fields of a condition; one that the fields cannot hold is kept as it is written."""
        whole = cls(AS_WRITTEN, str(condition))
        if condition.form == "count":
            return whole
        if len(condition.sides) == 3 and set(condition.relations) == {"<="}:
            (side, low, high), relation = (condition.sides[i] for i in (1, 0, 2)), BETWEEN
        elif len(condition.sides) == 2:
            (side, low), high = condition.sides, condition.sides[1]
            relation = condition.relations[0]
        else:
            return whole
        alone = len(side) == 1 and side[0].coefficient == 1 and not side[0].is_number
        if (
            not alone
            or side[0].function not in KINDS
            or not _is_number(low)
            or not _is_number(high)
        ):
            return whole
        upper = high[0].coefficient if relation == BETWEEN else None
        return cls(side[0].function, _names(side[0]), relation, low[0].coefficient, upper)

    def text(self, data: Dataset) -> str:
        """The condition in the rule language."""
        if self.kind == AS_WRITTEN:
            return self.of
        names = ", ".join(quoted(name, data) for name in self.of.split(","))
        left = f"{self.kind}({names})" if self.kind else names
        if self.low is None or (self.relation == BETWEEN and self.high is None):
            raise RuleError(f"expected a number to compare {left} with, got none: fill it in")
        right = format_number(self.low)
        if self.relation == BETWEEN:
            assert self.high is not None
            right += f" and {format_number(self.high)}"
        return f"{left} {self.relation} {right}"


def _is_number(side: tuple[Term, ...]) -> bool:
    return len(side) == 1 and side[0].is_number


def _names(term: Term) -> str:
    return ", ".join(quote_name(n) if isinstance(n, str) else str(n) for n in term.names)


def quoted(name: str, data: Dataset) -> str:
    """A name of the data as a rule writes it, whether or not the user put it in backticks."""
    name = name.strip()
    known = name in data.blocks or data.index.position(name) is not None
    return quote_name(name) if known else name


def drafted(drafts: list[ConditionFields], like: Rule, data: Dataset) -> Rule:
    """The rule that the fields make; `like` has its outcome, name, worth, note and switch."""
    texts = [draft.text(data) for draft in drafts if draft.of.strip()]
    if not texts:
        raise RuleError("expected at least one condition, got none: name a feature or a block")
    line = f"{' and '.join(texts)} => {quote_label(like.outcome)}"
    found = parse_line(line)
    if len(found) > 1:
        raise RuleError("expected one rule, got several joined by 'or': write them as text")
    return replace(like, conditions=found[0].conditions)


def checked_name(name: str, rules: RuleSet, position: int | None) -> str:
    """The name of a rule, if no other has it."""
    name = " ".join(name.split())
    others = [rule.name for at, rule in enumerate(rules) if at != position]
    if name and name in others:
        raise RuleError(f"expected a name of its own, got {name!r} again: choose another")
    return name
