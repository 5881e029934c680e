"""Blocks as definitions: text such as `x101:x150, GENE_*`, resolved anew whenever the data change.

`hipad.rules.compiling` reads a definition; here are the files that blocks come in, and names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hipad.arrays import IntArray
from hipad.errors import DataError, HipadError
from hipad.rules import FeatureIndex
from hipad.rules.analysis.budget import Budget
from hipad.rules.compiling.blocks import blocks_text, read_gmt, select_features
from hipad.rules.compiling.patterns import PATIENCE
from hipad.rules.language.spelling import quote_name

MOST_BLOCKS: Final = 10_000  # more than there are gene sets in the usual collections


def find_members(definition: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """The columns that a definition means; HipadError when it means none."""
    columns = select_features(definition, index, budget)
    if not len(columns):
        raise DataError("expected features, got none: write a range, a pattern or names")
    return columns


def resolve(
    definitions: Mapping[str, str], index: FeatureIndex
) -> tuple[dict[str, IntArray], dict[str, str]]:
    """Each block's columns, and for the blocks that do not fit these data why not."""
    if len(definitions) > MOST_BLOCKS:
        raise DataError(
            f"expected at most {MOST_BLOCKS:,} blocks, got {len(definitions):,}: name fewer"
        )
    found: dict[str, IntArray] = {}
    failed: dict[str, str] = {}
    budget = Budget(PATIENCE)
    for name, definition in definitions.items():
        try:
            found[name] = find_members(definition, index, budget)
        except HipadError as error:
            failed[name] = str(error)
    return found, failed


def check_name(name: str) -> str:
    """A block's name, tidied; DataError when rules could not use it."""
    name = " ".join(name.replace("`", "").split())
    if not 1 <= len(name) <= 80:
        raise DataError(f"expected a name of 1 to 80 letters for the block, got {len(name)}")
    return name


def define(names: Iterable[str]) -> str:
    """The definition that lists these names.

    >>> define(["BMI", "p-36=t"])
    'BMI, `p-36=t`'
    """
    return ", ".join(map(quote_name, names))


def define_columns(columns: Sequence[int] | IntArray, index: FeatureIndex) -> str:
    """The shortest definition of some columns: ranges where they are neighbours.

    >>> define_columns([0, 1, 2, 5], FeatureIndex(n_features=9))
    'x0:x2, x5'
    """
    return blocks_text({"block": columns}, index).partition(" = ")[2]


def read_blocks(text: str, index: FeatureIndex) -> dict[str, str]:
    """Definitions from a file: JSON lists, a gene-set file (GMT), or lines `block = features`."""
    if text.lstrip().startswith("{"):
        found = _from_json(text)
    elif "\t" in text and "=" not in text.split("\t", 1)[0]:
        sets = read_gmt(text, index).blocks
        found = {check_name(name): define_columns(sets[name], index) for name in sets}
    else:
        found = _from_lines(text)
    if not found:
        raise DataError("expected blocks, such as 'ABL1 = 1636_g_at, 39730_at', got none")
    return found


def _from_lines(text: str) -> dict[str, str]:
    definitions = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, definition = line.partition("=")
        if not equals or not definition.strip():
            raise DataError(f"expected 'block = features' on line {number}, got {line[:60]!r}")
        definitions[check_name(name)] = definition.strip()
    return definitions


def _from_json(text: str) -> dict[str, str]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected blocks as JSON, got text that is not JSON: {error}") from error
    lists = isinstance(content, dict) and all(
        isinstance(members, list) and members for members in content.values()
    )
    if not lists:
        raise DataError('expected blocks as {"block": ["feature", ...]}, got something else')
    return {check_name(name): define(map(str, members)) for name, members in content.items()}
