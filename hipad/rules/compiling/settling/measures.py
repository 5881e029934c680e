"""Written numbers in the units of the column that they are compared with.

Where the column's name holds a unit of the same kind, the number is converted, and the rule shows
both. Where it does not, the number is taken as it stands, unless it lies beyond the column's
values: then nobody knows what is meant, and it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from hipad.errors import RuleError
from hipad.rules.compiling.settling.ground import Ground, RowsNeeded, lone_name, members_of
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import format_number, quote_name, rule_error
from hipad.rules.language.terms import RATIO, Name, Term
from hipad.rules.language.words.quantities import added_up
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
from hipad.wording import number

UNSURE: Final = "it is not known in which unit"  # begins a remark where nobody can be asked
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


def plain_number(ground: Ground, term: Term, condition: Condition) -> Term:
    """A number in the units of the column; RuleError where these are not known."""
    if not term.unit:
        _check_scale(ground, term, condition)
        return term
    measured = _measured(ground, condition)
    if term.unit == "%":
        return _percentage(ground, term, condition, measured)
    name = measured.names[0] if measured.names else ""
    written = unit_of(term.unit)
    written = None if written is None else fitted(written, name)
    if written is None or not measured.names:
        return Term(term.coefficient, column=term.column)  # something counted: 3 nodes
    if measured.own is not None:
        value = _converted(term, written, measured)
        if value is not None:
            _check_name(ground, term, condition, measured, value)
            return _with_both(ground, term, value, measured.own.unit)
        if measured.own.sure:
            raise _other_kind(term, condition, written, measured)
    return _as_it_stands(ground, term, condition, written, measured)


def _measured(ground: Ground, condition: Condition) -> _Measured:
    """The columns of a condition and the one unit that they have."""
    found: dict[str, None] = {}
    weight, is_ratio = 0.0, False
    for at, side in enumerate(condition.sides):
        for term in side:
            if not term.names:
                continue
            members = list(_members(ground, term))
            found |= dict.fromkeys(members)
            is_ratio |= term.function in (RATIO, "z")
            each = len(members) if term.function == "sum" else float(term.function != "sd")
            is_left = at == (1 if len(condition.sides) == 3 else 0)
            weight += term.coefficient * each * (1 if is_left else -1)
    names = tuple(found)
    if is_ratio or not names:
        return _Measured((), None, None, weight, None)
    alone = next((n for side in condition.sides if (n := lone_name(side)) is not None), None)
    column = ground.lexicon.feature(alone) if alone is not None and len(names) == 1 else None
    return _Measured(names, _common(names, condition), substance_of(names[0]), weight, column)


def _members(ground: Ground, term: Term) -> Iterator[str]:
    """The own names of a term's features; nothing for names that the data do not have."""
    names: list[Name] = []
    for name in term.names:
        if isinstance(name, str) and (block := ground.lexicon.block(name)) is not None:
            names.append(block)
        elif isinstance(name, str):
            j = ground.lexicon.feature(name)
            if j is not None:
                yield ground.index.name(j)
        elif all(ground.index.position(end) is not None for end in (name.first, name.last)):
            names.append(name)
    if names:
        yield from members_of(ground, replace(term, names=tuple(names), function="sum"))[:_MOST]


def _common(names: tuple[str, ...], condition: Condition) -> ColumnUnit | None:
    """The one unit that columns have; RuleError where they have several."""
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
    """The number in the column's unit; None where that is of another kind."""
    assert measured.own is not None
    own, weight = measured.own.unit, measured.weight
    same = written.kind == own.kind and written.offset == own.offset
    if same and abs(written.factor / own.factor - 1) < 1e-12:
        return term.coefficient
    difference = abs(weight) < 1e-9
    if own.kind == _TEMPERATURE == written.kind and not difference and abs(weight) != 1.0:
        return None
    return convert(term.coefficient, written, own, measured.substance, difference=difference)


def _with_both(ground: Ground, term: Term, value: float, own: Unit) -> Term:
    """The converted number, which keeps how it was written."""
    if value == term.coefficient:
        return Term(value, column=term.column)
    both = f"{term} = {format_number(short(value, 6))} {unit_text(own)}".rstrip()
    ground.remarks.append(both)
    return Term(value, column=term.column, converted=both)


def _check_name(
    ground: Ground, term: Term, condition: Condition, measured: _Measured, value: float
) -> None:
    """Ask where a column's values speak against the unit in its name."""
    if ground.values is None or measured.column is None or value == term.coefficient:
        return
    assert measured.own is not None
    low, high = ground.values.lowest(measured.column), ground.values.highest(measured.column)
    if low <= value <= high or not low <= term.coefficient <= high:
        return
    remedy = _instead(condition, term, Term(term.coefficient))
    other = _instead(condition, term, Term(short(value, 6)))
    _ask(
        ground,
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
    ground: Ground, term: Term, condition: Condition, written: Unit, measured: _Measured
) -> Term:
    """A number for a column whose unit is not known: asked about where it is none of its values."""
    plain = Term(term.coefficient, column=term.column)
    values, j = ground.values, measured.column
    if values is None or j is None or not term.coefficient:
        return plain
    low, high = values.lowest(j), values.highest(j)
    if _has_parts(condition, term):
        raise _which_part(term, condition, measured)
    if not low < high or _other_limit_fits(condition, term, low, high):
        return plain
    usual = values.figure("p1", j), values.figure("p99", j)
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
    told = f"write {' or '.join(remedies)}" if remedies else "write the number in its unit"
    _ask(
        ground,
        f"{UNSURE} {measured.shown} is, and {term} lies beyond its values, which run from "
        f"{number(low)} to {number(high)}: {told}, or {bare} if it is in {term.unit}",
        term,
        (*remedies, bare),
        strong=bool(fits) and abs(term.coefficient - (low + high) / 2) > 1.5 * (high - low),
    )
    return plain


def _has_parts(condition: Condition, term: Term) -> bool:
    """Whether a number is written in two units: 5 ft 11 in."""
    sides = [side for side in condition.sides if any(each is term for each in side)]
    return any(t.is_number and t.unit and t.unit != term.unit for side in sides for t in side)


def _which_part(term: Term, condition: Condition, measured: _Measured) -> RuleError:
    side = next(side for side in condition.sides if any(each is term for each in side))
    parts = [(t.coefficient, t.unit) for t in side if t.is_number]
    ways = [added_up([*parts, (0.0, unit)]) for _, unit in parts]
    texts = []
    for value, _ in ways:
        sides = tuple((Term(short(value, 6)),) if s is side else s for s in condition.sides)
        texts.append(str(replace(condition, sides=sides, written=None)))
    told = [f"{text} if it is in {unit}" for text, (_, unit) in zip(texts, ways, strict=True)]
    return rule_error(
        f"{UNSURE} {measured.shown} is, and the number has two: write {' or '.join(told)}",
        column=term.column,
        suggestion=texts[0],
        expected=tuple(texts[1:]),
    )


def _other_limit_fits(condition: Condition, term: Term, low: float, high: float) -> bool:
    """Whether another limit of the same range lies among the values."""
    limits = [t for side in condition.sides for t in side if t.is_number and t is not term]
    return any(t.unit == term.unit and low <= t.coefficient <= high for t in limits)


def _percentage(ground: Ground, term: Term, condition: Condition, measured: _Measured) -> Term:
    """A percentage as the data have it: by the column's name, else by its range."""
    value, share = term.coefficient, short(term.coefficient / 100, 15)
    if any(each.function == RATIO for side in condition.sides for each in side):
        return Term(share, column=term.column)
    own = measured.own
    if own is not None and (named := _converted(term, Unit("%", 0.01, ()), measured)) is not None:
        _check_percent_name(ground, term, condition, measured, named)
        return _with_both(ground, term, named, own.unit)
    j = measured.column
    if j is None or ground.values is None:
        raise RowsNeeded(
            f"whether {number(value)} % is {number(share)} or {number(value)} in these data is "
            "not known: write the number without '%'",
            column=term.column,
        )
    low, high = ground.values.lowest(j), ground.values.highest(j)
    fits = [low <= each <= high for each in (share, value)]
    if high <= 1.0 and low >= 0:
        fits = [True, False]
    if fits[0] == fits[1]:
        _ask_glycated(ground, term, condition, measured)
        raise rule_error(
            f"{measured.shown} runs from {number(low)} to {number(high)}, so "
            f"{number(value)} % can be {number(share)} or {number(value)}: write the number "
            "without '%'",
            column=term.column,
            suggestion=_instead(condition, term, Term(share)),
            expected=(_instead(condition, term, Term(value)),),
        )
    meant = share if fits[0] else value
    ground.remarks.append(f"{number(value)} % is read as {format_number(meant)}")
    return Term(short(meant, 15), column=term.column)


def _ask_glycated(ground: Ground, term: Term, condition: Condition, measured: _Measured) -> None:
    """Ask whether HbA1c is in mmol/mol, where no share fits the column."""
    substance, j = measured.substance, measured.column
    if substance is None or substance.name != "HbA1c" or ground.values is None or j is None:
        return
    value = convert(term.coefficient, Unit("%", 0.01, ()), Unit("mmol/mol", 1e-3, ()), substance)
    low, high = ground.values.lowest(j), ground.values.highest(j)
    if value is not None and low <= value <= high:
        remedy = _instead(condition, term, Term(value))
        message = (
            f"{measured.shown} runs from {number(low)} to {number(high)}, and {term} lies beyond: "
            f"write {remedy} if it is in mmol/mol"
        )
        raise rule_error(message, column=term.column, suggestion=remedy)


def _check_percent_name(
    ground: Ground, term: Term, condition: Condition, measured: _Measured, named: float
) -> None:
    """Ask where a column called a percentage holds shares between 0 and 1, or the reverse."""
    if ground.values is None or measured.column is None:
        return
    low, high = ground.values.lowest(measured.column), ground.values.highest(measured.column)
    others = [each for each in (term.coefficient / 100, term.coefficient) if each != named]
    if low <= named <= high or not any(low <= each <= high for each in others):
        return
    remedies = [_instead(condition, term, Term(short(each))) for each in (*others[:1], named)]
    _ask(
        ground,
        f"{measured.shown} runs from {number(low)} to {number(high)}, so {term} can be "
        f"{format_number(short(others[0]))} or {format_number(named)}: write "
        f"{' or '.join(remedies)}",
        term,
        tuple(remedies),
    )


def _check_scale(ground: Ground, term: Term, condition: Condition) -> None:
    """Ask where a full number meets a column that counts in thousands."""
    names = [name for side in condition.sides if (name := lone_name(side)) is not None]
    if ground.values is None or abs(term.coefficient) < 1e3 or len(names) != 1:
        return
    own, j = unit_in_name(names[0]), ground.lexicon.feature(names[0])
    if own is None or j is None or not _is_thousands(own.unit):
        return
    low, high = ground.values.lowest(j), ground.values.highest(j)
    small = term.coefficient / own.unit.factor
    if low <= term.coefficient <= high or not low <= small <= high:
        return
    remedies = tuple(_instead(condition, term, Term(short(each))) for each in (small,))
    _ask(
        ground,
        f"{quote_name(ground.index.name(j))} counts in {own.unit.text} and runs from {number(low)} "
        f"to {number(high)}, and {term} lies beyond: write {remedies[0]}, or another number in "
        "its unit",
        term,
        remedies,
    )


def _is_thousands(unit: Unit) -> bool:
    return bool(unit.kind) and unit.kind[0][0].startswith("money") and unit.factor >= 1e3


def _instead(condition: Condition, term: Term, other: Term) -> str:
    """The condition with another number, as a rule writes it."""
    sides = tuple(
        tuple(other if each is term else each for each in side) for side in condition.sides
    )
    return str(replace(condition, sides=sides, written=None))


def _ask(
    ground: Ground,
    message: str,
    term: Term,
    remedies: tuple[str, ...],
    *,
    strong: bool = False,
) -> None:
    """Refuse with what to write; a fit on some of the rows goes on where the doubt is small."""
    if not ground.lexicon.asks and not strong:
        ground.remarks.append(message)
        return
    raise rule_error(message, column=term.column, suggestion=remedies[0], expected=remedies[1:])
