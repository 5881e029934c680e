"""The field of features and the patients as dots: what a model lights up, packed for the browser.

Every feature is a cell; the cells of a block lie together, and those in no block come last. A cell
is lit by the weight of its feature: the sign chooses the colour of the class that it favours, the
size its brightness, measured against the largest weight of the reference model. Every training
patient is a dot at the decision value that the model gives.
"""

from __future__ import annotations

import base64
from functools import cached_property
from typing import Any, Final

import numpy as np

from hipad.evaluation.comparison import feature_changes, flips
from hipad.utils import FloatArray, IntArray, count, one_line
from ui.dataset import NO_BLOCK, Dataset
from ui.models import TrainedModel, comparable_weights

MOST_CELLS: Final = 65_536  # more features share cells
MOST_DOTS: Final = 2_000
MOST_NAMES: Final = 400  # of lit features, told under the pointer
LONGEST: Final = 40  # characters of a name
BRIGHTEST: Final = 127  # of one signed byte


class Pictures:
    """The pictures of all models on the same data, against one reference model."""

    def __init__(self, data: Dataset, reference: TrainedModel) -> None:
        self.data, self.reference = data, reference
        self.rows = np.unique(
            np.linspace(0, len(data.y_train) - 1, min(MOST_DOTS, len(data.y_train))).astype(int)
        )
        self.positive = data.y_train == data.classes[1]
        self.before = reference.scores(data.X_train)
        self.largest = float(np.abs(comparable_weights(reference, data)).max(initial=0)) or 1.0

    @cached_property
    def field(self) -> tuple[list[dict[str, Any]], IntArray]:
        """The regions of the field in order, and the cell of each feature."""
        data = self.data
        shared = -(-data.n_features // MOST_CELLS)  # features of one cell
        cell_of = np.zeros(data.n_features, dtype=np.int64)
        free, regions, begin = np.ones(data.n_features, dtype=bool), [], 0
        for name, columns in [*data.blocks.items(), (NO_BLOCK, np.arange(data.n_features))]:
            own = columns[free[columns]]
            if not own.size:
                continue
            free[own] = False
            n_cells = -(-own.size // shared)
            cell_of[own] = begin + np.arange(own.size) // shared
            begin += n_cells
            rest = name == NO_BLOCK and columns.size == data.n_features
            title = "other features" if rest else one_line(name, 24)
            regions.append({"name": title, "features": own.size, "cells": n_cells, "rest": rest})
        return regions, cell_of

    @cached_property
    def setting(self) -> dict[str, Any]:
        """What stays the same from one model to the next."""
        return {
            "regions": self.field[0],
            "classes": [one_line(name, 24) for name in self.data.classes],
            "truth": packed(self.positive[self.rows], "u1"),
            "before": packed(self.before[self.rows] > 0, "u1"),
            "patients": len(self.positive),
            "row": self.data.line_word(1),
        }

    def of(self, model: TrainedModel) -> dict[str, Any]:
        """Return what a model lights up, where it places the patients, and both in words."""
        weights = comparable_weights(model, self.data)
        support = np.flatnonzero(weights)
        cells, levels = self._lit(support, weights[support])
        scores = model.scores(self.data.X_train)
        names = support[np.argsort(-np.abs(weights[support]), kind="stable")][:MOST_NAMES]
        is_alone = len(self.field[1]) <= MOST_CELLS
        named = names if is_alone else names[:0]
        return {
            "cells": packed(cells, "<u4"),
            "levels": packed(levels, "i1"),
            "scores": packed(scores[self.rows], "<f4"),
            "named": packed(self.field[1][named], "<u4"),
            "names": [one_line(self.data.index.name(int(j)), LONGEST) for j in named],
            "words": self.words(model, scores),
        }

    def _lit(self, support: IntArray, weights: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the cells that are lit and how brightly; the largest of a cell counts."""
        order = np.argsort(-np.abs(weights), kind="stable")
        cells, first = np.unique(self.field[1][support[order]], return_index=True)
        share = weights[order][first] / self.largest
        levels = np.sign(share) * np.ceil(BRIGHTEST * np.sqrt(np.minimum(np.abs(share), 1.0)))
        return cells, levels.astype(np.int64)

    def words(self, model: TrainedModel, scores: FloatArray) -> str:
        """Say how many features are used and how many training patients changed their answer."""
        changes = feature_changes(self.reference.weights, model.weights)
        n_changed = len(flips(self.before, scores).rows)
        used = f"{len(model.support):,} of {count(self.data.n_features, 'feature')} used"
        parts = [
            f"{len(columns):,} {word}"
            for word, columns in (("gained", changes.gained), ("lost", changes.lost))
            if len(columns)
        ]
        against = f" ({', '.join(parts)})" if parts else ""
        patients = count(len(scores), f"training {self.data.line_word(1)}")
        answers = (
            f"{n_changed:,} of {patients} changed answer" if n_changed else "no changed answer"
        )
        return f"{used}{against}, {answers}"


def packed(values: Any, kind: str) -> str:
    """Return numbers in a row, little end first, as base64.

    >>> packed([1, 2], "u1")
    'AQI='
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
