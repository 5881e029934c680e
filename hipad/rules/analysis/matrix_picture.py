"""The picture of all rules at once: B and d as they stand in the paper's B x <= d.

All conditions stand on the same columns. Features that no row tells apart share a column; where
there would still be too many, neighbours are put together in bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.rules.compiling.compiled import CompiledRule

MOST_COLUMNS: Final = 60


@dataclass(frozen=True, eq=False)
class MatrixColumn:
    """Features that stand together: one, a block or a part of it, or a bin of neighbours."""

    name: str
    features: IntArray


@dataclass(frozen=True, eq=False)
class MatrixPicture:
    """B and d of all conditions; `values` are means over the features of a column."""

    labels: tuple[str, ...]  # of each row: its rule
    conditions: tuple[str, ...]
    outcomes: tuple[str, ...]
    columns: tuple[MatrixColumn, ...]
    values: FloatArray  # rows x columns
    named: FloatArray  # how many features of the column the row names
    lowest: FloatArray  # among these
    highest: FloatArray
    d: FloatArray
    binned: bool  # whether columns hold features that rows do tell apart

    def latex(self) -> str:
        """B and d as an array, with the names of the columns above."""
        head = " & ".join(_latex_name(column) for column in self.columns)
        lines = [
            rf"\begin{{array}}{{l|{'r' * len(self.columns)}|r}}",
            rf" & {head} & d \\ \hline",
        ]
        for label, row, bound in zip(self.labels, self.values, self.d, strict=True):
            cells = " & ".join("" if value == 0 else f"{value:.6g}" for value in row)
            lines.append(rf"\text{{{_escaped(label)}}} & {cells} & {bound:.6g} \\")
        return "\n".join([*lines, r"\end{array}", ""])


def matrix_picture(
    rules: Sequence[CompiledRule],
    *,
    blocks: Mapping[str, IntArray] | None = None,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
    most: int = MOST_COLUMNS,
) -> MatrixPicture:
    """B x <= d of these rules, in the user's units or, with mean and scale, in those of the solver.

    >>> from hipad.rules.compiling.compile import compile_rules
    >>> (rule,) = compile_rules("x0 + x1 >= 2 => positive", n_features=4)
    >>> shown = matrix_picture([rule])
    >>> [column.name for column in shown.columns], shown.values, shown.d
    (['x0', 'x1'], array([[-1., -1.]]), array([-2.]))
    """
    user = sparse.vstack([rule.B for rule in rules], format="csr")
    columns, binned = _columns(rules, user, blocks or {}, most)
    told = [rule.scaled(mean, scale) for rule in rules]
    B = sparse.csr_array(sparse.vstack([rule.B for rule in told]))
    values, named, lowest, highest = _pooled(B, columns)
    return MatrixPicture(
        labels=tuple(rule.label for rule in rules for _ in rule.d),
        conditions=tuple(
            rule.sources[row] if rule.sources else rule.rule.premise
            for rule in rules
            for row in range(len(rule.d))
        ),
        outcomes=tuple(rule.rule.outcome for rule in rules for _ in rule.d),
        columns=columns,
        values=values,
        named=named,
        lowest=lowest,
        highest=highest,
        d=np.concatenate([rule.d for rule in told]) + 0.0,
        binned=binned,
    )


def _columns(
    rules: Sequence[CompiledRule],
    B: sparse.csr_array,
    blocks: Mapping[str, IntArray],
    most: int,
) -> tuple[tuple[MatrixColumn, ...], bool]:
    """The features that rows name; those of one block and of equal weights together."""
    features = np.unique(B.indices).astype(np.int64)
    block_of = np.full(features.size, -1)
    for k, members in reversed(list(enumerate(blocks.values()))):
        block_of[np.isin(features, members)] = k
    # Columns that are equal have the same sum with numbers that are in no relation to each other.
    mark = (B.T @ np.random.default_rng(0).standard_normal(B.shape[0]))[features]
    own = np.where(block_of < 0, features, -1)
    _, first, which = np.unique(
        np.column_stack([block_of, own, mark]), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first, kind="stable")
    groups = [features[which.ravel() == k] for k in order] if len(order) <= most else []
    if not groups:
        groups = [part for part in np.array_split(features, most) if part.size]
    names = list(blocks)
    index = rules[0].features
    name_of = index.name if index is not None else "x{}".format
    whole = {k: int((block_of == k).sum()) for k in range(len(names))}

    def named(group: IntArray) -> str:
        k = int(block_of[np.searchsorted(features, group[0])])
        if len(group) > 1 and k >= 0 and len(group) == whole[k]:
            return names[k]
        if len(group) > 1:
            return f"{name_of(int(group[0]))} … {name_of(int(group[-1]))}"
        return str(name_of(int(group[0])))

    columns = tuple(MatrixColumn(named(group), group) for group in groups)
    return columns, len(order) > most


def _pooled(
    B: sparse.csr_array, columns: Sequence[MatrixColumn]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean, number, least and largest of the weights that each row gives to each column."""
    place = np.zeros(B.shape[1], dtype=np.int64)
    sizes = np.array([column.features.size for column in columns])
    for k, column in enumerate(columns):
        place[column.features] = k
    shape = (B.shape[0], len(columns))
    rows = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    at = (rows, place[B.indices])
    total, named = np.zeros(shape), np.zeros(shape)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.add.at(total, at, B.data)
    np.add.at(named, at, 1.0)
    np.minimum.at(low, at, B.data)
    np.maximum.at(high, at, B.data)
    return total / np.maximum(sizes, 1), named, low, high


def _latex_name(column: MatrixColumn) -> str:
    times = rf"_{{\times {column.features.size}}}" if column.features.size > 1 else ""
    return rf"\text{{{_escaped(column.name)}}}{times}"


def _escaped(name: str) -> str:
    """A name from the user's data that LaTeX sets as it is."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: "\\" + sign for sign in "&%$#_{}"},
    }
    return "".join(special.get(sign, sign) for sign in " ".join(name.split()))
