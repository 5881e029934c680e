"""The raster of a run: which features are in the model at which step, coloured by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from hipad.solver import Progress
from hipad.wording import count
from ui import charts
from ui.dataset import NO_BLOCK, Dataset
from ui.run.tracks import STEP, Track, marks

MOST_ROWS: Final = 300
MARGINS, LINE = 120, 14  # pixels around the cells, and that a name takes
MOST_HOVERS: Final = 20_000  # cells that carry a name of their own


def raster(
    history: Sequence[Progress], data: Dataset, at: int | None = None
) -> tuple[go.Figure, str]:
    """Which features are in the model at which step, coloured by block."""
    track = Track.of(history, most=300)
    features, inside = presence(history, track.steps)
    order, left_out = _rows_to_show(features, inside, data)
    blocks = data.block_of(features[order])
    shown = [block for block in [*data.blocks, NO_BLOCK] if block in blocks]
    code = np.array([shown.index(block) + 1 for block in blocks], dtype=np.uint8)
    cells = np.where(inside[order], code[:, None], 0).astype(np.uint8)
    names = [data.index.name(j) for j in features[order]]
    height = int(np.clip(MARGINS + 4 * len(order), 240, 620))
    chart = charts.figure("Which features are in, step by step", x=STEP, y="", height=height)
    colours = charts.block_colours([*data.blocks])
    _paint(
        chart, cells, track.steps, names, shown, [colours.get(b, charts.colour(-1)) for b in shown]
    )
    marks(chart, track, at)
    text = (
        f"{count(len(features), 'feature')} were in the model at some step"
        + (f"; the {len(order)} that stayed longest are shown" if left_out else "")
        + ". A coloured cell means: in the model at this step. Colours are blocks."
    )
    return chart, text


def presence(history: Sequence[Progress], steps: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Features that were ever in, and for each of these steps whether they were."""
    records = [record for record in history if record.phase > 0]
    entered = [record.entered for record in records]
    features = np.unique(np.concatenate(entered)) if entered else np.zeros(0, dtype=int)
    inside = np.zeros((features.size, len(steps)), dtype=bool)
    now = np.zeros(features.size, dtype=bool)
    wanted = {step: column for column, step in enumerate(steps)}
    for step, record in enumerate(records, start=1):
        now[np.searchsorted(features, record.entered)] = True
        now[np.searchsorted(features, record.left)] = False
        if step in wanted:
            inside[:, wanted[step]] = now
    return features, inside


def _rows_to_show(features: np.ndarray, inside: np.ndarray, data: Dataset) -> tuple[Any, bool]:
    """At most MOST_ROWS features, those that stayed longest; by block, then by first step."""
    longest = np.argsort(-inside.sum(axis=1), kind="stable")[:MOST_ROWS]
    blocks = [*data.blocks, NO_BLOCK]
    place = np.array([blocks.index(block) for block in data.block_of(features[longest])])
    first = inside[longest].argmax(axis=1) if inside.size else np.zeros(0)
    return longest[np.lexsort((first, place))], features.size > MOST_ROWS


def _paint(
    chart: go.Figure,
    cells: np.ndarray,
    steps: Sequence[int],
    names: Sequence[str],
    blocks: Sequence[str],
    colours: Sequence[str],
) -> None:
    n = max(len(blocks), 1)
    scale: list[tuple[float, str]] = [(0.0, "rgba(0,0,0,0)"), (0.5 / n, "rgba(0,0,0,0)")]
    for i, colour in enumerate(colours):
        scale += [((i + 0.5) / n, colour), (min((i + 1.5) / n, 1.0), colour)]
    chart.add_heatmap(
        z=cells,
        x=list(steps),
        y=list(range(len(names))),
        zmin=0,
        zmax=n,
        colorscale=scale,
        showscale=False,
        **_hover(cells, names),
    )
    for block, colour in zip(blocks, colours, strict=True):
        chart.add_scatter(
            x=[None], y=[None], mode="markers", marker_color=colour, marker_symbol="square",
            name=charts.label(block, 20),
        )  # fmt: skip
    room = max((chart.layout.height - MARGINS) // LINE, 1)
    every = max(1, -(-len(names) // room))
    chart.update_yaxes(
        tickvals=list(range(0, len(names), every)),
        ticktext=[charts.label(name, 18) for name in names[::every]],
        autorange="reversed",
        showgrid=False,
    )


def _hover(cells: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """The feature's name under the pointer, where one name per cell is not too much to send."""
    if cells.size > MOST_HOVERS:
        return {"hoverinfo": "skip"}
    shown = np.array([charts.label(name, 60) for name in names], dtype=object)
    named = np.broadcast_to(shown[:, None], cells.shape)
    return {"customdata": named, "hovertemplate": "%{customdata}, step %{x}<extra></extra>"}
