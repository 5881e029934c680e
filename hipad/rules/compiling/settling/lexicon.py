"""What the names of a text mean on these data: features in any case, blocks, categories, flags.

A one-hot column is called after its category and level, `sex=male`. So `sex = male`, `sex=male` and
`male` alone mean the same, as long as nothing else is called so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hipad.arrays import IntArray
from hipad.rules.compiling.naming.names import FeatureIndex, folded, squashed
from hipad.rules.compiling.naming.odd_names import odd_by_beginning
from hipad.rules.compiling.settling.level_order import level_order, level_rank
from hipad.rules.compiling.settling.values import ColumnValues
from hipad.rules.language.spelling import quote_name, rule_error
from hipad.rules.language.words.lexing import LevelOrder
from hipad.wording import listed

_CHUNK: Final = re.compile(r"\w+|\W")
_YES: Final = frozenset(["yes", "y", "true", "t", "1", "present", "positive", "pos", "on"])
_NO: Final = frozenset(["no", "n", "false", "f", "0", "absent", "negative", "neg", "off"])


class Lexicon:
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
        self._odd_blocks = odd_by_beginning(list(self.blocks))

    @property
    def has_values(self) -> bool:
        """Whether the rows are known, which tell columns of 0 and 1."""
        return self.values is not None

    def name_at(self, text: str, start: int) -> str | None:
        """The longest name with blanks or signs that stands in the text from `start` on."""
        chunk = _CHUNK.match(text, start)
        if chunk is None:
            return None
        first = chunk[0].lower()
        for odd in (self.index.odd_names.get(first), self._odd_blocks.get(first)):
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
        """Whether a feature, block, category or level is called so, in any case."""
        if self.block(name) is not None or self.feature(name) is not None:
            return True
        if self.group(name) is not None or self._levels_called(name):
            return True
        return " " in name and self.flag_column(name) is not None

    def is_flag(self, name: str) -> bool:
        """Whether the name alone is a condition."""
        j = self.feature(name)
        if j is not None:
            return self.is_zero_one(j)
        return self.flag_column(name) is not None

    def is_zero_one(self, j: int) -> bool:
        """Whether a column is known to hold 0 and 1; a one-hot column is by its name."""
        if self.values is not None:
            return self.values.is_flag(j)
        return "=" in self.index.name(j)[1:-1]

    def block(self, name: str) -> str | None:
        """The block of this name, in any case where that is one."""
        if name in self.blocks:
            return name
        if self.index.position(name) is not None:
            return None
        found = [block for block in self.blocks if block.lower() == name.lower()]
        return found[0] if len(found) == 1 and self.feature(name) is None else None

    def feature(self, name: str) -> int | None:
        """The column of a name: as it is, in other case, or with other blanks if only one fits."""
        j = self.index.position(name)
        if j is not None or self.index.names is None:
            return j
        return self.index.loosely(name)

    def group(self, name: str) -> dict[str, int] | None:
        """The levels of a category and their columns, or None."""
        key = folded(name.strip())
        found = self.index.categories.get(key)
        if found is None and (own := self.index.squashed_categories.get(squashed(key))):
            return self.index.categories[own]
        return found

    def category(self, name: str) -> str | None:
        """The category of this name, as the data write it; None for a feature or a block."""
        levels = self.group(name)
        if levels is None or self.feature(name) is not None or self.block(name) is not None:
            return None
        return self.index.name(next(iter(levels.values()))).partition("=")[0].strip()

    def level_at(self, category: str, text: str, start: int) -> tuple[str, int] | None:
        """The longest value of a category that stands in the text from `start` on, and its end."""
        levels = self.group(category) or {}
        for level in sorted(levels, key=len, reverse=True):
            end = start + len(level)
            if folded(text[start:end]) == level and not _splits_word(text, end):
                return self.index.level_name(levels[level]), end
        return None

    def level_like(self, category: str, text: str) -> str | None:
        """The value of a category that a word means: 2 for II, y for yes; None if none is."""
        j = self.level_column(category, text)
        return None if j is None else self.index.level_name(j)

    def order(self, category: str) -> LevelOrder | None:
        """The order of a category's values where it is plain."""
        columns = (self.group(category) or {}).values()
        return level_order([self.index.level_name(j) for j in columns])

    def members(self, block: str) -> tuple[str, ...]:
        """The features of a block; none where no block is called so."""
        own = self.block(block)
        return () if own is None else tuple(self.index.name(int(j)) for j in self.blocks[own])

    def is_whole(self, name: str) -> bool:
        """Whether a feature of this name holds whole numbers only."""
        j = self.feature(name)
        return j is not None and self.values is not None and self.values.is_whole(j)

    def is_zero_one_name(self, name: str) -> bool:
        """Whether a feature of this name holds 0 and 1 only."""
        j = self.feature(name)
        return j is not None and self.is_zero_one(j)

    def _is_level(self, name: str) -> bool:
        return bool(self._levels_called(name))

    def _levels_called(self, level: str) -> list[int]:
        return self.index.levels.get(folded(level), [])

    def flag_column(self, name: str) -> int | None:
        """The column of 0 and 1 that a name alone means: smoker is smoker=yes, male is sex=male."""
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
        """The column of one level of a category; numbers and Roman numerals are the same."""
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
        """The error for a name that stands alone and is no column of 0 and 1."""
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
    """Whether a name that ends here would cut a word in two."""
    return (
        0 < end < len(text)
        and text[end - 1].isalnum()
        and (text[end].isalnum() or text[end] == "_")
    )
