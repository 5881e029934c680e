"""Files with blocks (named groups of features), read by the app and by the command line alike.

Three kinds are told apart by how they begin. Lines:

    K1 = x101:x150                 # neighbouring columns
    kinases = ABL1, ABL2, JAK*     # names and a pattern
    probes = /^1\\d{3}_at$/        # a regular expression

JSON, with the names or the numbers of columns, counted from zero:

    {"kinases": ["ABL1", "ABL2"], "K1": [101, 102, 103]}

Gene sets (GMT): name, description and genes, separated by tabs, one set per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from hipad.arrays import IntArray
from hipad.errors import DataError, RuleError
from hipad.rules.budget import Budget
from hipad.rules.compiling.definitions import (
    block_members,
    block_name,
    check_number,
    define_columns,
)
from hipad.rules.compiling.naming.members import block_columns
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.parts import plain_name
from hipad.rules.compiling.patterns import PATIENCE
from hipad.rules.language.parsing import split_note
from hipad.rules.language.spelling import on_line, rule_error
from hipad.wording import count, listed

SHOWN = 5  # unknown genes that are named
_LINE = re.compile(r"(\s*+(?:`(?:[^`]++|``)++`\s*+|[^=`]*+))=")


@dataclass(frozen=True)
class BlockFile:
    """Blocks that were read, as columns and as text, and the genes that the data do not have.

    `missing` holds the unknown genes of each gene set, also of a set that is left out because all
    its genes are unknown.
    """

    columns: dict[str, IntArray] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def remarks(self) -> list[str]:
        """What of the file could not be used, in sentences."""
        if not self.missing:
            return []
        genes = list(dict.fromkeys(gene for absent in self.missing.values() for gene in absent))
        shown = listed(tuple(genes), limit=SHOWN)
        few = count(len(genes), "gene")
        found = [f"{few} of {count(len(self.missing), 'set')} not in the data: {shown}"]
        left = len(set(self.missing) - set(self.columns))
        if left:
            found.append(f"{count(left, 'set')} without any gene in the data left out")
        return found


def read_blocks(text: str, index: FeatureIndex) -> BlockFile:
    """Read a file with blocks; HipadError says what is wrong with it, and on which line.

    >>> file = read_blocks("K1 = x2:x4, x7  # a note", FeatureIndex(n_features=9))
    >>> file.columns, file.definitions
    ({'K1': array([2, 3, 4, 7])}, {'K1': 'x2:x4, x7'})
    >>> read_blocks("SET\\tabout\\tABL1\\tTP53", FeatureIndex(["ABL1"])).remarks
    ['1 gene of 1 set not in the data: TP53']
    """
    found = _reader(text)(text.removeprefix("\ufeff"), index)
    check_number(len(found.columns))
    if not found.columns:
        raise rule_error(_nothing(found))
    return found


def _nothing(found: BlockFile) -> str:
    if found.missing:
        return (
            f"none of the genes in {count(len(found.missing), 'set')} is a feature of the data: "
            "name the columns as the gene sets name genes"
        )
    return "expected blocks, such as K1 = x101:x150, got none: write one per line"


def _reader(text: str) -> Callable[[str, FeatureIndex], BlockFile]:
    """The reader for a text that begins like this."""
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return _read_json
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    name, *rest = next(lines, "").split("\t")
    is_gmt = len(rest) > 1 and "=" not in name and not rest[0].lstrip().startswith("=")
    return _read_gmt if is_gmt else _read_lines


def _read_lines(text: str, index: FeatureIndex) -> BlockFile:
    found = BlockFile()
    budget = Budget(PATIENCE)
    for number, line in enumerate(text.splitlines(), 1):
        body, _ = split_note(line)
        if not body.strip():
            continue
        head = _LINE.match(body)
        if head is None or not head[1].strip():
            raise rule_error("expected a block such as K1 = x101:x150", (number, 1))
        name = _new_name(plain_name(head[1]), found, number)
        definition = body[head.end() :].strip()
        try:
            found.columns[name] = block_members(definition, index, budget)
        except RuleError as error:
            raise on_line(rule_error(str(error), column=head.end() + 1), number) from None
        found.definitions[name] = definition
    return found


def _new_name(text: str, found: BlockFile, line: int | None = None) -> str:
    """The tidied name of a block; RuleError if it cannot be used or another block has it."""
    place = None if line is None else (line, 1)
    try:
        name = block_name(text)
    except DataError as error:
        raise rule_error(str(error), place) from None
    if name in found.columns or name in found.missing:
        raise rule_error(f"the block {name} is given twice: rename one", place)
    return name


def _read_gmt(text: str, index: FeatureIndex) -> BlockFile:
    """Gene sets; genes that are not in the data are counted, not refused."""
    found = BlockFile()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *rest = line.split("\t")
        if len(rest) < 2:
            message = "expected a gene set: name, description and genes, separated by tabs"
            raise rule_error(message, (number, 1))
        name = _new_name(name, found, number)
        genes = [gene.strip() for gene in rest[1:] if gene.strip()]
        columns, absent = _known(genes, index)
        if len(columns):
            _take(found, name, columns, index)
        if absent:
            found.missing[name] = absent
    return found


def _known(names: Iterable[str], index: FeatureIndex) -> tuple[IntArray, tuple[str, ...]]:
    """The columns of the names that are features, and the other names."""
    columns = {name: index.position(name) for name in dict.fromkeys(names)}
    found = np.unique([j for j in columns.values() if j is not None]).astype(np.int64)
    return found, tuple(name for name, j in columns.items() if j is None)


def _read_json(text: str, index: FeatureIndex) -> BlockFile:
    try:
        content = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        raise rule_error(
            f"expected blocks as JSON, got a text that is not whole JSON ({error}): correct it"
        ) from None
    if not text.lstrip().startswith("{") or not all(isinstance(m, list) for _, m in content):
        raise rule_error('expected blocks as {"name": [features, ...]}, got something else')
    found = BlockFile()
    for key, members in content:
        name = _new_name(key, found)
        columns = block_columns(name, members, index)
        if not len(columns):
            raise rule_error(f"the block {name} has no features: name some, or leave it out")
        _take(found, name, columns, index)
    return found


def _take(found: BlockFile, name: str, columns: IntArray, index: FeatureIndex) -> None:
    found.columns[name] = columns
    found.definitions[name] = define_columns(columns, index)
