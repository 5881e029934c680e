"""What a block's definition means: text such as `x101:x150, GENE_*` and the columns it stands for.

A definition lists names, ranges, patterns with * and ?, and regular expressions between slashes,
separated by commas or lines. It is kept as text, so that it can be read anew when the data change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from hipad.arrays import IntArray
from hipad.errors import DataError, HipadError
from hipad.rules.budget import Budget
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.parts import plain_name, range_ends, split_parts
from hipad.rules.compiling.patterns import PATIENCE, glob_columns, regex_columns
from hipad.rules.language.spelling import quote_name, rule_error

MOST_BLOCKS: Final = 10_000  # more than there are gene sets in the usual collections
LONGEST_NAME: Final = 200  # characters; gene sets have names of more than a hundred


def select_features(text: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """The columns that a text describes: names, ranges, globs and /expressions/, each once.

    RuleError if the patterns take longer than the budget, or `PATIENCE` without one.

    >>> index = FeatureIndex(["ABL1", "ABL2", "JAK1", "p-1=a"])
    >>> select_features("JAK*, ABL1:ABL2", index)
    array([0, 1, 2])
    >>> select_features("/^ABL/, `p-1=a`", index)
    array([0, 1, 3])
    """
    parts = dict.fromkeys(part for line in text.splitlines() for part in split_parts(line))
    budget = budget or Budget(PATIENCE)
    chosen = np.zeros(len(index), dtype=bool)
    for part in parts:
        chosen[_select_part(part, index, budget)] = True
    return np.flatnonzero(chosen)


def _select_part(part: str, index: FeatureIndex, budget: Budget) -> IntArray | slice:
    if len(part) > 2 and part[0] == part[-1] == "/":
        return regex_columns(part[1:-1], index, budget)
    name = plain_name(part)
    if index.position(name) is not None:
        return np.array([index.find(name)])
    if part[0] != "`" and set(part) & set("*?["):
        return glob_columns(part, index, budget)
    if ends := range_ends(part):
        first, last = map(index.find, ends)
        if first > last:
            raise rule_error(f"the range {part} runs backwards: exchange its ends")
        return slice(first, last + 1)
    return np.array([index.find(name)])


def block_members(definition: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """The columns that a definition means; RuleError when it means none."""
    columns = select_features(definition, index, budget)
    if not len(columns):
        raise rule_error("expected features, got none: write a range, a pattern or names")
    return columns


def resolve_definitions(
    definitions: Mapping[str, str], index: FeatureIndex
) -> tuple[dict[str, IntArray], dict[str, str]]:
    """Each block's columns, and for the blocks that do not fit these data the reason."""
    check_number(len(definitions))
    found: dict[str, IntArray] = {}
    failed: dict[str, str] = {}
    budget = Budget(PATIENCE)
    for name, definition in definitions.items():
        try:
            found[name] = block_members(definition, index, budget)
        except HipadError as error:
            failed[name] = str(error)
    return found, failed


def check_number(number: int) -> None:
    """DataError if there are more blocks than can be held."""
    if number > MOST_BLOCKS:
        raise DataError(f"expected at most {MOST_BLOCKS:,} blocks, got {number:,}: name fewer")


def block_name(name: str) -> str:
    """A block's name, tidied; DataError when it is empty or too long.

    >>> block_name("  my  `block` ")
    'my block'
    """
    name = " ".join(name.replace("`", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise DataError(
            f"expected a name of 1 to {LONGEST_NAME} letters for the block, got {len(name)}: "
            "choose another"
        )
    return name


def define_columns(columns: Iterable[int], index: FeatureIndex) -> str:
    """The shortest definition of some columns: ranges where they are neighbours.

    >>> define_columns([0, 1, 2, 5], FeatureIndex(n_features=9))
    'x0:x2, x5'
    """
    return ", ".join(_runs(sorted(map(int, columns)), index))


def blocks_text(blocks: Mapping[str, Iterable[int]], index: FeatureIndex) -> str:
    """Blocks as the text of a blocks file, with neighbouring columns as ranges."""
    return "\n".join(
        f"{quote_name(name)} = {define_columns(columns, index)}" for name, columns in blocks.items()
    )


def _runs(columns: list[int], index: FeatureIndex) -> list[str]:
    runs: list[list[int]] = []
    for column in columns:
        if runs and column == runs[-1][-1] + 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    return [text for run in runs for text in _run_text([quote_name(index.name(j)) for j in run])]


def _run_text(names: list[str]) -> list[str]:
    return [f"{names[0]}:{names[-1]}"] if len(names) > 2 else names
