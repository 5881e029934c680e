"""Examples of rules made from a user's own table, each compiled before it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.compiling.settling.values import ColumnValues
from hipad.rules.language.spelling import format_number, quote_label, quote_name
from hipad.rules.remedies import can_be_used

MOST: Final = 6
LOOKED_AT: Final = 300  # columns that are searched for something to show
MANUAL: Final = "docs/rules.md"


@dataclass(frozen=True)
class ExampleRule:
    """A rule on the user's own table, and what it shows."""

    text: str
    shows: str


@dataclass(frozen=True)
class _Columns:
    """What a table has to make examples of: names of numbers, of 0 and 1, categories, blocks."""

    numbers: list[int]
    flags: list[str]
    categories: list[tuple[str, list[str]]]
    blocks: list[str]


def example_rules(
    lexicon: Lexicon, classes: Sequence[object], *, most: int = MOST
) -> list[ExampleRule]:
    """Return up to `most` rules in the columns, quantiles, categories and classes of a table.

    Parameters
    ----------
    lexicon : Lexicon
        The names and blocks of the table, and its rows.
    classes : sequence of two
        The (negative, positive) classes.
    most : int
        How many are given at most.

    Returns
    -------
    list of ExampleRule
        Each of them compiles on the table.

    Examples
    --------
    >>> from hipad.rules import FeatureIndex
    >>> rows = ColumnValues([[20.0, 1.0], [30.0, 0.0], [40.0, 1.0], [70.0, 0.0]])
    >>> lexicon = Lexicon(FeatureIndex(["age", "smoker"]), values=rows)
    >>> for rule in example_rules(lexicon, ("well", "ill"), most=3):
    ...     print(rule.text)
    age >= 48 => ill
    age between 28 and 48 => well
    smoker and age >= 35 => ill
    """
    columns = _columns(lexicon)
    found = (
        rule
        for rule in _candidates(lexicon, columns, *(quote_label(str(label)) for label in classes))
        if can_be_used(rule.text, lexicon, classes)
    )
    unique: dict[str, ExampleRule] = {}
    for rule in found:
        unique.setdefault(rule.text, rule)
        if len(unique) == most:
            break
    return list(unique.values())


def _columns(lexicon: Lexicon) -> _Columns:
    index, values = lexicon.index, lexicon.values
    numbers: list[int] = []
    flags: list[str] = []
    for j in range(min(len(index), LOOKED_AT)):
        name = index.name(j)
        if "=" in name[1:-1] or values is None:
            continue
        if values.is_flag(j):
            flags.append(name)
        elif len(values.distinct(j)) > 2:
            numbers.append(j)
    categories = []
    for group, levels in islice(index.categories.items(), LOOKED_AT):
        if (own := lexicon.category(group)) is not None:
            categories.append((own, [index.level_name(j) for j in levels.values()]))
    return _Columns(numbers, flags, categories, [b for b in lexicon.blocks if lexicon.members(b)])


def _candidates(
    lexicon: Lexicon, columns: _Columns, negative: str, positive: str
) -> Iterator[ExampleRule]:
    """Rules in the order in which they are wished for."""
    numbers, values = columns.numbers, lexicon.values
    if not numbers or values is None:
        yield from _without_numbers(lexicon, columns, positive)
        return
    name = [quote_name(lexicon.index.name(j)) for j in numbers]
    level = [[_short(values, j, share) for share in ("p25", "median", "p75")] for j in numbers]
    last = len(numbers) - 1
    second, third = min(1, last), min(2, last)
    yield ExampleRule(f"{name[0]} >= {level[0][2]} => {positive}", "a feature and a number")
    yield from _of_categories(lexicon, columns, f"{name[0]} >= {level[0][1]}", positive)
    low, _, high = level[second]
    yield ExampleRule(f"{name[second]} between {low} and {high} => {negative}", "a range")
    for flag in columns.flags[:1]:
        yield ExampleRule(
            f"{quote_name(flag)} and {name[0]} >= {level[0][1]} => {positive}",
            "a column of 0 and 1 holds, and a number",
        )
    for block in columns.blocks[:1]:
        yield from _of_block(lexicon, block, positive)
    if last:
        yield ExampleRule(
            f"{name[0]} >= {level[0][2]} and {name[second]} <= {level[second][1]} => {positive}",
            "two conditions that must both hold",
        )
        parts = [f"2*({name[0]} >= {level[0][2]})", f"({name[second]} >= {level[second][2]})"]
        parts += [f"({name[third]} <= {level[third][0]})"] if third > 1 else []
        parts += [f"({quote_name(flag)})" for flag in columns.flags[:2]]
        yield ExampleRule(f"{' + '.join(parts)} >= 2 => {positive}", "a score of points")
        yield ExampleRule(
            f"{name[0]} <= {level[0][0]} or {name[second]} <= {level[second][0]} => {negative}",
            "or: two rules at once",
        )
    yield ExampleRule(
        f"{name[0]} >= {level[0][2]} => {positive} worth 20 patients  # why I think so",
        "what the rule counts for, and a note",
    )
    yield ExampleRule(f"{name[0]} in top 10 % => {positive}", "a share of the training rows")
    yield ExampleRule(f"{name[0]} above its median => {positive}", "a number from the data")
    yield ExampleRule(f"{name[0]} <= {level[0][0]} => {negative}", "at most")


def _of_categories(
    lexicon: Lexicon, columns: _Columns, condition: str, positive: str
) -> Iterator[ExampleRule]:
    for group, levels in columns.categories[:1]:
        value = next((level for level in levels if level.lower() != "no"), levels[0])
        yield ExampleRule(
            f"{quote_name(group)} = {quote_name(value)} and {condition} => {positive}",
            "a value of a category",
        )
    several = ((g, levels) for g, levels in columns.categories if len(levels) > 2)
    for group, levels in islice(several, 1):
        order = lexicon.order(group)
        name = quote_name(group)
        if order is not None and order.ranked:
            text = f"{name} >= {quote_name(order.levels[1])} => {positive}"
            yield ExampleRule(text, "a category whose values have an order")
        else:
            both = ", ".join(map(quote_name, levels[:2]))
            yield ExampleRule(f"{name} in {{{both}}} => {positive}", "one of several values")


def _of_block(lexicon: Lexicon, block: str, positive: str) -> Iterator[ExampleRule]:
    assert lexicon.values is not None
    first = int(lexicon.blocks[block][0])
    number = _short(lexicon.values, first, "p75")
    quoted = quote_name(block)
    yield ExampleRule(f"mean({quoted}) >= {number} => {positive}", "the mean of a block")
    if 2 < len(lexicon.blocks[block]) <= 8:
        yield ExampleRule(f"at least 2 of {quoted} > {number} => {positive}", "some of a block")


def _without_numbers(lexicon: Lexicon, columns: _Columns, positive: str) -> Iterator[ExampleRule]:
    flags = [quote_name(flag) for flag in columns.flags[:3]]
    for flag in flags:
        yield ExampleRule(f"{flag} => {positive}", "a column of 0 and 1 holds")
    if len(flags) > 1:
        yield ExampleRule(f"{flags[0]} and not {flags[1]} => {positive}", "one without the other")
        yield ExampleRule(f"at least 2 of ({', '.join(flags)}) => {positive}", "some of several")
    for group, levels in columns.categories[:3]:
        for level in levels[:2]:
            yield ExampleRule(
                f"{quote_name(group)} = {quote_name(level)} => {positive}", "a value of a category"
            )
    if lexicon.values is None:
        for j in range(min(len(lexicon.index), MOST)):
            yield ExampleRule(f"{quote_name(lexicon.index.name(j))} >= 1 => {positive}", "at least")


def _short(values: ColumnValues, j: int, share: str) -> str:
    """A quantile of a column in as few digits as tell it from the others."""
    exact = values.figure(share, j)
    spread = abs(values.figure("p75", j) - values.figure("p25", j)) or abs(exact) or 1.0
    for digits in range(1, 8):
        rounded = float(f"{exact:.{digits}g}")
        if abs(rounded - exact) <= 0.05 * spread:
            return format_number(rounded)
    return format_number(exact)


def manual_text() -> str:
    """Return the manual of the rule language in Markdown; empty where it was not installed."""
    home = Path(__file__).resolve().parents[1]
    for place in (home.parent / MANUAL, home / "bundle" / MANUAL):
        if place.is_file():
            return place.read_text("utf-8")
    return ""
