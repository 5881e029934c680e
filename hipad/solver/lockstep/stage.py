"""The features that may be in while problems go to their optimum, and which of them are in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.solver.lockstep.signed_columns import SignedColumns
from hipad.solver.prices import SignPrices

FEW = 0.25  # share of the numbers in all columns


@dataclass(frozen=True)
class Stage:
    """Features that may be in: their design, names, quadratic coefficients and coupling to u.

    `limits` are the prices of their weights; these and `ridge` have one column a problem, each with
    its own scale of a feature. `fixed`, one column a problem too, says which may be in at all;
    lambda1 is then left out, and only a known sign holds a feature at zero.
    """

    design: Design
    columns: SignedColumns
    names: np.ndarray
    ridge: FloatArray
    C: FloatArray
    limits: SignPrices
    fixed: np.ndarray | None = None

    def signed(self, at: np.ndarray) -> FloatArray:
        """The columns of some of the features, one row for each, with the signs of the labels."""
        return self.columns.some(self.names[at])

    def margins(self, w: FloatArray) -> FloatArray:
        """y Z w of all samples: by the columns that are in, or by all where most are."""
        kept = np.flatnonzero(w.any(axis=1))
        if kept.size * self.columns.y.size < FEW * self.design.cost:
            return self.columns.dot(self.names[kept], w[kept])
        return self.columns.y[:, None] * self.design.dot(w)

    def weights(self, pull: FloatArray) -> FloatArray:
        """The weights that go with a pull."""
        weights = self.limits.shrink(pull) / self.ridge
        return weights if self.fixed is None else np.where(self.fixed, weights, 0.0)

    def curved(self, w: FloatArray) -> FloatArray:
        """1/ridge of the features that are in, and zero for all others; one column a problem."""
        kept = (w != 0) | self._free
        return np.where(kept if self.fixed is None else kept & self.fixed, 1 / self.ridge, 0.0)

    @cached_property
    def _free(self) -> np.ndarray:
        return self.limits.free
