"""Conditions as written to conditions that are linear: everything that needs the data is settled.

Categories become columns, p90(x) becomes its value on the training rows, a ratio over a feature
that is above 0 is multiplied out, and `any(K1) >= 2` becomes one alternative for each feature.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from hipad.errors import RuleError
from hipad.rules.compiling.lexicon import Lexicon
from hipad.rules.language.conditions.atoms import read_atom
from hipad.rules.language.logic import MOST_ALTERNATIVES, All, Any, Node
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number, quote_name, rule_error
from hipad.rules.language.terms import RATIO, FeatureSpan, Name, Side, Term, is_learnt, side_text
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import words_of
from hipad.wording import listed, number

_EXTREMES: Final = ("min", "max")
_HAZARD: Final = re.compile(r"[\w)\]][-+*/=.:%()]|\w\s+\w")
_MIRRORED: Final = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "=", "!=": "!="}


class RowsNeeded(RuleError):
    """A rule learns a number from training rows, and none are known."""


def _needs_rows(message: str, column: int | None) -> RowsNeeded:
    return RowsNeeded(message, column=column)


def _wrong_range(message: str, column: int | None) -> RuleError:
    return rule_error(message, column=column)


class Settler:
    """Settles the conditions of one rule; `remarks` say which numbers were found."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.index = lexicon.index
        self.values = lexicon.values
        self.remarks: list[str] = []

    def settle(self, condition: Condition) -> Node:
        """The condition in plain sums of features, or several joined by and and or."""
        again = self._read_again(condition)
        if not isinstance(again, Condition):
            kind = type(again)
            return kind(
                tuple(self.settle(part) for part in again.parts if isinstance(part, Condition))
            )
        condition = again
        if condition.form == "flag":
            return self._flag(condition)
        if condition.form == "member":
            return self._member(condition)
        if condition.form == "count":
            return self._count(condition)
        if (category := self._category(condition)) is not None:
            return category
        settled = self._sides(condition)
        if "!=" in condition.relations:
            raise self._differs(condition)
        return self._extremes(settled)

    def _read_again(self, condition: Condition) -> Node:
        """The condition with names that only the data tell, such as IL-6."""
        written = condition.written
        if written is None or written.sides != condition.sides:
            return condition
        if not _HAZARD.search(written.text):
            return condition
        words = words_of(written.text, self.lexicon)
        if not any(w.kind == "QUOTED" and written.text[w.start] != "`" for w in words):
            return condition
        cursor = Cursor(written.text, words, self.lexicon)
        try:
            node = read_atom(cursor)
        except RuleError:
            return condition
        return node if cursor.is_over else condition

    def _place(self, condition: Condition) -> int | None:
        return next((t.column for side in condition.sides for t in side if t.column), None)

    # names

    def _name(self, name: str, column: int | None) -> str:
        """The feature's own name; RuleError if there is none, or if a block is called so."""
        j = self.lexicon.feature(name)
        if j is not None:
            return self.index.name(self.index.find(self.index.name(j), column))
        if (block := self.lexicon.block(name)) is not None:
            quoted = quote_name(block)
            raise rule_error(
                f"{quoted} is a block of features: write mean({quoted}), sum({quoted}), "
                f"min({quoted}) or max({quoted})",
                column=column,
                suggestion=f"mean({quoted})",
            )
        if name.lower() in ("nan", "inf", "infinity"):
            raise rule_error(f"'{name}' is no number to compare with: write another", column=column)
        raise self.index.unknown(name, column, self.lexicon.blocks)

    def _member_name(self, name: Name, column: int | None) -> Name:
        """A name inside a function: a block, a feature or a range of features."""
        if isinstance(name, FeatureSpan):
            return FeatureSpan(self._name(name.first, column), self._name(name.last, column))
        block = self.lexicon.block(name)
        return block if block is not None else self._name(name, column)

    def _is_feature(self, names: tuple[Name, ...]) -> bool:
        """Whether a group is one feature and no block."""
        (first,) = names if len(names) == 1 else (None,)
        return isinstance(first, str) and self.lexicon.block(first) is None

    # flags, categories, counts

    def _flag(self, condition: Condition) -> Node:
        term, wanted = condition.sides[0][0], condition.sides[1][0].coefficient
        name = term.names[0]
        if not isinstance(name, str) or self.lexicon.block(name) is not None:
            if isinstance(name, str):
                raise self.lexicon.not_a_flag(name, term.column)
            return Condition(((replace(term, function="min"),), (Term(1.0),)), (">=",))
        j = self.lexicon.flag_column(name)
        if j is None or not self.lexicon.is_zero_one(j):
            raise self.lexicon.not_a_flag(name, term.column)
        return self._column_is(j, wanted, term.column)

    def _column_is(self, j: int, wanted: float, column: int | None) -> Condition:
        """A column of 0 and 1 that must be 1, or 0."""
        term = Term(1.0, (self.index.name(j),), column=column)
        return Condition(((term,), (Term(wanted),)), (">=" if wanted else "<=",))

    def _category(self, condition: Condition) -> Node | None:
        """`sex = male` and `stage >= II`, or None if the condition is about numbers."""
        if len(condition.sides) != 2 or condition.form != "compare":
            return None
        group, level = _lone_name(condition.sides[0]), _lone_level(condition.sides[1])
        relation = condition.relations[0]
        if group is None or level is None:
            return None
        column = condition.sides[0][0].column
        j = self.lexicon.feature(group)
        if j is not None:
            return self._yes_or_no(condition, j, level)
        if self.lexicon.block(group) is not None or self.lexicon.group(group) is None:
            return None
        found = self.lexicon.level_column(group, level)
        if relation in ("=", "!="):
            if found is None:
                raise self._no_level(group, level, column)
            return self._column_is(found, float(relation == "="), column)
        return self._ranked(group, level, relation, column)

    def _yes_or_no(self, condition: Condition, j: int, level: str) -> Node | None:
        """`hypertension = yes` on a column of 0 and 1."""
        relation = condition.relations[0]
        right = condition.sides[1][0]
        if right.is_number:
            if relation == "!=" and self.lexicon.is_zero_one(j) and right.coefficient in (0.0, 1.0):
                return self._column_is(j, 1.0 - right.coefficient, right.column)
            return None
        wanted = self.lexicon.yes_or_no(level)
        if wanted is None or self.lexicon.feature(level) is not None:
            return None
        if relation not in ("=", "!=") or not self.lexicon.is_zero_one(j):
            return None
        return self._column_is(j, wanted if relation == "=" else 1.0 - wanted, right.column)

    def _ranked(self, group: str, level: str, relation: str, column: int | None) -> Condition:
        order = self.lexicon.ordered(group)
        levels = self.lexicon.group(group) or {}
        found = self.lexicon.level_column(group, level)
        if found is None:
            raise self._no_level(group, level, column)
        if order is None:
            shown = listed([quote_name(each) for each in list(levels)[:2]])
            raise rule_error(
                f"the order of the values of {group} is not known: write which are meant, as in "
                f"{group} in {{{shown.replace(' and ', ', ')}}}",
                column=column,
            )
        at = [levels[each] for each in order].index(found)
        chosen = {">=": order[at:], ">": order[at + 1 :], "<=": order[: at + 1], "<": order[:at]}
        columns = [levels[each] for each in chosen[relation]]
        if not columns:
            raise rule_error(
                f"no value of {group} is {relation} {level}: write another", column=column
            )
        return self._one_of(columns, True, column)

    def _one_of(self, columns: list[int], wanted: bool, column: int | None) -> Condition:
        """Some columns of 0 and 1, of which one is 1 (or none)."""
        if len(columns) == 1:
            return self._column_is(columns[0], float(wanted), column)
        term = Term(1.0, tuple(self.index.name(j) for j in columns), "sum", column)
        sign = ">=" if wanted else "<="
        return Condition(((term,), (Term(float(wanted)),)), (sign,), "count")

    def _no_level(self, group: str, level: str, column: int | None) -> RuleError:
        levels = self.lexicon.group(group) or {}
        shown = listed([quote_name(each) for each in levels], "or", limit=6)
        return rule_error(
            f"{group} has no value {quote_name(level)}: write {group} = {shown}", column=column
        )

    def _member(self, condition: Condition) -> Node:
        group, items = str(condition.sides[0][0].names[0]), condition.sides[1][0].names
        column = condition.sides[0][0].column
        texts = [str(item) for item in items]
        if self.lexicon.feature(group) is None and self.lexicon.group(group) is not None:
            columns = []
            for level in texts:
                found = self.lexicon.level_column(group, level)
                if found is None:
                    raise self._no_level(group, level, column)
                columns.append(found)
            return self._one_of(sorted(set(columns)), condition.relations[0] == "=", column)
        name = quote_name(self._name(group, column))
        raise rule_error(
            f"a set of numbers is not linear: write {self._instead(name, texts)}",
            column=column,
            suggestion=self._instead(name, texts),
        )

    def _instead(self, name: str, texts: list[str]) -> str:
        """What says the same as a set of numbers."""
        try:
            numbers = sorted(map(float, texts))
        except ValueError:
            return f"{name} = {texts[0]}"
        neighbours = numbers == [numbers[0] + k for k in range(len(numbers))]
        if neighbours and len(numbers) > 1 and numbers[0] % 1 == 0:
            low, high = map(format_number, (numbers[0], numbers[-1]))
            return f"{name} between {low} and {high}"
        return " or ".join(f"{name} = {format_number(each)}" for each in numbers)

    def _count(self, condition: Condition) -> Node:
        counted = condition.sides[0][0]
        names: list[Name] = []
        for name in counted.names:
            if isinstance(name, str) and self.lexicon.block(name) is None:
                j = self.lexicon.flag_column(name)
                if j is None:
                    raise self.lexicon.not_a_flag(name, counted.column)
                self._check_zero_one(j, counted.column)
                names.append(self.index.name(j))
            else:
                names.append(self._member_name(name, counted.column))
                self._check_group(names[-1], counted.column)
        if tuple(names) == counted.names:
            return condition
        term = replace(counted, names=tuple(dict.fromkeys(names)))
        return Condition(((term,), condition.sides[1]), condition.relations, "count")

    def _check_group(self, name: Name, column: int | None) -> None:
        if self.values is None:
            return
        if isinstance(name, FeatureSpan):
            first, last = (self.index.find(end) for end in (name.first, name.last))
            columns = range(first, last + 1)
        else:
            columns = self.lexicon.blocks[name]  # type: ignore[assignment]
        for j in columns:
            self._check_zero_one(int(j), column)

    def _check_zero_one(self, j: int, column: int | None) -> None:
        if self.values is not None and not self.values.is_flag(j):
            name = quote_name(self.index.name(j))
            raise rule_error(
                f"{name} does not hold 0 and 1 only, so it cannot be counted: compare it, as in "
                f"at least 2 of ({name} >= 1, ...)",
                column=column,
            )

    def _differs(self, condition: Condition) -> RuleError:
        left, right = map(side_text, condition.sides[:2])
        remedy = f"{left} < {right} or {left} > {right}"
        return rule_error(
            f"'{condition}' has no one side: write {remedy}",
            column=self._place(condition),
            suggestion=remedy,
        )

    # numbers that the data give

    def _sides(self, condition: Condition) -> Condition:
        """The condition with its own names, percentages, learnt numbers and ratios worked out."""
        sides = tuple(self._side(side, condition) for side in condition.sides)
        if any(term.function == RATIO for side in sides for term in side):
            sides = self._multiplied_out(sides, condition)
        if sides == condition.sides:
            return condition
        if not any(term.names for side in sides for term in side):
            raise self._nothing_left(condition)
        return Condition(sides, condition.relations, condition.form)

    def _nothing_left(self, condition: Condition) -> RuleError:
        learnt = next(t for side in condition.sides for t in side if t.function)
        name = name_of(learnt)
        return rule_error(
            f"{learnt.body} is one number for all patients, the figure of the column: write "
            f"{name} where the patient's own value is meant",
            column=learnt.column,
            suggestion=str(condition).replace(learnt.body, name),
        )

    def _side(self, side: Side, condition: Condition) -> Side:
        found: list[Term] = []
        for term in side:
            found += self._term(term, condition)
        return (
            side
            if len(found) == len(side) and all(a is b for a, b in zip(found, side, strict=True))
            else tuple(found)
        )

    def _term(self, term: Term, condition: Condition) -> list[Term]:
        if not term.names:
            return [self._plain_number(term, condition)]
        if term.function in ("", RATIO):
            names: tuple[Name, ...] = tuple(self._name(str(n), term.column) for n in term.names)
        elif is_learnt(term.function):
            return self._learnt(term)
        else:
            names = tuple(self._member_name(n, term.column) for n in term.names)
            if term.function == "mean" and self._is_feature(names):
                return self._learnt(term)
            if term.function in _EXTREMES and self._is_feature(names):
                self._check_other_mentions(names[0], term, condition)
        return [term if names == term.names else replace(term, names=names)]

    def _check_other_mentions(self, name: Name, term: Term, condition: Condition) -> None:
        for side in condition.sides:
            for other in side:
                if other is not term and name in other.names:
                    share = "100" if term.function == "max" else "0"
                    raise rule_error(
                        f"{term.body} is the patient's own {name}: write p{share}({name}) for the "
                        f"{term.function} over the training rows",
                        column=term.column,
                    )

    def _plain_number(self, term: Term, condition: Condition) -> Term:
        """A number without its unit; a percentage as the data have it."""
        if term.unit != "%":
            return Term(term.coefficient, column=term.column) if term.unit else term
        feature = next((n for side in condition.sides if (n := _lone_name(side)) is not None), None)
        j = None if feature is None else self.lexicon.feature(feature)
        value, share = term.coefficient, term.coefficient / 100
        if any(each.function == RATIO for side in condition.sides for each in side):
            return Term(float(f"{share:.15g}"), column=term.column)
        if j is None or self.values is None:
            raise _needs_rows(
                f"whether {number(value)} % is {number(share)} or {number(value)} in these data is "
                "not known: write the number without '%'",
                column=term.column,
            )
        low, high = self.values.lowest(j), self.values.highest(j)
        fits = [low <= each <= high for each in (share, value)]
        if high <= 1.0 and low >= 0:
            fits = [True, False]
        if fits[0] == fits[1]:
            raise rule_error(
                f"{quote_name(self.index.name(j))} runs from {number(low)} to {number(high)}, so "
                f"{number(value)} % can be {number(share)} or {number(value)}: write the number "
                "without '%'",
                column=term.column,
            )
        meant = share if fits[0] else value
        self.remarks.append(f"{number(value)} % is read as {format_number(meant)}")
        return Term(float(f"{meant:.15g}"), column=term.column)

    def _learnt(self, term: Term) -> list[Term]:
        """p90(x) as its value; z(x) as (x - mean) / sd."""
        name = str(term.names[0])
        block = self.lexicon.block(name)
        if block is not None:
            raise rule_error(
                f"{term.body} of a block is not linear: write mean({quote_name(block)}), or "
                f"{term.function} of one feature for its {term.function} over the training rows",
                column=term.column,
            )
        own = self._name(name, term.column)
        j = self.index.find(own)
        body = f"{term.function}({quote_name(own)})"
        if self.values is None:
            raise _needs_rows(
                f"{body} is learnt from the training rows, which are not known here: give the "
                "rows, or write the number",
                column=term.column,
            )
        if term.function == "z":
            return self._z_score(term, own, j)
        value = self.values.figure(term.function, j)
        if not math.isfinite(value):
            raise rule_error(f"{own} has no values to learn from: leave it out", column=term.column)
        self.remarks.append(f"{body} is {number(value)} on the training rows")
        return [Term(term.coefficient * value, column=term.column)]

    def _z_score(self, term: Term, name: str, j: int) -> list[Term]:
        assert self.values is not None
        mean, sd = self.values.figure("mean", j), self.values.figure("sd", j)
        if not sd > 0:
            raise rule_error(f"{name} is the same in all rows: it has no z", column=term.column)
        self.remarks.append(
            f"z({quote_name(name)}) counts from {number(mean)} in steps of {number(sd)}, the mean "
            "and sd of the training rows"
        )
        factor = term.coefficient / sd
        return [Term(factor, (name,), column=term.column), Term(-factor * mean)]

    def _multiplied_out(self, sides: tuple[Side, ...], condition: Condition) -> tuple[Side, ...]:
        """Ratios over one feature that is above 0, multiplied by it."""
        terms = [term for side in sides for term in side]
        below = {term.names[1] for term in terms if term.function == RATIO}
        if len(below) > 1 or any(t.names and t.function != RATIO for t in terms):
            raise rule_error(
                f"'{condition}' is not linear: write a ratio against a number only, as in a/b >= 2",
                column=self._place(condition),
            )
        (name,) = below
        if not isinstance(name, str):
            raise rule_error("name one feature below the line", column=self._place(condition))
        self._check_above_zero(name, condition, sides)

        def multiplied(side: Side) -> Side:
            return tuple(
                Term(
                    t.coefficient, t.names[:1] if t.function == RATIO else (name,), column=t.column
                )
                for t in side
                if t.coefficient or len(side) == 1
            )

        return tuple(map(multiplied, sides))

    def _check_above_zero(self, name: str, condition: Condition, sides: tuple[Side, ...]) -> None:
        low = None if self.values is None else self.values.lowest(self.index.find(name))
        quoted = quote_name(name)
        if low is None or not low > 0:
            why = "is not known" if low is None else f"goes down to {number(low)}"
            failure = _needs_rows if low is None else _wrong_range
            raise failure(
                f"'{condition}' can be multiplied out only where {quoted} is above 0, and its "
                f"range {why}: write {self._products(sides, quoted)} if it is, or add the ratio to "
                "the data as a feature of its own",
                column=self._place(condition),
            )
        self.remarks.append(
            f"{quoted} is above 0 in the training rows, so the ratio is multiplied out"
        )

    def _products(self, sides: tuple[Side, ...], name: str) -> str:
        texts = []
        for side in sides:
            upper = side_text([t if t.function != RATIO else Term(t.coefficient, t.names[:1])
                               for t in side])  # fmt: skip
            texts.append(f"{upper}*{name}" if not any(t.names for t in side) else upper)
        return f"{texts[0]} >= {texts[1]}"

    # min and max

    def _extremes(self, condition: Condition) -> Node:
        """A min that must be small, or a max that must be large, as one alternative per feature."""
        terms = [term for side in condition.sides for term in side if term.function in _EXTREMES]
        if not terms:
            return condition
        if len(condition.sides) == 3 or condition.relations == ("=",):
            pairs = self._pairs(condition)
            if any(self._wrong(pair) for pair in pairs):
                return All(tuple(self._extremes(pair) for pair in pairs))
            return condition
        found = self._wrong(condition)
        if found is None:
            return condition
        at, k, term = found
        names = self._members(term)
        if len(names) > MOST_ALTERNATIVES:
            shown, other = term.body[4:-1], "min" if term.function == "max" else "max"
            raise rule_error(
                f"'{condition}' is met as soon as one feature is, and {len(names):,} features "
                f"would make as many rules: write mean({shown}), or {other}({shown}) if all of "
                "them must be",
                column=term.column,
            )
        return Any(tuple(self._extremes(self._with(condition, at, k, name)) for name in names))

    def _with(self, condition: Condition, at: int, k: int, name: str) -> Condition:
        sides = list(condition.sides)
        side = list(sides[at])
        side[k] = Term(side[k].coefficient, (name,), column=side[k].column)
        sides[at] = tuple(side)
        return Condition(tuple(sides), condition.relations)

    def _pairs(self, condition: Condition) -> list[Condition]:
        if len(condition.sides) == 3:
            low, middle, high = condition.sides
            first, second = condition.relations
            return [
                Condition((middle, low), (_MIRRORED[first],)),
                Condition((middle, high), (second,)),
            ]
        return [Condition(condition.sides, (sign,)) for sign in (">=", "<=")]

    def _wrong(self, condition: Condition) -> tuple[int, int, Term] | None:
        """The first extreme that asks for some feature only: its side, its place, itself."""
        large_on_left = condition.relations[0][0] == ">"
        for at, side in enumerate(condition.sides):
            for k, term in enumerate(side):
                if term.function not in _EXTREMES or not term.coefficient:
                    continue
                side_is_large = large_on_left == (at == 0)
                must_be_large = side_is_large == (term.coefficient > 0)
                if must_be_large == (term.function == "max"):
                    return at, k, term
        return None

    def _members(self, term: Term) -> list[str]:
        """The features of a group, each once."""
        found: dict[str, None] = {}
        for name in term.names:
            if isinstance(name, FeatureSpan):
                first, last = (self.index.find(end) for end in (name.first, name.last))
                found |= dict.fromkeys(self.index.name(j) for j in range(first, last + 1))
            elif name in self.lexicon.blocks:
                found |= dict.fromkeys(self.index.name(int(j)) for j in self.lexicon.blocks[name])
            else:
                found[name] = None
        return list(found)


def name_of(term: Term) -> str:
    """The first name of a term, as a rule writes it."""
    first = term.names[0]
    return quote_name(first) if isinstance(first, str) else str(first)


def _lone_name(side: Side) -> str | None:
    """The feature that a side is, alone and as it is; else None."""
    if len(side) != 1 or side[0].function or side[0].coefficient != 1.0 or not side[0].names:
        return None
    name = side[0].names[0]
    return name if isinstance(name, str) else None


def _lone_level(side: Side) -> str | None:
    """What a side may be as a level of a category: a word or a whole number."""
    if len(side) == 1 and side[0].is_number:
        return format_number(side[0].coefficient)
    return _lone_name(side)
