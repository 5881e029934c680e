"""Blocks of features, told in a line of text instead of 50,000 check boxes.

A definition is a list of items, one a line or separated by commas:

    x101:x150        neighbours, from one column to another
    GENE_*           names with * for anything and ? for one letter
    /^p-3[0-9]=t$/   names that a regular expression finds
    Glucose          a name; in backticks when it holds a comma, a colon or a star
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from typing import Final

import numpy as np
import numpy.typing as npt

from hipad.errors import DataError
from hipad.rules import FeatureIndex

IntArray = npt.NDArray[np.int64]
ITEM: Final = re.compile(r"/(?:[^/\n\\]|\\.)+/|(?:`[^`\n]*`|[^,\n`])+")
QUOTED: Final = re.compile(r"`([^`]*)`")
PLAIN: Final = re.compile(r"[^,:*?`/\s]([^,:*?`\n]*[^,:*?`\s])?")
LONGEST_PATTERN: Final = 200


def find_members(definition: str, index: FeatureIndex) -> IntArray:
    """The columns that a definition means, in order; DataError when an item finds none.

    >>> index = FeatureIndex(["a", "b1", "b2", "c,d"])
    >>> find_members("b*, `c,d`", index).tolist(), find_members("a:b2", index).tolist()
    ([1, 2, 3], [0, 1, 2])
    """
    items = [item.strip() for item in ITEM.findall(definition) if item.strip()]
    if not items:
        raise DataError("expected features, got none: write a range, a pattern or names")
    return np.unique(np.concatenate([_columns(item, index) for item in items]))


def resolve(definitions: Mapping[str, str], index: FeatureIndex) -> tuple[dict, dict[str, str]]:
    """Each block's columns, and for the blocks that do not fit these data why not."""
    found: dict[str, IntArray] = {}
    failed: dict[str, str] = {}
    for name, definition in definitions.items():
        try:
            found[name] = find_members(definition, index)
        except DataError as error:
            failed[name] = str(error)
    return found, failed


def check_name(name: str) -> str:
    """A block's name, tidied; DataError when rules could not use it."""
    name = " ".join(name.split())
    if not name or len(name) > 80 or "`" in name:
        raise DataError("expected a name of 1 to 80 letters without backticks for the block")
    return name


def define(names: Iterable[str]) -> str:
    """The definition that lists these names."""
    return ", ".join(name if PLAIN.fullmatch(name) else f"`{name}`" for name in names)


def define_columns(columns: Sequence[int] | IntArray, names: Sequence[str]) -> str:
    """The shortest definition of some columns: ranges where they are neighbours."""
    columns = np.unique(columns)
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    parts = []
    for run in runs:
        ends = [define([names[j]]) for j in (run[0], run[-1])]
        parts.append(":".join(ends) if len(run) > 2 else define(names[j] for j in run))
    return ", ".join(parts)


def read_blocks(text: str) -> dict[str, str]:
    """Definitions from a file: JSON `{"block": ["feature", ...]}` or lines `block = definition`."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    definitions = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, definition = line.partition("=")
        if not equals or not definition.strip():
            raise DataError(f"expected 'block = features' on line {number}, got {line[:60]!r}")
        definitions[check_name(name)] = definition.strip()
    if not definitions:
        raise DataError("expected blocks, one a line as 'block = features', got none")
    return definitions


def _from_json(text: str) -> dict[str, str]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise DataError(f"expected blocks as JSON, got text that is not JSON: {error}") from error
    lists = isinstance(content, dict) and all(
        isinstance(members, list) and members for members in content.values()
    )
    if not lists:
        raise DataError('expected blocks as {"block": ["feature", ...]}, got something else')
    return {check_name(name): define(map(str, members)) for name, members in content.items()}


def _columns(item: str, index: FeatureIndex) -> IntArray:
    bare = QUOTED.sub("", item)
    if item.startswith("/") and item.endswith("/") and len(item) > 2:
        return _matching(_compiled(item[1:-1]), item, index)
    if ":" in bare:
        return _span(item, index)
    if not QUOTED.search(item) and ("*" in item or "?" in item):
        return _matching(re.compile(translate(item)), item, index)
    return np.array([_position(item, index)])


def _compiled(pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST_PATTERN:
        raise DataError(
            f"expected a pattern of at most {LONGEST_PATTERN} letters, got a longer one"
        )
    try:
        return re.compile(pattern)
    except re.error as error:
        raise DataError(f"expected a regular expression, got /{pattern}/: {error}") from error


def _matching(pattern: re.Pattern[str], item: str, index: FeatureIndex) -> IntArray:
    names = (index.name(j) for j in range(len(index)))
    columns = np.array([j for j, name in enumerate(names) if pattern.search(name)], dtype=np.int64)
    if not columns.size:
        raise DataError(f"expected features like {item!r}, found none: check the pattern")
    return columns


def _span(item: str, index: FeatureIndex) -> IntArray:
    ends = re.fullmatch(r"\s*(`[^`]*`|[^`:]+?)\s*:\s*(`[^`]*`|[^`:]+?)\s*", item)
    if ends is None:
        raise DataError(f"expected a range as 'first:last', got {item!r}")
    first, last = (_position(end, index) for end in ends.groups())
    if first > last:
        raise DataError(f"expected the first column of {item!r} to come before the last one")
    return np.arange(first, last + 1)


def _position(name: str, index: FeatureIndex) -> int:
    name = QUOTED.sub(r"\1", name.strip())
    found = index.position(name)
    if found is None:
        near = index.nearest(name)
        remedy = f"did you mean {near[0]!r}?" if near else "search for it in the table of features"
        raise DataError(f"expected a feature, got {name!r}: {remedy}")
    return found
