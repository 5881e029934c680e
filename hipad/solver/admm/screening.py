"""Which deferred features may have left zero? Answered without touching them.

A deferred feature j has the multiplier x_j'T with one shared N-vector T, and it stays deferred
while |x_j'T| <= lambda1. From a reference point T_ref at which all correlations are known,

    |x_j'T| <= |x_j'T_ref| + |x_j| |T - T_ref|,

so j is safe while |T - T_ref| is below its radius (lambda1 - |x_j'T_ref|) / |x_j|. Radii are sorted
once for each reference; a sweep then looks at the few candidates whose radius was passed. Their
columns are kept. Where a feature has prices of its own, x_j'T must stay within [-down, up], and the
same bound gives its radius. When candidates have cost as much as one pass over X, a new reference
is cheaper.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import Design, FloatArray
from hipad.solver.prices import FeaturePrices


class Screen:
    """Finds each inactive feature with x_j'T beyond its price, and marks it active."""

    # The bound is tightened by this much so that rounding never hides a crossing.
    safety = 1e-12

    def __init__(
        self,
        design: Design,
        lambda1: float,
        active: np.ndarray,
        prices: FeaturePrices | None = None,
    ) -> None:
        self.design, self.prices = design, prices or FeaturePrices()
        self.lambda1 = lambda1
        self.active = active
        self.passes = 0
        self._norms = design.column_norms()
        self._refresh(np.zeros(design.shape[0]), np.zeros(design.shape[1]))

    def crossing(self, T: FloatArray) -> np.ndarray:
        """Indices of inactive features whose correlation with T exceeds their price, sorted."""
        distance = float(np.linalg.norm(T - self._reference)) * (1 + self.safety)
        count = int(np.searchsorted(self._radius, distance))
        new = count - self._columns.shape[1]
        if count >= self._radius.size < self._norms.size or self._too_dear(count, new):
            return self._cross_by_pass(T)
        if count == 0:
            return np.zeros(0, dtype=int)
        self._extend(count, new)
        self._spent += self._columns[:, :count].size
        near = self._order[:count]
        limits = self.prices.at(near, self.lambda1)
        crossed = near[limits.over(self._columns[:, :count].T @ T) > 0]
        crossed = np.sort(crossed[~self.active[crossed]])
        self.active[crossed] = True
        return crossed

    def adopt(self, other: Screen) -> None:
        """Go on from the reference of another screen on the same data, whatever its lambda1."""
        self._refresh(other._reference, other._correlation)

    def _too_dear(self, count: int, new: int) -> bool:
        """Whether looking at so many columns costs more than a pass over all data."""
        n = self.design.shape[0]
        return self._spent + n * (count + 2 * max(new, 0)) > self.design.cost

    def _cross_by_pass(self, T: FloatArray) -> np.ndarray:
        """The same by a pass over all data, which also gives a new reference."""
        correlation = self.design.correlate(T)
        self.passes += 1
        over = self.prices.over(correlation, self.lambda1)
        crossed = np.flatnonzero((over > 0) & ~self.active)
        self.active[crossed] = True
        self._refresh(T.copy(), correlation)
        return crossed

    def _refresh(self, reference: FloatArray, correlation: FloatArray) -> None:
        """From now on measure from this T: how far it may move before each feature can cross."""
        self._reference, self._correlation, self._spent = reference, correlation, 0
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = -self.prices.over(correlation, self.lambda1) / self._norms
        radius[self._norms == 0] = np.inf
        radius[self.active] = np.inf
        kept = min(radius.size, max(512, radius.size // 16))
        nearest = np.argpartition(radius, kept - 1)[:kept] if radius.size else np.zeros(0, int)
        self._order = nearest[np.argsort(radius[nearest])]
        self._radius = radius[self._order]
        self._columns = np.zeros((self.design.shape[0], 0), order="F")

    def _extend(self, count: int, new: int) -> None:
        """Fetch the columns of the nearest features that are not held yet."""
        if new > 0:
            have = self._columns.shape[1]
            more = self.design.columns(self._order[have:count])
            self._columns = np.asfortranarray(np.hstack([self._columns, more]))
