"""Which pairs of rules meet or lie in each other: by a glance at all, then one by one.

Every pair that needs work of its own costs a step of the budget. Rules with a pair that was not
reached are remembered in `missed`.
"""

from __future__ import annotations

import numpy as np

from hipad.arrays import BoolArray
from hipad.rules.analysis.pairwise.glance import Glance
from hipad.rules.analysis.pairwise.regions import Regions
from hipad.rules.analysis.pairwise.together import Together
from hipad.rules.budget import Budget


class Pairs:
    """The pairs of some regions; what is asked twice is answered from memory."""

    def __init__(self, regions: Regions, budget: Budget) -> None:
        self.regions, self.budget = regions, budget
        self.missed: set[int] = set()
        self.reached = [i for i in range(len(regions.regions)) if self._reach(i)]
        self.alive = [i for i in self.reached if regions.regions[i].point is not None]
        self._place = {i: at for at, i in enumerate(self.alive)}
        self._glance = Glance.of(regions, self.alive)
        self._together = together = Together(regions, [regions.regions[i] for i in self.alive])
        self._apart = together.apart
        self._meet = self._glance.meetings(budget) & ~self._apart | together.unbound
        self._within, outside = together.within
        self._near = self._shared() & ~outside & ~self._glance.outside(budget)
        self._inside: dict[tuple[int, int], bool] = {}

    def _reach(self, i: int) -> bool:
        """Find a point of the region, if the budget allows."""
        if not self.budget.spend():
            self.missed.add(i)
            return False
        _ = self.regions.regions[i].point  # kept there from now on
        return True

    def _shared(self) -> BoolArray:
        """Which two regions name a common column."""
        shared = (self._glance.inside @ self._glance.inside.T).astype(bool).toarray()
        np.fill_diagonal(shared, False)
        return np.asarray(shared)

    def near(self, i: int) -> list[int]:
        """The regions that share a column with region i and may hold it."""
        return [self.alive[at] for at in np.flatnonzero(self._near[self._place[i]])]

    def inside(self, i: int, j: int) -> bool:
        """True if region i lies in region j; False as well when that was not reached."""
        place = self._place[i], self._place[j]
        if not self._near[place] or self._within[place]:
            return bool(self._near[place])
        if (i, j) not in self._inside:
            if not self.budget.spend():
                self.missed |= {i, j}
                return False
            self._inside[i, j] = self.regions.inside(i, j)
        return self._inside[i, j]

    def meeting(self, i: int, others: list[int]) -> list[int]:
        """Those of the others that have a common point with region i, as far as was reached."""
        own, places = self._place[i], np.array([self._place[j] for j in others], dtype=np.int64)
        open_ = places[~(self._meet[own, places] | self._apart[own, places])]
        if len(open_) > 1 and not self.budget.is_spent:
            self._meet[own, open_] = self._together.met_by_steps(own, open_)
        seen, apart = self._meet[own, places].tolist(), self._apart[own, places].tolist()
        return [
            j
            for j, met, never in zip(others, seen, apart, strict=True)
            if met or (not never and self._meets(i, j))
        ]

    def _meets(self, i: int, j: int) -> bool:
        if not self.budget.spend():
            self.missed |= {i, j}
            return False
        return self.regions.meeting(i, j) is not None
