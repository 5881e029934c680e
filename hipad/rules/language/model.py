"""What a rule is: sides in conditions, conditions in a rule, rules in a rule set.

These objects hold the rule as the user wrote it (`mean(K1)`, `between`, a chain), never its
matrices, so that printing gives back the same rule: `parse_rules(str(rules)) == rules`.

Comment lines above a rule are its `preface`, text after `#` on its line is its `note`, and a rule
that is switched off is written with a leading `off`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, overload

from hipad.rules.language.spelling import (
    Place,
    checked_name,
    checked_number,
    one_line,
    patients_text,
    quote_label,
    quote_name,
    rule_error,
)
from hipad.rules.language.statements import Statement
from hipad.rules.language.terms import Side, Term, name_text, side_text

COUNTS = {">=": "at least", "<=": "at most", "=": "exactly"}
RELATIONS = (">=", "<=", ">", "<", "=", "!=")


class Written(NamedTuple):
    """How a condition stood in the text, and what was made of it without knowing the data."""

    text: str
    column: int
    sides: tuple[Side, ...]


def _folded(side: Side) -> Side:
    """A side of plain numbers as one number, so that `18 - 25` is not printed like a range."""
    if len(side) < 2 or any(term.names or term.unit for term in side):
        return tuple(side)
    total = sum(term.coefficient for term in side)
    return (Term(total, converted=_converted(side, total)),)


def _converted(side: Side, total: float) -> str:
    """How numbers that are added up were written: 5 ft 11 in = 180.34 cm."""
    parts = [term.converted.rpartition(" = ") for term in side if term.converted]
    if not parts:
        return ""
    if len(parts) < len(side):
        return f"{total:.6g} ({', '.join(term.converted for term in side if term.converted)})"
    unit = parts[0][2].partition(" ")[2]
    return f"{' '.join(part[0] for part in parts)} = {total:.6g} {unit}"


@dataclass(frozen=True)
class Condition:
    """Two or three sides and the relations between them; `form` is how the user wrote it.

    A range is held as a chain (`low <= expression <= high`), a count as a sum, so whoever reads
    only `sides` and `relations` understands every form.
    """

    sides: tuple[Side, ...]
    relations: tuple[str, ...]
    form: str = "compare"
    written: Written | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", tuple(map(_folded, self.sides)))
        if not 2 <= len(self.sides) == len(self.relations) + 1 <= 3 or not all(self.sides):
            raise rule_error("a condition compares two sides, or three in a chain")
        if not set(self.relations).issubset(RELATIONS):
            raise rule_error(f"a condition compares with one of {', '.join(RELATIONS)}")
        if not any(term.names for side in self.sides for term in side):
            raise rule_error(f"'{self}' names no feature: compare a feature with a number")

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:  # kept, since each of a thousand rows may ask for it
        if self.form == "flag":
            return ("" if self.sides[1][0].coefficient else "not ") + side_text(self.sides[0])
        if self.form == "member":
            word = "in" if self.relations[0] == "=" else "not in"
            return f"{side_text(self.sides[0])} {word} {side_text(self.sides[1])}"
        if self.form == "between":
            low, middle, high = map(side_text, self.sides)
            return f"{middle} between {low} and {high}"
        if self.form == "count":
            (counted,), (number,) = self.sides
            names = ", ".join(map(name_text, counted.names))
            return f"{COUNTS[self.relations[0]]} {number} of ({names})"
        text = side_text(self.sides[0])
        for relation, side in zip(self.relations, self.sides[1:], strict=True):
            text += f" {relation} {side_text(side)}"
        return text


@dataclass(frozen=True)
class Rule:
    """Conditions that must all be met, and the outcome that then follows.

    >>> print(Rule.simple("sweet", {"Glucose": 1}, 126, "diabetic", worth=20))
    sweet: Glucose >= 126 => diabetic worth 20 patients
    """

    conditions: tuple[Condition, ...]
    outcome: str
    name: str = ""
    worth: float | None = None
    note: str = ""
    enabled: bool = True
    preface: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)
    n_lines: int = field(default=1, compare=False, repr=False)  # of the text it was read from

    def __post_init__(self) -> None:
        if not self.conditions:
            raise rule_error("a rule needs at least one condition", self.place)
        checked_name(self.outcome)
        if self.name:
            checked_name(self.name)
        if self.worth is not None and checked_number(self.worth) < 0:
            raise rule_error("a rule is worth 0 patients or more", self.place)
        object.__setattr__(self, "note", one_line(self.note))
        object.__setattr__(self, "preface", tuple(map(one_line, self.preface)))

    @classmethod
    def simple(
        cls,
        name: str,
        weights: Mapping[str, float],
        threshold: float,
        outcome: object,
        worth: float | None = None,
        at_least: bool = True,
    ) -> Rule:
        """The rule `sum of weight * feature >= threshold => outcome` (or `<=`)."""
        terms = tuple(Term(weight, (feature,)) for feature, weight in weights.items())
        relation = ">=" if at_least else "<="
        condition = Condition((terms, (Term(threshold),)), (relation,))
        return cls((condition,), str(outcome), name, worth)

    @property
    def premise(self) -> str:
        """What must be met, as text."""
        return " and ".join(map(str, self.conditions))

    @property
    def text(self) -> str:
        """The rule on one line, without its name, note and preface."""
        worth = "" if self.worth is None else f" worth {patients_text(self.worth)}"
        return f"{self.premise} => {quote_label(self.outcome)}{worth}"

    def __str__(self) -> str:
        head = "" if self.enabled else "off "
        head += f"{quote_name(self.name)}: " if self.name else ""
        note = f"  # {self.note}" if self.note else ""
        preface = [f"# {line}".rstrip() for line in self.preface]
        return "\n".join([*preface, head + self.text + note])


@dataclass(frozen=True)
class RuleSet(Sequence[Rule]):
    """An immutable sequence of rules whose names differ; `ending` holds comments after the last.

    `statements` are about single features; they stand among the rules and are none.

    >>> rules = RuleSet((Rule.simple("a", {"x": 1}, 2, 1), Rule.simple("", {"y": 1}, 3, 0)))
    >>> rules.labels
    ('a', 'rule 2')
    """

    rules: tuple[Rule, ...] = ()
    ending: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    from_text: bool = field(default=False, compare=False, repr=False)  # places are its lines

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "ending", tuple(map(one_line, self.ending)))
        object.__setattr__(self, "statements", tuple(self.statements))
        seen: set[str] = set()
        for rule in self.rules:
            if rule.name and rule.name in seen:
                advice = "give each rule a name of its own"
                raise rule_error(f"two rules are called '{rule.name}': {advice}", rule.place)
            seen.add(rule.name)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> RuleSet: ...
    def __getitem__(self, index: int | slice) -> Rule | RuleSet:
        if isinstance(index, slice):
            return RuleSet(self.rules[index], from_text=self.from_text)
        return self.rules[index]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @property
    def labels(self) -> tuple[str, ...]:
        """What to call each rule: its name, or else its number; no two are the same."""
        taken = {rule.name for rule in self.rules}
        numbered = zip(self.rules, self.numbers, strict=True)
        return tuple([rule.name or _free(f"rule {number}", taken) for rule, number in numbered])

    @property
    def numbers(self) -> tuple[str, ...]:
        """The line of each rule: 3, or 3.1 and 3.2 for rules of one line.

        Rules that come from no text are counted.
        """
        lines = [rule.place[0] if self.from_text and rule.place else 0 for rule in self.rules]
        if not all(lines):
            lines = list(range(1, len(self.rules) + 1))
        shared, given = Counter(lines), Counter[int]()
        found = []
        for line in lines:
            given[line] += 1
            found.append(f"{line}.{given[line]}" if shared[line] > 1 else f"{line}")
        return tuple(found)

    def without(self, position: int) -> RuleSet:
        """The same rules with the one at `position` switched off."""
        rules = list(self.rules)
        rules[position] = replace(rules[position], enabled=False)
        return replace(self, rules=tuple(rules))

    def __str__(self) -> str:
        texts = [str(rule) for rule in self.rules]
        for statement in reversed(self.statements):
            texts.insert(min(statement.after, len(self.rules)), str(statement))
        return "\n".join([*texts, *(f"# {line}".rstrip() for line in self.ending)])


def _free(label: str, taken: set[str]) -> str:
    """The label, with a mark if a rule is called so."""
    while label in taken:
        label += "*"
    return label
