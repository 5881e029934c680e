"""Conditions as written to linear ones: units, categories, counts, extremes, ratios."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import (
    MIRRORED,
    MOST_ALTERNATIVES,
    RATIO,
    All,
    Any,
    Condition,
    FeatureSpan,
    Name,
    Node,
    Side,
    Term,
    name_text,
    side_text,
)
from hipad.rules.comparisons import read_atom
from hipad.rules.context import (
    Context,
    RowsNeeded,
    is_feature,
    lone_name,
    member_name,
    members_of,
    own_name,
    place_of,
)
from hipad.rules.functions import EXTREMES, RuleFunction, find_function, is_learnt
from hipad.rules.lexer import TokenStream, added_up, format_number, quote_name, rule_error, words_of
from hipad.rules.names import folded
from hipad.rules.units import (
    ColumnUnit,
    Substance,
    Unit,
    convert,
    fitted,
    kind_name,
    others_of_kind,
    short,
    substance_of,
    unit_in_name,
    unit_of,
    unit_text,
)
from hipad.utils import listed, number

# --------------------------------------------------------------------------------------------------
# Written numbers in the units of the column that they are compared with.
#
# Where the column's name holds a unit of the same kind, the number is converted, and the rule shows
# both. Where it does not, the number is taken as it stands, unless it lies beyond the column's
# values: then nobody knows what is meant, and it is asked.


UNSURE: Final = "it is not known in which unit"  # begins a remark where nobody can be asked
MANY_PERCENT: Final = 5.0  # median of a column from 0 to 100 that counts in per cent
_MOST: Final = 200  # features of a block whose names are looked at
_TEMPERATURE: Final = (("K", 1),)


@dataclass(frozen=True)
class _Measured:
    """What a condition compares: its columns, their unit, and whether it is a difference."""

    names: tuple[str, ...]
    own: ColumnUnit | None
    substance: Substance | None
    weight: float  # of the columns all together: 0 for a difference
    column: int | None  # of the one feature that stands alone, else None

    @property
    def shown(self) -> str:
        return quote_name(self.names[0]) if self.names else "the feature"


def plain_number(context: Context, term: Term, condition: Condition) -> Term:
    """Return a number in the units of the column; RuleError where these are not known."""
    if not term.unit:
        _check_scale(context, term, condition)
        return term
    measured = _measured(context, condition)
    if term.unit == "%":
        return _percentage(context, term, condition, measured)
    name = measured.names[0] if measured.names else ""
    written = unit_of(term.unit)
    written = None if written is None else fitted(written, name)
    if written is None or not measured.names:
        return Term(term.coefficient, column=term.column)  # something counted: 3 nodes
    if measured.own is not None:
        value = _converted(term, written, measured)
        if value is not None:
            _check_name(context, term, condition, measured, value)
            return _with_both(context, term, value, measured.own.unit)
        if measured.own.sure:
            raise _other_kind(term, condition, written, measured)
    return _as_it_stands(context, term, condition, written, measured)


def _measured(context: Context, condition: Condition) -> _Measured:
    """Return the columns of a condition and the one unit that they have."""
    found: dict[str, None] = {}
    weight, is_ratio = 0.0, False
    for at, side in enumerate(condition.sides):
        for term in side:
            if not term.names:
                continue
            members = list(_members(context, term))
            found |= dict.fromkeys(members)
            function = find_function(term.function)
            is_ratio |= term.function == RATIO or (function is not None and bool(function.scaling))
            each = 1.0 if function is None else function.shift(len(members))
            is_left = at == (1 if len(condition.sides) == 3 else 0)
            weight += term.coefficient * each * (1 if is_left else -1)
    names = tuple(found)
    if is_ratio or not names:
        return _Measured((), None, None, weight, None)
    alone = next((n for side in condition.sides if (n := lone_name(side)) is not None), None)
    column = context.name_table.feature(alone) if alone is not None and len(names) == 1 else None
    return _Measured(names, _common(names, condition), substance_of(names[0]), weight, column)


def _members(context: Context, term: Term) -> Iterator[str]:
    """Yield the own names of a term's features; nothing for names that the data do not have."""
    names: list[Name] = []
    for name in term.names:
        if isinstance(name, str) and (block := context.name_table.block(name)) is not None:
            names.append(block)
        elif isinstance(name, str):
            j = context.name_table.feature(name)
            if j is not None:
                yield context.index.name(j)
        elif all(context.index.position(end) is not None for end in (name.first, name.last)):
            names.append(name)
    if names:
        yield from members_of(context, replace(term, names=tuple(names), function="sum"))[:_MOST]


def _common(names: tuple[str, ...], condition: Condition) -> ColumnUnit | None:
    """Return the one unit that columns have; RuleError where they have several."""
    units = [unit for name in names if (unit := unit_in_name(name)) is not None]
    if not units:
        return None
    first = units[0]
    for name, other in zip(names, units, strict=False):
        same = other.unit.kind == first.unit.kind and other.unit.offset == first.unit.offset
        if not same or abs(other.unit.factor / first.unit.factor - 1) > 1e-9:
            raise rule_error(
                f"'{condition}' compares columns in {first.unit.text} and in {other.unit.text}: "
                f"bring {quote_name(name)} to the other unit by a factor, as in "
                f"10*{quote_name(name)}, and write the number without a unit",
                column=next((t.column for side in condition.sides for t in side if t.column), None),
            )
    return first


def _converted(term: Term, written: Unit, measured: _Measured) -> float | None:
    """Return the number in the column's unit; None where that is of another kind."""
    assert measured.own is not None
    own, weight = measured.own.unit, measured.weight
    same = written.kind == own.kind and written.offset == own.offset
    if same and abs(written.factor / own.factor - 1) < 1e-12:
        return term.coefficient
    difference = abs(weight) < 1e-9
    if own.kind == _TEMPERATURE == written.kind and not difference and abs(weight) != 1.0:
        return None
    return convert(term.coefficient, written, own, measured.substance, difference=difference)


def _with_both(context: Context, term: Term, value: float, own: Unit) -> Term:
    """Return the converted number, which keeps how it was written."""
    if value == term.coefficient:
        return Term(value, column=term.column)
    both = f"{term} = {format_number(short(value, 6))} {unit_text(own)}".rstrip()
    context.remarks.append(both)
    return Term(value, column=term.column, converted=both)


def _check_name(
    context: Context, term: Term, condition: Condition, measured: _Measured, value: float
) -> None:
    """Ask where a column's values speak against the unit in its name."""
    if context.values is None or measured.column is None or value == term.coefficient:
        return
    assert measured.own is not None
    low, high = context.values.lowest(measured.column), context.values.highest(measured.column)
    if low <= value <= high or not low <= term.coefficient <= high:
        return
    remedy = _instead(condition, term, Term(term.coefficient))
    other = _instead(condition, term, Term(short(value, 6)))
    _ask(
        context,
        f"{measured.shown} is called {unit_text(measured.own.unit)}, but runs from {number(low)} "
        f"to {number(high)}, so {term} can be {format_number(short(value, 6))} or "
        f"{format_number(term.coefficient)}: write {remedy}, or {other}",
        term,
        (remedy, other),
    )


def _other_kind(term: Term, condition: Condition, written: Unit, measured: _Measured) -> RuleError:
    assert measured.own is not None
    own = measured.own.unit
    remedy = _instead(condition, term, Term(term.coefficient))
    kinds = [kind_name(unit) for unit in (written, own)]
    known = f" ({kinds[0]})" if kinds[0] else "", f" ({kinds[1]})" if kinds[1] else ""
    return rule_error(
        f"{measured.shown} is in {own.text}{known[1]}, which {term.unit}{known[0]} cannot be "
        f"turned into: write the number in {own.text}, as in {remedy}",
        column=term.column,
        suggestion=remedy,
    )


def _as_it_stands(
    context: Context, term: Term, condition: Condition, written: Unit, measured: _Measured
) -> Term:
    """Return a number for a column whose unit is not known: asked about where it is none of its
    values.
    """
    plain = Term(term.coefficient, column=term.column)
    values, j = context.values, measured.column
    if values is None or j is None or not term.coefficient:
        return plain
    low, high = values.lowest(j), values.highest(j)
    if _has_parts(condition, term):
        raise _which_part(term, condition, measured)
    if not low < high or _other_limit_fits(condition, term, low, high):
        return plain
    usual = values.statistic("p1", j), values.statistic("p99", j)
    inside = low <= term.coefficient <= high
    fits: list[tuple[float, Unit]] = []
    for other in others_of_kind(written, measured.substance):
        value = convert(term.coefficient, written, other, measured.substance)
        near = value is not None and abs(value) > 0.01 * (high - low)  # no speck of a unit
        new = value not in [known for known, _ in fits]
        if value is not None and near and new and usual[0] <= value <= usual[1]:
            fits.append((value, other))
    if inside and (usual[0] <= term.coefficient <= usual[1] or not fits):
        return plain
    remedies = [
        _instead(condition, term, Term(short(value, 4), unit=other.text))
        for value, other in fits[:2]
    ]
    bare = _instead(condition, term, Term(term.coefficient))
    text = f"write {' or '.join(remedies)}" if remedies else "write the number in its unit"
    _ask(
        context,
        f"{UNSURE} {measured.shown} is, and {term} lies beyond its values, which run from "
        f"{number(low)} to {number(high)}: {text}, or {bare} if it is in {term.unit}",
        term,
        (*remedies, bare),
        strong=bool(fits) and abs(term.coefficient - (low + high) / 2) > 1.5 * (high - low),
    )
    return plain


def _has_parts(condition: Condition, term: Term) -> bool:
    """Return whether a number is written in two units: 5 ft 11 in."""
    sides = [side for side in condition.sides if any(each is term for each in side)]
    return any(t.is_number and t.unit and t.unit != term.unit for side in sides for t in side)


def _which_part(term: Term, condition: Condition, measured: _Measured) -> RuleError:
    side = next(side for side in condition.sides if any(each is term for each in side))
    parts = [(t.coefficient, t.unit) for t in side if t.is_number]
    readings = [added_up([*parts, (0.0, unit)]) for _, unit in parts]
    texts = []
    for value, _ in readings:
        sides = tuple((Term(short(value, 6)),) if s is side else s for s in condition.sides)
        texts.append(str(replace(condition, sides=sides, written=None)))
    remedies = [
        f"{text} if it is in {unit}" for text, (_, unit) in zip(texts, readings, strict=True)
    ]
    return rule_error(
        f"{UNSURE} {measured.shown} is, and the number has two: write {' or '.join(remedies)}",
        column=term.column,
        suggestion=texts[0],
        expected=tuple(texts[1:]),
    )


def _other_limit_fits(condition: Condition, term: Term, low: float, high: float) -> bool:
    """Return whether another limit of the same range lies among the values."""
    limits = [t for side in condition.sides for t in side if t.is_number and t is not term]
    return any(t.unit == term.unit and low <= t.coefficient <= high for t in limits)


def _percentage(context: Context, term: Term, condition: Condition, measured: _Measured) -> Term:
    """Return a percentage as the data have it: by the column's name, else by its range."""
    value, share = term.coefficient, short(term.coefficient / 100, 15)
    if any(each.function == RATIO for side in condition.sides for each in side):
        return Term(share, column=term.column)
    own = measured.own
    if own is not None and (named := _converted(term, Unit("%", 0.01, ()), measured)) is not None:
        _check_percent_name(context, term, condition, measured, named)
        return _with_both(context, term, named, own.unit)
    j = measured.column
    if j is None or context.values is None:
        raise RowsNeeded(
            f"whether {number(value)} % is {number(share)} or {number(value)} in these data is "
            "not known: write the number without '%'",
            column=term.column,
        )
    low, high = context.values.lowest(j), context.values.highest(j)
    fits = [low <= each <= high for each in (share, value)]
    if high <= 1.0 and low >= 0:
        fits = [True, False]
    if (
        all(fits)
        and low >= 0
        and high <= 100
        and context.values.statistic("p50", j) >= MANY_PERCENT
    ):
        fits = [False, True]  # percentages from nearly 0 to nearly 100
    if fits[0] == fits[1]:
        _ask_glycated(context, term, condition, measured)
        raise rule_error(
            f"{measured.shown} runs from {number(low)} to {number(high)}, so "
            f"{number(value)} % can be {number(share)} or {number(value)}: write the number "
            "without '%'",
            column=term.column,
            suggestion=_instead(condition, term, Term(share)),
            expected=(_instead(condition, term, Term(value)),),
        )
    meant = share if fits[0] else value
    context.remarks.append(f"{number(value)} % is read as {format_number(meant)}")
    return Term(short(meant, 15), column=term.column)


def _ask_glycated(context: Context, term: Term, condition: Condition, measured: _Measured) -> None:
    """Ask whether HbA1c is in mmol/mol, where no share fits the column."""
    substance, j = measured.substance, measured.column
    if substance is None or substance.name != "HbA1c" or context.values is None or j is None:
        return
    value = convert(term.coefficient, Unit("%", 0.01, ()), Unit("mmol/mol", 1e-3, ()), substance)
    low, high = context.values.lowest(j), context.values.highest(j)
    if value is not None and low <= value <= high:
        remedy = _instead(condition, term, Term(value))
        message = (
            f"{measured.shown} runs from {number(low)} to {number(high)}, and {term} lies beyond: "
            f"write {remedy} if it is in mmol/mol"
        )
        raise rule_error(message, column=term.column, suggestion=remedy)


def _check_percent_name(
    context: Context, term: Term, condition: Condition, measured: _Measured, named: float
) -> None:
    """Ask where a column called a percentage holds shares between 0 and 1, or the reverse."""
    if context.values is None or measured.column is None:
        return
    low, high = context.values.lowest(measured.column), context.values.highest(measured.column)
    others = [each for each in (term.coefficient / 100, term.coefficient) if each != named]
    if low <= named <= high or not any(low <= each <= high for each in others):
        return
    remedies = [_instead(condition, term, Term(short(each))) for each in (*others[:1], named)]
    _ask(
        context,
        f"{measured.shown} runs from {number(low)} to {number(high)}, so {term} can be "
        f"{format_number(short(others[0]))} or {format_number(named)}: write "
        f"{' or '.join(remedies)}",
        term,
        tuple(remedies),
    )


def _check_scale(context: Context, term: Term, condition: Condition) -> None:
    """Ask where a full number meets a column that counts in thousands."""
    names = [name for side in condition.sides if (name := lone_name(side)) is not None]
    if context.values is None or abs(term.coefficient) < 1e3 or len(names) != 1:
        return
    own, j = unit_in_name(names[0]), context.name_table.feature(names[0])
    if own is None or j is None or not _is_thousands(own.unit):
        return
    low, high = context.values.lowest(j), context.values.highest(j)
    small = term.coefficient / own.unit.factor
    if low <= term.coefficient <= high or not low <= small <= high:
        return
    remedies = tuple(_instead(condition, term, Term(short(each))) for each in (small,))
    _ask(
        context,
        f"{quote_name(context.index.name(j))} counts in {own.unit.text} and runs from "
        f"{number(low)} to {number(high)}, and {term} lies beyond: write {remedies[0]}, "
        "or another number in its unit",
        term,
        remedies,
    )


def _is_thousands(unit: Unit) -> bool:
    return bool(unit.kind) and unit.kind[0][0].startswith("money") and unit.factor >= 1e3


def _instead(condition: Condition, term: Term, other: Term) -> str:
    """Return the condition with another number, as a rule writes it."""
    sides = tuple(
        tuple(other if each is term else each for each in side) for side in condition.sides
    )
    return str(replace(condition, sides=sides, written=None))


def _ask(
    context: Context,
    message: str,
    term: Term,
    remedies: tuple[str, ...],
    *,
    strong: bool = False,
) -> None:
    """Refuse with what to write; a fit on some of the rows goes on where the doubt is small."""
    if not context.name_table.asks and not strong:
        context.remarks.append(message)
        return
    raise rule_error(message, column=term.column, suggestion=remedies[0], expected=remedies[1:])


# --------------------------------------------------------------------------------------------------
# Names alone, categories and sets of their values: `smoker`, `sex = male`, `stage >= II`.
#
# Each becomes a condition on columns of 0 and 1.


def linearize_flag(context: Context, condition: Condition) -> Node:
    """Return a name alone, as `smoker`: its column of 0 and 1 must be 1, or 0 where it is
    negated.
    """
    term, wanted = condition.sides[0][0], condition.sides[1][0].coefficient
    name = term.names[0]
    if not isinstance(name, str) or context.name_table.block(name) is not None:
        if isinstance(name, str):
            raise context.name_table.not_a_flag(name, term.column)
        return Condition(((replace(term, function="min"),), (Term(1.0),)), (">=",))
    j = context.name_table.flag_column(name)
    if j is None or not context.name_table.is_zero_one(j):
        raise context.name_table.not_a_flag(name, term.column)
    return column_is(context, j, wanted, term.column)


def column_is(context: Context, j: int, wanted: float, column: int | None) -> Condition:
    """Return a column of 0 and 1 that must be 1, or 0."""
    term = Term(1.0, (context.index.name(j),), column=column)
    return Condition(((term,), (Term(wanted),)), (">=" if wanted else "<=",))


def linearize_category(context: Context, condition: Condition) -> Node | None:
    """Read `sex = male` and `stage >= II`, or None if the condition is about numbers."""
    if len(condition.sides) != 2 or condition.form != "compare":
        return None
    group, level = lone_name(condition.sides[0]), _lone_level(condition.sides[1])
    relation = condition.relations[0]
    if group is None or level is None:
        return None
    column = condition.sides[0][0].column
    j = context.name_table.feature(group)
    if j is not None:
        return _yes_or_no(context, condition, j, level)
    if context.name_table.block(group) is not None or context.name_table.group(group) is None:
        return None
    found = context.name_table.level_column(group, level)
    if relation in ("=", "!="):
        if found is None:
            raise _no_level(context, group, level, column)
        return column_is(context, found, float(relation == "="), column)
    return _ranked(context, group, level, relation, column)


def _yes_or_no(context: Context, condition: Condition, j: int, level: str) -> Node | None:
    """Read `hypertension = yes` on a column of 0 and 1."""
    relation = condition.relations[0]
    right = condition.sides[1][0]
    if right.is_number:
        if (
            relation == "!="
            and context.name_table.is_zero_one(j)
            and right.coefficient in (0.0, 1.0)
        ):
            return column_is(context, j, 1.0 - right.coefficient, right.column)
        return None
    wanted = context.name_table.yes_or_no(level)
    if wanted is None or context.name_table.feature(level) is not None:
        return None
    if relation not in ("=", "!=") or not context.name_table.is_zero_one(j):
        return None
    return column_is(context, j, wanted if relation == "=" else 1.0 - wanted, right.column)


def _ranked(
    context: Context, group: str, level: str, relation: str, column: int | None
) -> Condition:
    order = context.name_table.order(group)
    levels = context.name_table.group(group) or {}
    found = context.name_table.level_column(group, level)
    if found is None:
        raise _no_level(context, group, level, column)
    columns = [levels[folded(each)] for each in order.levels] if order else []
    if order is None or not order.ranked or found not in columns:
        raise _no_order(context, group, found, columns, column)
    at = columns.index(found)
    chosen = {">=": columns[at:], ">": columns[at + 1 :], "<=": columns[: at + 1],
              "<": columns[:at]}[relation]  # fmt: skip
    if not chosen:
        raise rule_error(f"no value of {group} is {relation} {level}: write another", column=column)
    return _one_of(context, chosen, True, column)


def _no_order(
    context: Context, group: str, found: int, columns: list[int], column: int | None
) -> RuleError:
    """Return the error for values whose order is not known, or which may be counted from either
    end.
    """
    if found in columns:
        at = columns.index(found)
        readings = [columns[at:], columns[: at + 1]]
    else:
        every = list((context.name_table.group(group) or {}).values())
        readings = [[found, *(j for j in every if j != found)][:2]]
    named = [
        ", ".join(quote_name(context.index.level_name(j)) for j in reading) for reading in readings
    ]
    shown = [f"{quote_name(group)} in {{{each}}}" for each in named]
    return rule_error(
        f"the order of the values of {group} is not known: write which are meant, as in "
        f"{' or '.join(shown)}",
        column=column,
        expected=tuple(shown) if found in columns else (),
    )


def _one_of(context: Context, columns: list[int], wanted: bool, column: int | None) -> Condition:
    """Return some columns of 0 and 1, of which one is 1 (or none)."""
    if len(columns) == 1:
        return column_is(context, columns[0], float(wanted), column)
    term = Term(1.0, tuple(context.index.name(j) for j in columns), "sum", column)
    sign = ">=" if wanted else "<="
    return Condition(((term,), (Term(float(wanted)),)), (sign,), "count")


def _no_level(context: Context, group: str, level: str, column: int | None) -> RuleError:
    levels = context.name_table.group(group) or {}
    own = [context.index.level_name(j) for j in levels.values()]
    near = difflib.get_close_matches(folded(level), levels, 1, 0.6)
    best = [quote_name(context.index.level_name(levels[each])) for each in near]
    shown = listed([quote_name(each) for each in own], "or", limit=6)
    return rule_error(
        f"{group} has no value {quote_name(level)}: write {group} = {shown}",
        column=column,
        expected=tuple(f"{quote_name(group)} = {each}" for each in best),
    )


def linearize_member(context: Context, condition: Condition) -> Node:
    """`stage in {I, II}`: one of these values of a category; RuleError for a set of numbers."""
    group, items = str(condition.sides[0][0].names[0]), condition.sides[1][0].names
    column = condition.sides[0][0].column
    texts = [str(item) for item in items]
    if context.name_table.feature(group) is None and context.name_table.group(group) is not None:
        columns = []
        for level in texts:
            found = context.name_table.level_column(group, level)
            if found is None:
                raise _no_level(context, group, level, column)
            columns.append(found)
        return _one_of(context, sorted(set(columns)), condition.relations[0] == "=", column)
    name = quote_name(own_name(context, group, column))
    raise rule_error(
        f"a set of numbers is not linear: write {_instead_of_set(name, texts)}",
        column=column,
        suggestion=_instead_of_set(name, texts),
    )


def _instead_of_set(name: str, texts: list[str]) -> str:
    """Return what says the same as a set of numbers."""
    try:
        numbers = sorted(map(float, texts))
    except ValueError:
        return f"{name} = {texts[0]}"
    neighbours = numbers == [numbers[0] + k for k in range(len(numbers))]
    if neighbours and len(numbers) > 1 and numbers[0] % 1 == 0:
        low, high = map(format_number, (numbers[0], numbers[-1]))
        return f"{name} between {low} and {high}"
    return " or ".join(f"{name} = {format_number(each)}" for each in numbers)


def _lone_level(side: Side) -> str | None:
    """Return what a side may be as a level of a category: a word or a whole number."""
    if len(side) == 1 and side[0].is_number:
        return format_number(side[0].coefficient)
    return lone_name(side)


# --------------------------------------------------------------------------------------------------
# Counts of columns that hold 0 and 1: `at least 2 of (smoker, male)`.


def linearize_count(context: Context, condition: Condition) -> Node:
    """Return a count whose names are columns of 0 and 1; RuleError where one is not."""
    counted = condition.sides[0][0]
    names: list[Name] = []
    for name in counted.names:
        if isinstance(name, str) and context.name_table.block(name) is None:
            j = context.name_table.flag_column(name)
            if j is None:
                raise context.name_table.not_a_flag(name, counted.column)
            _check_zero_one(context, j, counted.column)
            names.append(context.index.name(j))
        else:
            names.append(member_name(context, name, counted.column))
            _check_group(context, names[-1], counted.column)
    if tuple(names) == counted.names:
        return condition
    term = replace(counted, names=tuple(dict.fromkeys(names)))
    return Condition(((term,), condition.sides[1]), condition.relations, "count")


def _check_group(context: Context, name: Name, column: int | None) -> None:
    if context.values is None:
        return
    if isinstance(name, FeatureSpan):
        first, last = (context.index.find(end) for end in (name.first, name.last))
        columns = range(first, last + 1)
    else:
        columns = context.name_table.blocks[name]  # type: ignore[assignment]
    for j in columns:
        _check_zero_one(context, int(j), column)


def _check_zero_one(context: Context, j: int, column: int | None) -> None:
    if context.values is not None and not context.values.is_flag(j):
        name = quote_name(context.index.name(j))
        raise rule_error(
            f"{name} does not hold 0 and 1 only, so it cannot be counted: compare it, as in "
            f"at least 2 of ({name} >= 1, ...)",
            column=column,
        )


# --------------------------------------------------------------------------------------------------
# Numbers that only the training rows tell: p90(x) and z(x).


def learnt_number(context: Context, term: Term) -> list[Term]:
    """p90(x) as its value; z(x) as (x - mean) / sd."""
    name = str(term.names[0])
    block = context.name_table.block(name)
    if block is not None:
        raise rule_error(
            f"{term.body} of a block is not linear: write mean({quote_name(block)}), or "
            f"{term.function} of one feature for its {term.function} over the training rows",
            column=term.column,
        )
    own = own_name(context, name, term.column)
    j = context.index.find(own)
    body = f"{term.function}({quote_name(own)})"
    if context.values is None:
        raise RowsNeeded(
            f"{body} is learnt from the training rows, which are not known here: give the "
            "rows, or write the number",
            column=term.column,
        )
    function = find_function(term.function)
    if function is not None and function.scaling is not None:
        return _scaled(context, term, function, j)
    value = context.values.statistic(term.function, j)
    if not math.isfinite(value):
        raise rule_error(f"{own} has no values to learn from: leave it out", column=term.column)
    context.remarks.append(f"{body} is {number(value)} on the training rows")
    return [Term(term.coefficient * value, column=term.column)]


def _scaled(context: Context, term: Term, function: RuleFunction, j: int) -> list[Term]:
    """Return z(x) as x over its step, less its centre over its step."""
    assert context.values is not None
    assert function.scaling is not None
    name, values = context.index.name(j), context.values.column(j)
    centre, step = function.scaling(values) if len(values) else (math.nan, math.nan)
    if not step > 0:
        raise rule_error(
            f"{name} is the same in all rows: it has no {function.name}", column=term.column
        )
    context.remarks.append(
        f"{function.name}({quote_name(name)}) counts from {number(centre)} in steps of "
        f"{number(step)}, {function.learns} of the training rows"
    )
    factor = term.coefficient / step
    return [Term(factor, (name,), column=term.column), Term(-factor * centre)]


# --------------------------------------------------------------------------------------------------
# Ratios over a feature that is above 0: multiplied out, so that the condition is linear.


def multiplied_out(
    context: Context, sides: tuple[Side, ...], condition: Condition
) -> tuple[Side, ...]:
    """Return ratios over one feature that is above 0, multiplied by it."""
    terms = [term for side in sides for term in side]
    below = {term.names[1] for term in terms if term.function == RATIO}
    if len(below) > 1 or any(t.names and t.function != RATIO for t in terms):
        raise rule_error(
            f"'{condition}' is not linear: write a ratio against a number only, as in a/b >= 2",
            column=place_of(condition),
        )
    (name,) = below
    if not isinstance(name, str):
        raise rule_error("name one feature below the line", column=place_of(condition))
    _check_above_zero(context, name, condition, sides)

    def multiplied(side: Side) -> Side:
        return tuple(
            Term(t.coefficient, t.names[:1] if t.function == RATIO else (name,), column=t.column)
            for t in side
            if t.coefficient or len(side) == 1
        )

    return tuple(map(multiplied, sides))


def _check_above_zero(
    context: Context, name: str, condition: Condition, sides: tuple[Side, ...]
) -> None:
    low = None if context.values is None else context.values.lowest(context.index.find(name))
    quoted = quote_name(name)
    if low is None or not low > 0:
        why = "is not known" if low is None else f"goes down to {number(low)}"
        failure = RowsNeeded if low is None else RuleError
        raise failure(
            f"'{condition}' can be multiplied out only where {quoted} is above 0, and its "
            f"range {why}: write {_products(sides, quoted)} if it is, or add the ratio to "
            "the data as a feature of its own",
            column=place_of(condition),
        )
    context.remarks.append(
        f"{quoted} is above 0 in the training rows, so the ratio is multiplied out"
    )


def _products(sides: tuple[Side, ...], name: str) -> str:
    texts = []
    for side in sides:
        upper = side_text([t if t.function != RATIO else Term(t.coefficient, t.names[:1])
                           for t in side])  # fmt: skip
        texts.append(f"{upper}*{name}" if not any(t.names for t in side) else upper)
    return f"{texts[0]} >= {texts[1]}"


# --------------------------------------------------------------------------------------------------
# The sides of a condition with the data's own names, learnt numbers and ratios worked out.


def linearize_sides(context: Context, condition: Condition) -> Condition:
    """Return the condition with its own names, percentages, learnt numbers and ratios
    worked out.
    """
    sides = tuple(_side(context, side, condition) for side in condition.sides)
    if any(term.function == RATIO for side in sides for term in side):
        sides = multiplied_out(context, sides, condition)
    if sides == condition.sides:
        return condition
    if not any(term.names for side in sides for term in side):
        raise _nothing_left(context, condition)
    return Condition(sides, condition.relations, condition.form)


def _nothing_left(context: Context, condition: Condition) -> RuleError:
    learnt = next(t for side in condition.sides for t in side if t.function)
    name = name_of(learnt)
    return rule_error(
        f"{learnt.body} is one number for all patients, the figure of the column: write "
        f"{name} where the patient's own value is meant",
        column=learnt.column,
        suggestion=str(condition).replace(learnt.body, name),
    )


def _side(context: Context, side: Side, condition: Condition) -> Side:
    found: list[Term] = []
    for term in side:
        found += _term(context, term, condition)
    return (
        side
        if len(found) == len(side) and all(a is b for a, b in zip(found, side, strict=True))
        else tuple(found)
    )


def _term(context: Context, term: Term, condition: Condition) -> list[Term]:
    if not term.names:
        return [plain_number(context, term, condition)]
    if term.function in ("", RATIO):
        names: tuple[Name, ...] = tuple(own_name(context, str(n), term.column) for n in term.names)
    elif is_learnt(term.function):
        return learnt_number(context, term)
    else:
        names = tuple(member_name(context, n, term.column) for n in term.names)
        function = find_function(term.function)
        if function is not None and function.statistic is not None and is_feature(context, names):
            return learnt_number(context, term)
        if term.function in EXTREMES and is_feature(context, names):
            _check_other_mentions(context, names[0], term, condition)
    return [term if names == term.names else replace(term, names=names)]


def _check_other_mentions(context: Context, name: Name, term: Term, condition: Condition) -> None:
    for side in condition.sides:
        for other in side:
            if other is not term and name in other.names:
                share = "100" if EXTREMES[term.function] == "largest" else "0"
                raise rule_error(
                    f"{term.body} is the patient's own {name}: write p{share}({name}) for the "
                    f"{term.function} over the training rows",
                    column=term.column,
                )


def name_of(term: Term) -> str:
    """Return the first name of a term, as a rule writes it."""
    first = term.names[0]
    return quote_name(first) if isinstance(first, str) else str(first)


# --------------------------------------------------------------------------------------------------
# min and max: a max that must be large is met by one feature, so it makes one rule for each.


def linearize_extremes(context: Context, condition: Condition) -> Node:
    """Return a min that must be small, or a max that must be large, as one alternative per
    feature.
    """
    terms = [term for side in condition.sides for term in side if term.function in EXTREMES]
    if not terms:
        return condition
    if len(condition.sides) == 3 or condition.relations == ("=",):
        pairs = _pairs(condition)
        if any(_wrong(pair) for pair in pairs):
            return All(tuple(linearize_extremes(context, pair) for pair in pairs))
        return condition
    found = _wrong(condition)
    if found is None:
        return condition
    at, k, term = found
    names = members_of(context, term)
    if len(names) > MOST_ALTERNATIVES:
        shown = ", ".join(map(name_text, term.names))
        other = next(name for name in EXTREMES if EXTREMES[name] != EXTREMES[term.function])
        raise rule_error(
            f"'{condition}' is met as soon as one feature is, and {len(names):,} features "
            f"would make as many rules: write mean({shown}), or {other}({shown}) if all of "
            "them must be",
            column=term.column,
        )
    return Any(tuple(linearize_extremes(context, _with(condition, at, k, name)) for name in names))


def _with(condition: Condition, at: int, k: int, name: str) -> Condition:
    sides = list(condition.sides)
    side = list(sides[at])
    side[k] = Term(side[k].coefficient, (name,), column=side[k].column)
    sides[at] = tuple(side)
    return Condition(tuple(sides), condition.relations)


def _pairs(condition: Condition) -> list[Condition]:
    if len(condition.sides) == 3:
        low, middle, high = condition.sides
        first, second = condition.relations
        return [
            Condition((middle, low), (MIRRORED[first],)),
            Condition((middle, high), (second,)),
        ]
    return [Condition(condition.sides, (sign,)) for sign in (">=", "<=")]


def _wrong(condition: Condition) -> tuple[int, int, Term] | None:
    """Return the first extreme that asks for some feature only: its side, its place, itself."""
    large_on_left = condition.relations[0][0] == ">"
    for at, side in enumerate(condition.sides):
        for k, term in enumerate(side):
            if term.function not in EXTREMES or not term.coefficient:
                continue
            side_is_large = large_on_left == (at == 0)
            must_be_large = side_is_large == (term.coefficient > 0)
            if must_be_large == (EXTREMES[term.function] == "largest"):
                return at, k, term
    return None


# --------------------------------------------------------------------------------------------------
# Conditions as written to conditions that are linear: everything that needs the data is settled.
#
# Categories become columns, p90(x) becomes its value on the training rows, a ratio over a feature
# that is above 0 is multiplied out, and `any(K1) >= 2` becomes one alternative for each feature.


_HAZARD: Final = re.compile(r"[\w)\]][-+*/=.:%()]|\w\s+\w")


def linearize(context: Context, condition: Condition) -> Node:
    """Return the condition in plain sums of features, or several joined by and and or."""
    again = _read_again(context, condition)
    if not isinstance(again, Condition):
        return _linearize_each(context, again)
    condition = again
    if condition.form == "flag":
        return linearize_flag(context, condition)
    if condition.form == "member":
        return linearize_member(context, condition)
    if condition.form == "count":
        return linearize_count(context, condition)
    if (category := linearize_category(context, condition)) is not None:
        return category
    settled = linearize_sides(context, condition)
    if "!=" in condition.relations:
        raise _differs(condition)
    return linearize_extremes(context, settled)


def _linearize_each(context: Context, node: Node) -> Node:
    """Return every condition of several, joined as before."""
    if isinstance(node, Condition):
        return linearize(context, node)
    return type(node)(tuple(_linearize_each(context, part) for part in node.parts))


def _read_again(context: Context, condition: Condition) -> Node:
    """Return the condition with names that only the data tell, such as IL-6."""
    written = condition.written
    if written is None or written.sides != condition.sides:
        return condition
    if not _HAZARD.search(written.text):
        return condition
    words = words_of(written.text, context.name_table)
    if not any(w.kind == "QUOTED" and written.text[w.start] != "`" for w in words):
        return condition
    tokens = TokenStream(written.text, words, context.name_table)
    try:
        node = read_atom(tokens)
    except RuleError:
        return condition
    return node if tokens.is_over else condition


def _differs(condition: Condition) -> RuleError:
    left, right = map(side_text, condition.sides[:2])
    remedy = f"{left} < {right} or {left} > {right}"
    return rule_error(
        f"'{condition}' has no one side: write {remedy}",
        column=place_of(condition),
        suggestion=remedy,
    )
