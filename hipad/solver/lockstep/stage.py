"""The features that may be in while problems go to their optimum, and which of them are in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.solver.prices import SignPrices

LARGEST = 2**24  # numbers: more columns than that are not kept side by side


class SignedColumns:
    """Columns of a design, each row with the sign of its label: kept where memory allows."""

    def __init__(self, design: Design, y: FloatArray) -> None:
        self.design, self._y = design, y

    def some(self, at: np.ndarray) -> FloatArray:
        """Some columns, one row for each: of all samples."""
        if self._all is not None:
            return self._all[at]
        return self._read(at)

    @cached_property
    def _all(self) -> FloatArray | None:
        n, m = self.design.shape
        return self._read(np.arange(m)) if n * m <= LARGEST else None

    def _read(self, at: np.ndarray) -> FloatArray:
        return np.ascontiguousarray((self.design.columns(at) * self._y[:, None]).T)


@dataclass(frozen=True)
class Stage:
    """Features that may be in: their columns, names, quadratic coefficients and coupling to u.

    `limits` are the prices of their weights; these and `ridge` have one column a problem, each with
    its own scale of a feature. `fixed`, one column a problem too, says which may be in at all;
    lambda1 is then left out, and only a known sign holds a feature at zero.
    """

    columns: SignedColumns
    names: np.ndarray
    ridge: FloatArray
    C: FloatArray
    limits: SignPrices
    fixed: np.ndarray | None = None

    @property
    def design(self) -> Design:
        return self.columns.design

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
