"""Charts of a run: how it converges, how many features are in, how far the rules hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go

from hipad.solver import Progress
from hipad.wording import count, number
from ui import charts
from ui.jobs import thinned

PHASES: Final = {
    0: "choosing how few",
    1: "phase 1: find the features",
    2: "phase 2: fit them accurately",
}
FEW: Final = 10  # features, each with a mark of its own on an axis
STEP: Final = "step (of phase 1, then of phase 2)"


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

    def until(self, at: int | None) -> Track:
        """The part that a reader at this step has seen; all of it without a step."""
        if at is None:
            return self
        seen = max(sum(step <= at for step in self.steps), 1)
        return Track(self.records[:seen], self.steps[:seen], self.switch)


def shared(record: Progress) -> float:
    """Loss, rules and size of the weights: what both phases make small."""
    return record.objective if np.isnan(record.shared) else record.shared


def path(history: Sequence[Progress]) -> tuple[go.Figure, str]:
    """The search for the number of features: loss on held-out patients."""
    tried = [record for record in history if record.phase == 0]
    sizes = [record.support_size for record in tried]
    chart = charts.figure(
        "How few features? Error on held-out patients",
        x="number of features",
        y="loss on held-out patients",
        height=260,
    )
    chart.add_scatter(
        x=sizes,
        y=[record.objective for record in tried],
        mode="lines+markers",
        line_color=charts.colour(3),
        name="tried",
    )
    if max(sizes) - min(sizes) < FEW:
        chart.update_xaxes(dtick=1)  # there are no halves of a feature
    best = min(tried, key=lambda record: record.objective)
    text = (
        f"{count(len(tried), 'degree')} of sparsity tried by cross-validation; the smallest loss "
        f"({number(best.objective, 3)}) was at about {count(best.support_size, 'feature')}."
    )
    return chart, text
