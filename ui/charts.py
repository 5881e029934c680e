"""Charts: one look for all, colours that colour-blind people can tell apart, text beside each.

    figure = charts.figure("Objective", x="sweep", y="objective (no unit)")
    figure.add_scatter(x=..., y=..., line_color=charts.colour(0))
    charts.show(figure, key="objective", text="The objective fell from 1.0 to 0.67 in 44 sweeps.")

`show` keeps key, height and zoom the same from one rerun to the next, so that a live chart does not
flicker, and writes the text alternative under it. Colours follow Okabe and Ito, and the theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

from ui.words import one_line

LIGHT: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7a82")
DARK: Final = ("#56b4e9", "#e69f00", "#2fbf95", "#d995bd", "#f0e442", "#5b9bd5", "#9fb0b8")
HEIGHT: Final = 320
WEBGL_FROM: Final = 1_000  # points; above this a scatter is drawn by the graphics card
CONFIG: Final = {
    "displaylogo": False,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d"],
}


def is_dark() -> bool:
    """Whether the reader has chosen the dark theme."""
    return st.context.theme.type == "dark"


def palette() -> tuple[str, ...]:
    """Seven colours for the present theme; the last one, grey, is for "the rest"."""
    return DARK if is_dark() else LIGHT


def colour(which: int) -> str:
    """A colour of the palette by number, the same in every chart; -1 is grey."""
    return palette()[which % len(LIGHT)]


def block_colours(blocks: Sequence[str]) -> dict[str, str]:
    """A colour for each block, grey beyond the sixth and for features in none."""
    return {
        block: colour(i) if i < len(LIGHT) - 1 else colour(-1) for i, block in enumerate(blocks)
    }


def figure(title: str, *, x: str, y: str, height: int = HEIGHT, log_y: bool = False) -> go.Figure:
    """An empty figure with a title and axes that say what they show, and in which unit."""
    return go.Figure(
        layout={
            "title": {"text": title, "x": 0, "y": 1, "yanchor": "top", "font_size": 15}
            | {"pad": {"t": 6}, "yref": "container"},
            "height": height,
            "margin": {"l": 8, "r": 8, "t": 62, "b": 8},
            "xaxis": {"title": x, "automargin": True},
            "yaxis": {"title": y, "automargin": True, "exponentformat": "power"}
            | ({"type": "log"} if log_y else {}),
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
            "hovermode": "closest",
        }
    )


def label(name: object, longest: int = 24) -> str:
    """A name from the user's data for a chart: cut to size, and never taken for markup.

    >>> label("<b>bold</b>")
    '&lt;b&gt;bold&lt;/b&gt;'
    """
    text = one_line(name, longest)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def name_rows(chart: go.Figure, names: Sequence[object]) -> None:
    """Names for the bars at y = 0, 1, ..., from the top; names that are cut alike stay apart."""
    chart.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[label(name) for name in names],
        range=[len(names) - 0.4, -0.6],
    )


def show(chart: go.Figure, *, key: str, text: str, where: Any = st) -> None:
    """Draw a figure and its text alternative; `text` says in words what the picture shows."""
    chart.update_layout(uirevision=key)
    where.plotly_chart(chart, key=key, config=CONFIG, alt=text)
    where.caption(text)
