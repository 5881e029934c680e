"""The steps of a run as charts count them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hipad.solvers import Progress
from ui.jobs import thinned

PHASES: Final = {
    0: "choosing how few",
    1: "phase 1: find the features",
    2: "phase 2: fit them accurately",
}


@dataclass(frozen=True)
class Track:
    """The records of phases 1 and 2, numbered from one, and where the second begins."""

    records: list[Progress]
    steps: list[int]
    switch: float | None

    @classmethod
    def of(cls, history: Sequence[Progress], most: int = 500) -> Track:
        """The part of a history that charts show, thinned."""
        all_records = [record for record in history if record.phase > 0]
        number_of = {id(record): n for n, record in enumerate(all_records, start=1)}
        records = thinned(all_records, most)
        later = [n for n, record in enumerate(all_records, start=1) if record.phase == 2]
        switch = later[0] - 0.5 if later and later[0] > 1 else None
        return cls(records, [number_of[id(record)] for record in records], switch)

    def values(self, name: str) -> list[float]:
        return [float(getattr(record, name)) for record in self.records]


def shared(record: Progress) -> float:
    """Loss, rules and size of the weights: what both phases make small."""
    return record.objective if np.isnan(record.shared) else record.shared
