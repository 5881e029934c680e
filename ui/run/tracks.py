"""Charts of a run: how it converges, how many features are in, how far the rules hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

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


def objective(track: Track, at: int | None = None) -> tuple[go.Figure, str]:
    """What both phases make small, step by step, and beside it what phase 1 adds for sparsity."""
    chart = charts.figure("Objective", x=STEP, y="objective (lower is better)")
    values = [shared(record) for record in track.records]
    _line(chart, track, values, "loss, rules and size of the weights", 0)
    own = [record.objective if record.phase == 1 else None for record in track.records]
    if any(value is not None for value in own):
        _line(chart, track, own, "with what phase 1 adds for few features", 1)
    marks(chart, track, at)
    seen = [shared(record) for record in track.until(at).records]
    low, high = (number(v) for v in (seen[-1], seen[0])) if seen else ("", "")
    steps = track.until(at).steps[-1] if seen else 0
    return chart, f"The objective went from {high} to {low} in {count(steps, 'step')}."


def residuals(track: Track, at: int | None = None) -> tuple[go.Figure, str]:
    """What is missing to feasibility and optimality."""
    chart = charts.figure("What is still missing", x=STEP, y="residual (no unit)", log_y=True)
    for which, (name, title) in enumerate(
        (("primal_residual", "to agreement (primal)"), ("dual_residual", "to the optimum (dual)"))
    ):
        floor = [max(value, 1e-16) for value in track.values(name)]
        _line(chart, track, floor, title, which)
    marks(chart, track, at)
    last = track.until(at).records[-1]
    text = (
        f"The last residuals are {number(last.primal_residual, 2)} (primal) and "
        f"{number(last.dual_residual, 2)} (dual)."
    )
    return chart, text


def support(track: Track, history: Sequence[Progress], at: int | None = None) -> tuple[Any, str]:
    """How many features are in, and how many came and went at each step."""
    chart = charts.figure("Features in the model", x=STEP, y="number of features")
    came = [len(record.entered) for record in track.records]
    went = [-len(record.left) for record in track.records]
    chart.add_bar(x=track.steps, y=came, name="entered", marker_color=charts.colour(2))
    chart.add_bar(x=track.steps, y=went, name="left", marker_color=charts.colour(1))
    _line(chart, track, track.values("support_size"), "in the model", 0)
    chart.update_layout(barmode="relative", bargap=0.1)
    marks(chart, track, at)
    last = track.until(at).records[-1]
    seen = [record for record in history if record.phase > 0][:at]
    comings = sum(len(record.entered) for record in seen)
    goings = sum(len(record.left) for record in seen)
    text = (
        f"{count(last.support_size, 'feature')} in the model; "
        f"{count(comings, 'entry', 'entries')} and {count(goings, 'exit')} so far."
    )
    return chart, text


def slacks(track: Track, names: Sequence[str], at: int | None = None) -> tuple[go.Figure, str]:
    """How far each rule is from holding."""
    chart = charts.figure(
        "How far each rule is from holding", x=STEP, y="slack (0 = the rule holds)"
    )
    rows = [record.rule_slacks for record in track.records]
    for which, name in enumerate(names):
        values = [max(float(row[which]), 0.0) if which < len(row) else None for row in rows]
        _line(chart, track, values, charts.label(name), which)
    marks(chart, track, at)
    seen = track.until(at).records
    last = seen[-1].rule_slacks if seen else np.zeros(0)
    holding = int(np.sum(last <= 1e-6))
    return chart, f"{holding} of {count(len(names), 'rule')} fully met at the last step."


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


def _line(
    chart: go.Figure, track: Track, values: Sequence[float | None], name: str, which: int
) -> None:
    dash = ("solid", "dash", "dot", "dashdot")[which % 4]
    chart.add_scatter(
        x=track.steps, y=list(values), name=name, mode="lines",
        line={"color": charts.colour(which), "width": 2, "dash": dash},
    )  # fmt: skip


def marks(chart: go.Figure, track: Track, at: int | None) -> None:
    """Where phase 2 begins, and where the reader is."""
    if track.switch is not None:
        chart.add_vline(
            x=track.switch, line_dash="dash", line_color=charts.colour(-1), line_width=1,
            annotation_text="phase 2", annotation_position="bottom right",
            annotation_font_size=11,
        )  # fmt: skip
    if at is not None:
        chart.add_vline(x=at, line_color=charts.colour(3), line_width=2)
