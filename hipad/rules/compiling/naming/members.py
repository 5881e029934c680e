"""The columns of blocks, whether given as names, numbers or one true or false per column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from hipad.arrays import IntArray
from hipad.errors import RuleError
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.language.spelling import quote_name, rule_error

Blocks = Mapping[str, Iterable[int] | Iterable[str]]


def resolve_blocks(blocks: Blocks | None, index: FeatureIndex) -> dict[str, IntArray]:
    """Each block as sorted column numbers, however its features are given."""
    return {
        str(name): block_columns(str(name), members, index)
        for name, members in (blocks or {}).items()
    }


def block_columns(block: str, members: Iterable[Any], index: FeatureIndex) -> IntArray:
    """The columns of a block: names, numbers that count from zero, or one true or false per column.

    >>> block_columns("K", ["a", "c"], FeatureIndex(["a", "b", "c"]))
    array([0, 2])
    >>> block_columns("K", np.array([True, False, True]), FeatureIndex(["a", "b", "c"]))
    array([0, 2])
    """
    if isinstance(members, str | Mapping) or not isinstance(members, Iterable):
        raise _wrong_members(block, f"{members!r:.40}")
    items: Any = members if isinstance(members, np.ndarray) else list(members)
    if not isinstance(items, np.ndarray) or items.dtype.kind not in "iub":
        items = _one_kind(block, list(items), index)
    columns = np.asarray(items)
    if columns.ndim != 1:
        raise _wrong_members(block, "a table")
    if columns.dtype.kind == "b":
        if len(columns) != len(index):
            raise rule_error(
                f"block {quote_name(block)} has {len(columns):,} true or false values for "
                f"{len(index):,} columns: give one per column, or column numbers"
            )
        return np.flatnonzero(columns)
    columns = each_once(columns.astype(np.int64))
    if len(columns) and not 0 <= columns[0] <= columns[-1] < len(index):
        raise rule_error(
            f"block {quote_name(block)} has a column outside 0 to {len(index) - 1:,}: "
            "give column numbers that count from zero"
        )
    return columns


def _one_kind(block: str, items: list[Any], index: FeatureIndex) -> IntArray | npt.NDArray[Any]:
    """Members of one kind as an array; RuleError for a mixture and for anything else."""
    if all(isinstance(item, str) for item in items):
        return np.array([index.find(name) for name in items], dtype=np.int64)
    if all(isinstance(item, bool | np.bool_) for item in items):
        return np.array(items, dtype=bool)
    for item in items:
        if isinstance(item, bool | np.bool_) or not isinstance(item, Real):
            raise _wrong_members(block, f"{item!r:.40} among others")
        if not _is_near(item, len(index)):
            raise _wrong_members(block, f"{item!r:.40}")
    return np.array([int(item) for item in items], dtype=np.int64)


def _is_near(number: Any, most: int) -> bool:
    """True for a whole number of about the size of a column's; others are told by their value."""
    return bool(-1 <= number <= most and number % 1 == 0)


def _wrong_members(block: str, found: str) -> RuleError:
    return rule_error(
        f"expected in block {quote_name(block)} the names of features or the numbers of columns, "
        f"got {found}: give names only, or whole numbers that count from zero"
    )


def block_for_feature(block: str, column: int | None) -> RuleError:
    """What is said where a block stands in the place of one feature."""
    quoted = quote_name(block)
    return rule_error(
        f"{quoted} is a block of features: write mean({quoted}), sum({quoted}), "
        f"min({quoted}) or max({quoted})",
        column=column,
        suggestion=f"mean({quoted})",
    )


def each_once(columns: IntArray) -> IntArray:
    """Sorted columns without repeats; columns that are so already are given back as they are."""
    disorder = np.count_nonzero(columns[1:] <= columns[:-1])
    return np.unique(columns) if disorder else columns
