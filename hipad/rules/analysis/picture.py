"""The picture of one condition: which features it names, with which sign and weight.

Each condition is told on its own, largest weights first; equal weights of a block are one cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hipad.arrays import FloatArray, IntArray
from hipad.rules.compiling.compiled import CompiledRule


@dataclass(frozen=True)
class Cell:
    """One feature of a row, or a block whose features have the same weight."""

    name: str
    weight: float
    n_features: int = 1

    @property
    def sign(self) -> int:
        """+1 if a larger value helps to meet the condition, -1 if a smaller one does."""
        return int(np.sign(self.weight))


@dataclass(frozen=True)
class PictureRow:
    """One row of a rule: sum of weight * feature >= threshold."""

    rule: str
    outcome: str
    condition: str
    threshold: float
    cells: tuple[Cell, ...]
    n_features: int

    @property
    def hidden(self) -> int:
        """How many features are not shown."""
        return self.n_features - sum(cell.n_features for cell in self.cells)


def picture(
    rules: Sequence[CompiledRule],
    *,
    blocks: Mapping[str, IntArray] | None = None,
    most: int = 12,
) -> tuple[PictureRow, ...]:
    """Every row as -B x >= -d, with at most `most` cells: equal weights of a block are one cell.

    >>> from hipad.rules.compiling.compile import compile_rules
    >>> import numpy as np
    >>> blocks = {"K1": np.arange(50)}
    >>> (rule,) = compile_rules("mean(K1) - x60 >= 4 => positive", n_features=99, blocks=blocks)
    >>> (row,) = picture([rule], blocks=blocks)
    >>> row.threshold, [(cell.name, cell.weight, cell.n_features) for cell in row.cells]
    (4.0, [('x60', -1.0, 1), ('K1', 0.02, 50)])
    """
    return tuple(
        _picture_row(rule, row, blocks or {}, most) for rule in rules for row in range(len(rule.d))
    )


def _picture_row(
    rule: CompiledRule, row: int, blocks: Mapping[str, IntArray], most: int
) -> PictureRow:
    start, end = rule.B.indptr[row : row + 2]
    columns, weights = rule.B.indices[start:end], -rule.B.data[start:end]
    cells = _cells(rule, columns, weights, blocks)
    cells.sort(key=lambda cell: -abs(cell.weight))
    source = rule.sources[row] if rule.sources else rule.rule.premise
    threshold = -float(rule.d[row]) + 0.0
    outcome = rule.rule.outcome
    return PictureRow(rule.label, outcome, source, threshold, tuple(cells[:most]), len(columns))


def _cells(
    rule: CompiledRule, columns: IntArray, weights: FloatArray, blocks: Mapping[str, IntArray]
) -> list[Cell]:
    """Blocks that lie in the row with one weight become one cell, the rest one cell per feature."""
    left = np.ones(len(columns), dtype=bool)
    cells = []
    for name, members in blocks.items():
        place = np.minimum(np.searchsorted(columns, members), max(len(columns) - 1, 0))
        whole = len(members) > 1 and len(columns) and (columns[place] == members).all()
        if whole and left[place].all() and np.ptp(weights[place]) == 0:
            cells.append(Cell(name, float(weights[place[0]]), len(members)))
            left[place] = False
    name_of = rule.features.name if rule.features is not None else "x{}".format
    rest = zip(columns[left], weights[left], strict=True)
    return cells + [Cell(name_of(int(j)), float(weight)) for j, weight in rest]
