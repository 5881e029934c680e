"""What the data say while rules are compiled: names, categories, training values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import gcd
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.data.preprocessing import MissingValues
from hipad.exceptions import RuleError
from hipad.rules.ast import Condition, FeatureSpan, Name, Side, Term
from hipad.rules.compiled_rule import comparison_tolerance, same_in_single
from hipad.rules.functions import find_function
from hipad.rules.lexer import LevelOrder, quote_name, rule_error
from hipad.rules.names import (
    FeatureIndex,
    block_for_feature,
    by_beginning,
    folded,
    squashed,
)
from hipad.utils import FloatArray, IntArray, listed

# --------------------------------------------------------------------------------------------------
# What the training rows say of a few columns: percentiles, mean, spread, and which values occur.
#
# Rules learn numbers such as p90(x) from the rows that a model is fitted on and from no others.
# Only the columns that a rule names are ever touched.


_SAME: Final = 1e-12
_AT_ONCE: Final = 256  # columns added up at a time
_LARGEST_WHOLE: Final = 2.0**40


class ColumnValues:
    """Columns of training rows, looked at one by one and remembered; without values in `gaps`.

    >>> values = ColumnValues([[0.0, 1.5], [1.0, 2.5], [4.0, 3.5]])
    >>> values.statistic("median", 1), values.is_whole(0), values.lowest(1)
    (2.5, True, 1.5)
    """

    def __init__(self, X: Any, gaps: MissingValues | None = None) -> None:
        if isinstance(X, sparse.sparray | sparse.spmatrix):
            self._X: Any = X if X.format == "csc" else X.tocsr()
        else:
            self._X = np.asarray(X)
        self._gaps = gaps if gaps else None
        self._columns: dict[int, FloatArray] = {}
        self._distinct: dict[int, FloatArray] = {}

    @property
    def n_features(self) -> int:
        return int(self._X.shape[1])

    def column(self, j: int) -> FloatArray:
        """Return the known values of a column."""
        if j not in self._columns:
            part = self._X[:, [j]] if sparse.issparse(self._X) else self._X[:, j]
            dense = part.toarray().ravel() if sparse.issparse(part) else part
            values = np.asarray(dense, dtype=np.float64)
            known = np.isfinite(values)
            if self._gaps is not None:
                known &= ~self._gaps.rows([j])
            self._columns[j] = values[known]
        return self._columns[j]

    def distinct(self, j: int) -> FloatArray:
        """Return the different values of a column, in order."""
        if j not in self._distinct:
            self._distinct[j] = np.unique(self.column(j))
        return self._distinct[j]

    def lowest(self, j: int) -> float:
        """Return the smallest value of a column; nan where none is known."""
        values = self.distinct(j)
        return float(values[0]) if len(values) else np.nan

    def highest(self, j: int) -> float:
        """Return the largest value of a column; nan where none is known."""
        values = self.distinct(j)
        return float(values[-1]) if len(values) else np.nan

    def is_flag(self, j: int) -> bool:
        """Return whether the column holds 0 and 1 only."""
        values = self.distinct(j)
        return bool(len(values)) and bool(np.isin(values, (0.0, 1.0)).all())

    def is_whole(self, j: int) -> bool:
        """Return whether the column holds whole numbers only."""
        values = self.distinct(j)
        sizes = np.abs(values)
        return bool(len(values)) and bool((values % 1 == 0).all() and sizes.max() < _LARGEST_WHOLE)

    def statistic(self, function: str, j: int) -> float:
        """Return the mean, median, sd or percentile of a column; nan if it has no values."""
        found = find_function(function)
        assert found is not None
        assert found.statistic is not None
        values = self.column(j)
        return found.statistic(values) if len(values) else math.nan

    def strict_bound(self, columns: IntArray, weights: FloatArray, bound: float) -> float:
        """Return the bound of sum < bound as one of sum <= ..., which no patient on the border
        meets.

        On whole numbers it moves by half a step always. Elsewhere it moves half-way to the next
        sum that a training row has, if one lies on the border, and else stays.
        """
        if not len(columns):
            return bound
        step = _step(weights) if all(map(self.is_whole, columns)) else 0.0
        if step:
            return bound - step / 2 if _is_multiple(bound, step) else bound
        sums, on_border = self._sums(columns, weights, bound)
        if not on_border.any():
            return bound
        below = sums[~on_border & (sums < bound)]
        if len(below):
            return (float(below.max()) + bound) / 2
        gaps = np.diff(np.unique(sums[~on_border]))
        return bound - float(gaps.min() if len(gaps) else np.abs(weights).max()) / 2

    def _sums(
        self, columns: IntArray, weights: FloatArray, bound: float
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the sum in each row that has all values, and whether it lies on the bound."""
        sums, sizes = np.zeros(self._X.shape[0]), np.zeros(self._X.shape[0])
        step = len(columns) if sparse.issparse(self._X) else _AT_ONCE
        for k in range(0, len(columns), step):
            part = self._X[:, columns[k : k + step]]
            sums += part @ weights[k : k + step]
            sizes += abs(part) @ np.abs(weights[k : k + step])
        known = np.isfinite(sums)
        if self._gaps is not None:
            known &= ~self._gaps.rows(columns)
        sums, sizes = sums[known], sizes[known]
        on_border = np.abs(sums - bound) <= comparison_tolerance(sizes, bound)
        if len(columns) == 1:
            on_border |= same_in_single(sums / weights[0], bound / float(weights[0]))
        return sums, on_border


def _step(weights: FloatArray) -> float:
    """Return the step in which a sum of whole numbers moves; 0 if there is none to speak of."""
    unit = float(np.abs(weights).min())
    ratios = weights / unit if unit else weights
    if not unit or np.abs(ratios).max() >= _LARGEST_WHOLE:
        return 0.0
    whole = ratios.round()
    if (np.abs(ratios - whole) <= _SAME * np.abs(ratios)).all():
        return unit
    if (weights % 1 == 0).all() and np.abs(weights).max() < _LARGEST_WHOLE:
        return float(reduce(gcd, [abs(int(weight)) for weight in weights]))
    return 0.0


def _is_multiple(bound: float, step: float) -> bool:
    steps = bound / step
    return abs(steps) < _LARGEST_WHOLE and abs(steps - round(steps)) <= 1e-9


def as_values(values: Any) -> ColumnValues | None:
    """Return training rows as their columns' values; None if they are not known."""
    return values if values is None or isinstance(values, ColumnValues) else ColumnValues(values)


# --------------------------------------------------------------------------------------------------
# The order of a category's values, where their words tell it: I, II, III; low, medium, high.


_ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8}
# Values that have no place in an order: a comparison leaves them out.
UNPLACED: Final = frozenset(
    [
        "n/a", "na", "nan", "null", "missing", "unknown", "other", "not stated", "not available",
        "not applicable", "not known", "not reported", "undefined", "unspecified", "refused", "?",
    ]
)  # fmt: skip
# Scales from the lowest to the highest; words in one place mean the same. Then which end is worse.
_SCALES: Final = tuple(
    ([tuple(place.split("|")) for place in text.split(" < ")], worse)
    for text, worse in (
        ("none|absent|no < very low|minimal|negligible < low < medium|moderate|intermediate|normal|"
         "average|middle|mid < high < very high < extreme|critical", ""),
        ("none|absent|no|healthy|normal < minimal|trace|borderline < very mild < mild|slight|minor "
         "< moderate|intermediate < severe|major|serious < very severe|critical|life-threatening "
         "< fatal|dead", "up"),
        ("never|none < rarely|seldom < sometimes|occasionally|occasional < often|frequently|"
         "frequent|usually < always|daily", ""),
        ("never < former|ex|past|quit < current|active|yes", "up"),
        ("tiny|very small|xs < small|s < medium|m < large|l < very large|huge|xl", ""),
        ("very poor|very bad < poor|bad < fair|average|acceptable|ok < good < very good|great < "
         "excellent|outstanding", "down"),
        ("none|no education|illiterate < primary|elementary|basic < secondary|high school|middle "
         "school < tertiary|college|university|bachelor < master|graduate|postgraduate < "
         "doctorate|phd|doctoral", "down"),
        ("strongly disagree < disagree < neutral|neither|undecided < agree < strongly agree", ""),
        ("very dissatisfied < dissatisfied|unsatisfied < neutral < satisfied < very satisfied",
         "down"),
        ("very slow < slow < medium|normal|moderate < fast < very fast", ""),
        ("early|initial < mid|middle|intermediate < late < advanced|end|terminal", "up"),
        ("infant|baby < child < teen|teenager|adolescent < young adult|young|youth < adult|"
         "middle-aged|middle aged < senior|elderly|old|older", ""),
        ("dry < damp < wet", ""),
        ("cold < cool < mild < warm < hot", ""),
        ("benign < borderline < malignant", "up"),
        ("ok|normal|good < info < warning|warn < error|alarm < critical|fatal|failure", "up"),
    )
)  # fmt: skip
_RATINGS: Final = ["D", "C", "CC", "CCC", "B", "BB", "BBB", "A", "AA", "AAA"]  # of debtors
_SIZED: Final = re.compile(r"(?P<head>[^\d<>≤≥]*?)\s*(?P<sign>[<>≤≥]=?|under|over|up to)?\s*[$€£]?"
                           r"(?P<low>\d+(?:[.,]\d+)*)\s*(?:k\b)?\s*(?P<tail>.*)")  # fmt: skip
_WORDS: Final = re.compile(r"[^\W\d_]+")
_SUBSTAGE: Final = re.compile(
    r"(?P<head>(?:grade|stage|class|level)\s*|[a-z]{1,2}?(?=\d))?(?P<number>\d{1,2}|[ivx]+)"
    r"\s*(?P<letter>[a-d])?"
)


def level_rank(level: str) -> int | None:
    """Return the place of a value that is a number or a Roman numeral, also after a letter:
    G2, T3.
    """
    bare = re.sub(r"^(?:grade|stage|class|level|[a-z](?=\d))\s*", "", level)
    if bare in _ROMAN:
        return _ROMAN[bare]
    return int(bare) if bare.isdecimal() and len(bare) < 9 else None


def level_order(levels: Sequence[str]) -> LevelOrder | None:
    """Return the values in their order, or None where their words do not tell it.

    >>> level_order(["high", "low", "medium", "unknown"]).levels
    ('low', 'medium', 'high')
    >>> level_order(["18-24", "65+", "25-64"]).levels
    ('18-24', '25-64', '65+')
    """
    placed = [level for level in levels if level.lower() not in UNPLACED]
    if len(placed) < 2:
        return None
    ranks = [level_rank(level.lower()) for level in placed]
    if None not in ranks and len(set(ranks)) == len(ranks):
        return LevelOrder(_sorted(placed, [float(rank or 0) for rank in ranks]), "up")
    if (sizes := _sizes(placed)) is not None:
        return LevelOrder(_sorted(placed, sizes))
    if (parts := _substages(placed)) is not None:
        return LevelOrder(_sorted(placed, parts), "up")
    for scale, worse in _SCALES:
        places = [_place(level.lower(), scale) for level in placed]
        if None not in places and len(set(places)) == len(places):
            return LevelOrder(_sorted(placed, [float(place or 0) for place in places]), worse)
    letters = [level.upper() for level in placed]
    from_a = [chr(ord("A") + k) for k in range(len(letters))]
    if len(letters) <= 26 and sorted(letters) == from_a:
        return LevelOrder(_sorted(placed, list(map(ord, letters))), "up", ranked=False)
    if set(letters) <= set(_RATINGS) and any(len(level) > 1 for level in letters):
        return LevelOrder(_sorted(placed, [float(_RATINGS.index(r)) for r in letters]), "down")
    return None


def _sorted(levels: Sequence[str], ranks: Sequence[float]) -> tuple[str, ...]:
    return tuple(level for _, level in sorted(zip(ranks, levels, strict=True)))


def _place(level: str, scale: list[tuple[str, ...]]) -> int | None:
    return next((k for k, words in enumerate(scale) if level in words), None)


def _substages(levels: Sequence[str]) -> list[float] | None:
    """Return the places of numbers some of which have a letter behind: G3a, IIB, T1c, 4."""
    found: list[float] = []
    heads = set()
    for level in levels:
        match = _SUBSTAGE.fullmatch(level.lower())
        if match is None:
            return None
        number = level_rank(match["number"])
        if number is None:
            return None
        heads.add((match["head"] or "").strip())
        found.append(number + (ord(match["letter"]) - ord("a") + 1) / 10 if match["letter"]
                     else float(number))  # fmt: skip
    return found if len(heads) == 1 and len(set(found)) == len(found) else None


def _sizes(levels: Sequence[str]) -> list[float] | None:
    """Return where each begins, for ranges such as 18-24, 65+ and < 18; None for other values."""
    found: list[float] = []
    units = set()
    for level in levels:
        match = _SIZED.fullmatch(level.lower())
        if match is None:
            return None
        words = {*_WORDS.findall(match["head"]), *_WORDS.findall(match["tail"])}
        units.add(frozenset(words - {"to", "and", "more", "older", "over", "or", "plus", "less"}))
        low = float(match["low"].replace(",", ""))
        below = match["sign"] in ("<", "≤", "<=", "under", "up to") or "less" in words
        found.append(low - 0.5 if below else low + 0.5 if match["sign"] in (">", "over") else low)
    return found if len(units) == 1 and len(set(found)) == len(found) else None


# --------------------------------------------------------------------------------------------------
# What the names of a text mean on these data: features in any case, blocks, categories, flags.
#
# A one-hot column is called after its category and level, `sex=male`. So `sex = male`, `sex=male`
# and `male` alone mean the same, as long as nothing else is called so.


_CHUNK: Final = re.compile(r"\w+|\W")
_YES: Final = frozenset(["yes", "y", "true", "t", "1", "present", "positive", "pos", "on"])
_NO: Final = frozenset(["no", "n", "false", "f", "0", "absent", "negative", "neg", "off"])


class NameTable:
    """The names of the data, as the reader of a text and the compiler of its rules ask for them."""

    def __init__(
        self,
        index: FeatureIndex,
        blocks: Mapping[str, IntArray] | None = None,
        values: ColumnValues | None = None,
        *,
        asks: bool = True,
        decimal: str = "",
    ) -> None:
        self.decimal = decimal  # mark of the table's numbers; empty where it is not known
        self.asks = asks  # where a unit is not known; a fit on some of the rows does not
        self.index = index
        self.blocks = blocks or {}
        self.values = values
        self._odd_blocks = by_beginning(list(self.blocks))

    @property
    def has_values(self) -> bool:
        """Whether the rows are known, which tell columns of 0 and 1."""
        return self.values is not None

    def name_at(self, text: str, start: int) -> str | None:
        """Return the longest name with blanks or signs that stands in the text from `start` on."""
        chunk = _CHUNK.match(text, start)
        if chunk is None:
            return None
        first = chunk[0].lower()
        for odd in (self.index.punctuated_names.get(first), self._odd_blocks.get(first)):
            for length in odd.lengths if odd is not None else ():
                found = text[start : start + length]
                if odd is None or folded(found) not in odd.names:
                    continue
                known = self.feature(found) is not None or self.block(found) is not None
                known = known or self.group(found) is not None or self._is_level(found)
                if known and not _splits_word(text, start + length):
                    return found
        return None

    def is_name(self, name: str) -> bool:
        """Return whether a feature, block, category or level is called so, in any case."""
        if self.block(name) is not None or self.feature(name) is not None:
            return True
        if self.group(name) is not None or self._levels_called(name):
            return True
        return " " in name and self.flag_column(name) is not None

    def is_value(self, name: str) -> bool:
        """Return whether a value of some category is called so, in any case."""
        return bool(self._levels_called(name))

    def is_measured(self, name: str) -> bool:
        """Return whether a feature or block is called so; a category's value such as F is
        neither.
        """
        return self.block(name) is not None or self.feature(name) is not None

    def is_flag(self, name: str) -> bool:
        """Return whether the name alone is a condition."""
        j = self.feature(name)
        if j is not None:
            return self.is_zero_one(j)
        return self.flag_column(name) is not None

    def is_zero_one(self, j: int) -> bool:
        """Return whether a column is known to hold 0 and 1; a one-hot column is by its name."""
        if self.values is not None:
            return self.values.is_flag(j)
        return "=" in self.index.name(j)[1:-1]

    def block(self, name: str) -> str | None:
        """Return the block of this name, in any case where that is one."""
        if name in self.blocks:
            return name
        if self.index.position(name) is not None:
            return None
        found = [block for block in self.blocks if block.lower() == name.lower()]
        return found[0] if len(found) == 1 and self.feature(name) is None else None

    def feature(self, name: str) -> int | None:
        """Return the column of a name: as it is, in other case, or with other blanks if only one
        fits.
        """
        j = self.index.position(name)
        if j is not None or self.index.names is None:
            return j
        return self.index.loosely(name)

    def group(self, name: str) -> dict[str, int] | None:
        """Return the levels of a category and their columns, or None."""
        key = folded(name.strip())
        found = self.index.categories.get(key)
        if found is None and (own := self.index.squashed_categories.get(squashed(key))):
            return self.index.categories[own]
        return found

    def category(self, name: str) -> str | None:
        """Return the category of this name, as the data write it; None for a feature or a block."""
        levels = self.group(name)
        if levels is None or self.feature(name) is not None or self.block(name) is not None:
            return None
        return self.index.name(next(iter(levels.values()))).partition("=")[0].strip()

    def level_at(self, category: str, text: str, start: int) -> tuple[str, int] | None:
        """Return the longest value of a category that stands in the text from `start` on, and its
        end.
        """
        levels = self.group(category) or {}
        for level in sorted(levels, key=len, reverse=True):
            end = start + len(level)
            if folded(text[start:end]) == level and not _splits_word(text, end):
                return self.index.level_name(levels[level]), end
        return None

    def level_like(self, category: str, text: str) -> str | None:
        """Return the value of a category that a word means: 2 for II, y for yes; None if
        none is.
        """
        j = self.level_column(category, text)
        return None if j is None else self.index.level_name(j)

    def order(self, category: str) -> LevelOrder | None:
        """Return the order of a category's values where it is plain."""
        columns = (self.group(category) or {}).values()
        return level_order([self.index.level_name(j) for j in columns])

    def members(self, block: str) -> tuple[str, ...]:
        """Return the features of a block; none where no block is called so."""
        own = self.block(block)
        return () if own is None else tuple(self.index.name(int(j)) for j in self.blocks[own])

    def is_whole(self, name: str) -> bool:
        """Return whether a feature of this name holds whole numbers only."""
        j = self.feature(name)
        return j is not None and self.values is not None and self.values.is_whole(j)

    def is_zero_one_name(self, name: str) -> bool:
        """Return whether a feature of this name holds 0 and 1 only."""
        j = self.feature(name)
        return j is not None and self.is_zero_one(j)

    def _is_level(self, name: str) -> bool:
        return bool(self._levels_called(name))

    def _levels_called(self, level: str) -> list[int]:
        return self.index.levels.get(folded(level), [])

    def flag_column(self, name: str) -> int | None:
        """Return the column of 0 and 1 that a name alone means: smoker is smoker=yes, male is
        sex=male.
        """
        j = self.feature(name)
        if j is not None:
            return j
        levels = self.group(name)
        if levels is not None:
            found = [column for level, column in levels.items() if level in _YES]
            return found[0] if len(found) == 1 else None
        called = self._levels_called(name)
        if len(called) == 1:
            return called[0]
        first, _, last = name.rpartition(" ")
        for group, level in ((first, last), (last, first)):
            if group and (levels := self.group(group)) and folded(level) in levels:
                return levels[folded(level)]
        return None

    def level_column(self, group: str, level: str) -> int | None:
        """Return the column of one level of a category; numbers and Roman numerals are the same."""
        levels = self.group(group)
        if levels is None:
            return None
        lowered = folded(level.strip())
        if lowered in levels:
            return levels[lowered]
        for known in (_YES, _NO):
            same = [column for other, column in levels.items() if other in known]
            if lowered in known and len(same) == 1:
                return same[0]
        rank = level_rank(lowered)
        same = [column for other, column in levels.items() if rank == level_rank(other) is not None]
        return same[0] if len(same) == 1 else None

    def yes_or_no(self, word: str) -> float | None:
        """1 for yes, 0 for no, None for another word."""
        lowered = word.lower()
        return 1.0 if lowered in _YES else 0.0 if lowered in _NO else None

    def not_a_flag(self, name: str, column: int | None) -> Exception:
        """Return the error for a name that stands alone and is no column of 0 and 1."""
        j = self.feature(name)
        quoted = quote_name(name if j is None else self.index.name(j))
        if (block := self.block(name)) is not None:
            quoted = quote_name(block)
            message = (
                f"{quoted} is a block of features: write mean({quoted}) >= 2, or any({quoted}) >= 2"
            )
        elif j is not None:
            message = (
                f"{quoted} is not known to hold 0 and 1 only: compare it with a number, as in "
                f"{quoted} >= 2"
            )
        elif (levels := self.group(name)) is not None:
            own = [self.index.level_name(column) for column in levels.values()]
            shown = listed([quote_name(level) for level in own], "or", limit=6)
            message = f"{name} has several values: write {name} = {shown}"
        elif called := self._levels_called(name):
            shown = listed([quote_name(self.index.name(c)) for c in called], "or", limit=4)
            message = f"'{name}' stands in more than one category: write {shown}"
        else:
            return self.index.unknown(name, column, self.blocks)
        return rule_error(message, column=column)


def _splits_word(text: str, end: int) -> bool:
    """Return whether a name that ends here would cut a word in two."""
    return (
        0 < end < len(text)
        and text[end - 1].isalnum()
        and (text[end].isalnum() or text[end] == "_")
    )


# --------------------------------------------------------------------------------------------------
# What the data say while conditions are settled: names, blocks, training rows, remarks.


@dataclass(frozen=True)
class Context:
    """What the data say while the conditions of one rule are settled.

    `remarks` collects which numbers were found.
    """

    name_table: NameTable
    remarks: list[str] = field(default_factory=list)

    @property
    def index(self) -> FeatureIndex:
        return self.name_table.index

    @property
    def values(self) -> ColumnValues | None:
        return self.name_table.values


class RowsNeeded(RuleError):
    """A rule learns a number from training rows, and none are known."""


def place_of(condition: Condition) -> int | None:
    """Return the column of the text where a condition begins, if it is known."""
    return next((t.column for side in condition.sides for t in side if t.column), None)


def own_name(context: Context, name: str, column: int | None) -> str:
    """Return the feature's own name; RuleError if there is none, or if a block is called so."""
    j = context.name_table.feature(name)
    if j is not None:
        return context.index.name(context.index.find(context.index.name(j), column))
    if (block := context.name_table.block(name)) is not None:
        raise block_for_feature(block, column)
    if name.lower() in ("nan", "inf", "infinity"):
        raise rule_error(f"'{name}' is no number to compare with: write another", column=column)
    raise context.index.unknown(name, column, context.name_table.blocks)


def member_name(context: Context, name: Name, column: int | None) -> Name:
    """Return a name inside a function: a block, a feature or a range of features."""
    if isinstance(name, FeatureSpan):
        return FeatureSpan(
            own_name(context, name.first, column), own_name(context, name.last, column)
        )
    block = context.name_table.block(name)
    return block if block is not None else own_name(context, name, column)


def is_feature(context: Context, names: tuple[Name, ...]) -> bool:
    """Return whether a group is one feature and no block."""
    (first,) = names if len(names) == 1 else (None,)
    return isinstance(first, str) and context.name_table.block(first) is None


def members_of(context: Context, term: Term) -> list[str]:
    """Return the features of a group, each once."""
    found: dict[str, None] = {}
    for name in term.names:
        if isinstance(name, FeatureSpan):
            first, last = (context.index.find(end) for end in (name.first, name.last))
            found |= dict.fromkeys(context.index.name(j) for j in range(first, last + 1))
        elif name in context.name_table.blocks:
            found |= dict.fromkeys(
                context.index.name(int(j)) for j in context.name_table.blocks[name]
            )
        else:
            found[name] = None
    return list(found)


def lone_name(side: Side) -> str | None:
    """Return the feature that a side is, alone and as it is; else None."""
    if len(side) != 1 or side[0].function or side[0].coefficient != 1.0 or not side[0].names:
        return None
    name = side[0].names[0]
    return name if isinstance(name, str) else None
