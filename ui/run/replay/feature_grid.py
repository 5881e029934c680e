"""All features as one image: a cell for each, blocks as regions, and what changes at each frame.

    grid = FeatureGrid.of(data, truth)    # the signs that weights ought to have, where known
    moves = grid.moves(frames, signs)     # frames: (entered, left) of each, signs of the result

Cells are numbered through the regions: the features of the first block, of the second, and so on,
then those in no block. Where features are too many for a cell each, neighbours share one. The state
of a cell is one of the levels below; only changes are told, so a run of 50,000 features is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hipad.datasets import relevant_signs
from hipad.utils import IntArray, one_line
from ui.dataset import NO_BLOCK, Dataset, Loaded
from ui.run.replay.story import packed

OUT, FOR_POSITIVE, FOR_NEGATIVE, PASSING, FALSE = range(5)
MOST_CELLS: Final = 65_536
MOST_CHANGES: Final = 80_000  # of cells, in all frames: about 550 kB
MOST_NAMES: Final = 4_000  # features whose name is told under the pointer
FEW: Final = 400  # features that are all named, whether they ever come in or not
LONGEST: Final = 40  # characters of a name

Frame = tuple[IntArray, IntArray]
"""Features that came, and features that went."""


@dataclass(frozen=True)
class GridRegion:
    """A block, or the features in none: how many, and whether they are known to carry the class."""

    name: str
    n_features: int
    n_cells: int
    relevant: bool


@dataclass(frozen=True)
class Moves:
    """Changes of cells, frame by frame, and how many features are in, found and false.

    A feature is found if it carries the class and its weight in the result has the right sign; with
    the wrong sign it is as false as one that carries nothing.
    """

    offsets: IntArray
    cells: IntArray
    levels: IntArray
    inside: IntArray
    found: IntArray
    false: IntArray
    features: IntArray  # those that were ever in


@dataclass(frozen=True, eq=False)
class FeatureGrid:
    """Where each feature stands in the image."""

    regions: tuple[GridRegion, ...]
    cell_of: IntArray
    truth: IntArray | None  # sign that each weight ought to have, or 0, where that is known
    names: Any  # column -> name

    @classmethod
    def of(cls, data: Dataset, truth: IntArray | None, most: int = MOST_CELLS) -> FeatureGrid:
        """The regions in the order of the blocks; every feature stands in its first one."""
        shared = -(-data.n_features // most)  # features of one cell
        cell_of = np.zeros(data.n_features, dtype=np.int64)
        regions: list[GridRegion] = []
        free, begin = np.ones(data.n_features, dtype=bool), 0
        known = np.zeros(data.n_features, dtype=bool) if truth is None else truth != 0
        for name, columns in [*data.blocks.items(), (NO_BLOCK, np.arange(data.n_features))]:
            own = columns[free[columns]]
            if not own.size:
                continue
            free[own] = False
            n_cells = -(-own.size // shared)
            cell_of[own] = begin + np.arange(own.size) // shared
            carries = bool(known[own].mean() > 0.5)
            regions.append(GridRegion(name, own.size, n_cells, carries))
            begin += n_cells
        return cls(tuple(regions), cell_of, truth, data.index.name)

    @property
    def n_cells(self) -> int:
        return sum(region.n_cells for region in self.regions)

    def moves(self, frames: Sequence[Frame], signs: np.ndarray | None) -> Moves:
        """What changes from frame to frame; `signs` of all features in the result, if there is one.

        A feature without a sign in the result has left again, or nobody knows yet.
        """
        n = self.cell_of.size
        levels = np.full(n, PASSING)
        if signs is not None:
            levels[signs > 0], levels[signs < 0] = FOR_POSITIVE, FOR_NEGATIVE
        true = np.zeros(n, dtype=bool)
        if self.truth is not None:
            true = self.truth != 0
            if signs is not None:
                true &= self.truth * signs >= 0
            levels[~true] = FALSE
        counts = np.zeros((self.n_cells, FALSE + 1), dtype=np.int64)
        shown = np.zeros(self.n_cells, dtype=np.int64)
        rows: list[tuple[IntArray, IntArray]] = []
        tally = np.zeros((len(frames) + 1, 2), dtype=np.int64)  # inside, found
        for k, (came, went) in enumerate(frames):
            np.add.at(counts, (self.cell_of[came], levels[came]), 1)
            np.add.at(counts, (self.cell_of[went], levels[went]), -1)
            cells = np.unique(self.cell_of[np.concatenate([came, went])])
            now = np.where(counts[cells].any(axis=1), counts[cells].argmax(axis=1), OUT)
            new = now != shown[cells]
            shown[cells[new]] = now[new]
            rows.append((cells[new], now[new]))
            gained = len(came) - len(went), true[came].sum() - true[went].sum()
            tally[k + 1] = tally[k] + np.array(gained)
        inside, found = tally[1:].T
        every = np.unique(np.concatenate([came for came, _ in frames] or [np.zeros(0, int)]))
        return Moves(
            offsets=np.cumsum([0, *(len(cells) for cells, _ in rows)]),
            cells=np.concatenate([cells for cells, _ in rows] or [np.zeros(0, int)]),
            levels=np.concatenate([level for _, level in rows] or [np.zeros(0, int)]),
            inside=inside,
            found=found,
            false=inside - found,
            features=every.astype(np.int64),
        )

    def told(self, moves: Moves) -> dict[str, Any]:
        """Image and changes for the browser."""
        alone = self.n_cells == self.cell_of.size
        ever = np.arange(self.n_cells) if self.n_cells <= FEW else moves.features[:MOST_NAMES]
        named = ever if alone else moves.features[:0]
        return {
            "regions": [
                {
                    "name": one_line(region.name, 24),
                    "features": region.n_features,
                    "cells": region.n_cells,
                    "relevant": region.relevant,
                }
                for region in self.regions
            ],
            "truth": None if self.truth is None else int((self.truth != 0).sum()),
            "offsets": packed(moves.offsets, "<u4"),
            "cells": packed(moves.cells, "<u4"),
            "levels": packed(moves.levels, "u1"),
            "inside": packed(moves.inside, "<u4"),
            "found": packed(moves.found, "<u4"),
            "named": packed(self.cell_of[named], "<u4"),
            "names": [one_line(self.names(int(j)), LONGEST) for j in named],
        }


def true_signs(loaded: Loaded | None, data: Dataset) -> IntArray | None:
    """The sign that the weight of each column ought to have; None where nobody knows.

    0 is for columns that carry nothing, and signs are seen from the class that is called positive.
    """
    if loaded is None or "preset" not in loaded.recipe:
        return None
    block_size = loaded.recipe.get("block_size")
    known = relevant_signs(loaded.recipe["preset"], block_size=block_size)
    signs = np.zeros(len(data.every), dtype=int)
    signs[: len(known)] = known if data.classes[1] == loaded.positive else -known
    return signs[data.kept]
