"""Blocks: named groups of features, by list, range, glob, regular expression or gene-set file.

A blocks file has one block a line, its parts separated by commas:

    K1 = x101:x150                 # neighbouring columns
    kinases = ABL1, ABL2, JAK*     # names and a glob
    probes = /^1\\d{3}_at$/        # a regular expression
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from hipad.arrays import IntArray
from hipad.designs import column_moments
from hipad.errors import RuleError
from hipad.rules.analysis.budget import Budget
from hipad.rules.compiling.names import FeatureIndex
from hipad.rules.compiling.parts import listed_names, plain_name, range_ends, split_parts
from hipad.rules.compiling.patterns import PATIENCE, glob_columns, regex_columns
from hipad.rules.language.parsing import split_note
from hipad.rules.language.spelling import on_line, quote_name, rule_error


@dataclass(frozen=True)
class BlockFile:
    """Blocks that were read, and the names in the file that the data do not have."""

    blocks: dict[str, IntArray]
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)


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


def parse_blocks(text: str, index: FeatureIndex) -> dict[str, IntArray]:
    """Read a blocks file; RuleError names the line of a mistake.

    >>> parse_blocks("K1 = x2:x4, x7  # a note", FeatureIndex(n_features=9))
    {'K1': array([2, 3, 4, 7])}
    """
    blocks: dict[str, IntArray] = {}
    budget = Budget(PATIENCE)
    for number, line in enumerate(text.splitlines(), 1):
        body, _ = split_note(line)
        if not body.strip():
            continue
        name, equals, members = body.partition("=")
        if not equals or not name.strip():
            raise rule_error("expected a block such as K1 = x101:x150", (number, 1))
        if plain_name(name) in blocks:
            raise rule_error(f"the block {name.strip()} is given twice: rename one", (number, 1))
        try:
            blocks[plain_name(name)] = select_features(members, index, budget)
        except RuleError as error:
            raise on_line(rule_error(str(error), column=len(name) + 2), number) from None
    return blocks


def block_from_list(text: str, index: FeatureIndex) -> tuple[IntArray, tuple[str, ...]]:
    """A pasted or uploaded list of names, apart by lines, commas, tabs or blanks.

    Returns the columns found and the names that are not features.
    """
    return _known(listed_names(text), index)


def _known(names: Iterable[str], index: FeatureIndex) -> tuple[IntArray, tuple[str, ...]]:
    columns = {name: index.position(name) for name in dict.fromkeys(names)}
    found = np.unique([j for j in columns.values() if j is not None]).astype(np.int64)
    return found, tuple(name for name, j in columns.items() if j is None)


def read_gmt(text: str, index: FeatureIndex, *, smallest: int = 1) -> BlockFile:
    """Gene sets from a GMT file: name, description and genes, apart by tabs, one set a line."""
    blocks: dict[str, IntArray] = {}
    missing: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, *rest = line.rstrip("\n").split("\t")
        if len(rest) < 2:
            message = "expected a gene set: name, description and genes, separated by tabs"
            raise rule_error(message, (number, 1))
        genes = [gene.strip() for gene in rest[1:] if gene.strip()]
        columns, absent = _known(genes, index)
        if len(columns) >= smallest:
            blocks[name.strip()] = columns
        if absent:
            missing[name.strip()] = absent
    return BlockFile(blocks, missing)


def block_overlaps(blocks: Mapping[str, IntArray]) -> list[tuple[str, str, IntArray]]:
    """Pairs of blocks with the columns that they share, largest share first."""
    pairs = itertools.combinations(blocks, 2)
    shared = [(a, b, np.intersect1d(blocks[a], blocks[b])) for a, b in pairs]
    return sorted((pair for pair in shared if len(pair[2])), key=lambda pair: -len(pair[2]))


def blocks_text(blocks: Mapping[str, Iterable[int]], index: FeatureIndex) -> str:
    """Blocks as the text of a blocks file, with runs of columns as ranges."""
    return "\n".join(
        f"{quote_name(name)} = {', '.join(_runs(sorted(map(int, columns)), index))}"
        for name, columns in blocks.items()
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


def suggest_blocks(
    X: Any, *, least_correlation: float = 0.6, smallest: int = 3, most_features: int = 2_000
) -> dict[str, IntArray]:
    """Groups of features that rise and fall together, among those that vary most.

    Only `most_features` columns are compared, so no matrix of all pairs is built.
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    _, spread = column_moments(X)
    varying = np.sort(np.argsort(-spread, kind="stable")[:most_features])
    varying = varying[spread[varying] > 0]
    part = X[:, varying]
    dense = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    dense = np.nan_to_num(dense - np.nanmean(dense, axis=0)) if dense.size else dense
    dense /= np.maximum(np.linalg.norm(dense, axis=0), np.finfo(float).tiny)
    _, groups = connected_components(sparse.csr_array(dense.T @ dense >= least_correlation))
    sizes = np.bincount(groups, minlength=1)
    large = [g for g in np.argsort(-sizes, kind="stable") if sizes[g] >= smallest]
    members = sorted((varying[groups == g] for g in large), key=lambda columns: int(columns[0]))
    return {f"B{n}": columns for n, columns in enumerate(members, 1)}
