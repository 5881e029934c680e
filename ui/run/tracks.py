"""The steps of a run as charts count them, and the search for the number of features before."""

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


def path(history: Sequence[Progress], used: int | None = None) -> tuple[go.Figure, str]:
    """The search for the number of features: loss on held-out patients; `used` is the model's."""
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
    if used is not None:
        chart.add_vline(
            x=used, line_color=charts.colour(2), line_width=2,
            annotation_text="this model", annotation_position="top right",
        )  # fmt: skip
    if max(sizes) - min(sizes) < FEW:
        chart.update_xaxes(dtick=1)  # there are no halves of a feature
    best = min(tried, key=lambda record: record.objective)
    text = (
        f"{count(len(tried), 'degree')} of sparsity tried by cross-validation; the smallest loss "
        f"({number(best.objective, 3)}) was at about {count(best.support_size, 'feature')}."
    )
    return chart, text + _why_other(best.support_size, used)


def _why_other(best: int, used: int | None) -> str:
    """Why the model has another number of features than the best degree."""
    if used is None or used == best:
        return ""
    return (
        f" The model uses {used:,}: models of the folds, on fewer patients, keep other features "
        "than one on all, and degrees that do nearly as well as the best have a say."
    )
