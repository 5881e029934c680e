"""Charts: one look for all, what each colour means, and text beside each picture.

    figure = charts.figure("Objective", x="sweep", y="objective (no unit)")
    figure.add_scatter(x=..., y=..., line_color=charts.colour(0))
    figure.add_bar(..., marker_color=charts.class_colour(1))  # the positive class
    charts.show(figure, key="objective", text="The objective fell from 1.0 to 0.67 in 44 sweeps.")

`show` keeps key, height and zoom the same from one rerun to the next, so that a live chart does not
flicker, and writes the text alternative under it. The theme's list of chart colours
(`.streamlit/config.toml`) is read in this order: the negative class, the positive class, the model
that is looked at (with rules), groups such as blocks, and grey at the end for the rest. No group
ever has the colour of a class or of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.colors import qualitative

from hipad.utils import one_line

HEIGHT: Final = 320
CONFIG: Final = {
    "displaylogo": False,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d"],
}


def is_dark() -> bool:
    """Whether the reader has chosen the dark theme."""
    return st.context.theme.type == "dark"


def theme_option(name: str) -> Any:
    """An option of the present theme, as `.streamlit/config.toml` sets it; None without one."""
    return st.get_option(f"theme.{'dark' if is_dark() else 'light'}.{name}")


def palette() -> tuple[str, ...]:
    """The chart colours of the present theme; the last one, grey, is for "the rest".

    A server that was started without the app's theme has none: then plotly's for colour-blind eyes.
    """
    return tuple(theme_option("chartCategoricalColors") or qualitative.Safe)


def colour(which: int) -> str:
    """A colour of the palette by number, the same in every chart; -1 is grey."""
    colours = palette()
    return colours[which % len(colours)]


def block_colours(blocks: Sequence[str]) -> dict[str, str]:
    """A colour for each block, never that of a class or the model; grey beyond the colours."""
    *colours, grey = palette()[CURRENT + 1 :]
    return dict(zip_longest(blocks, colours[: len(blocks)], fillvalue=grey))


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


def show_to_choose(chart: go.Figure, *, key: str, text: str) -> int | None:
    """Draw a figure whose points can be clicked; return the `customdata` of the one that was."""
    chart.update_layout(uirevision=key)
    event: Any = st.plotly_chart(
        chart, key=key, config=CONFIG, alt=text, on_select="rerun", selection_mode="points"
    )
    st.caption(text)
    points = event["selection"]["points"]
    return int(np.ravel(points[0]["customdata"])[0]) if points else None


# --------------------------------------------------------------------------------------------------
# Colours by meaning.

NEGATIVE: Final = 0  # places in the theme's list
POSITIVE: Final = 1
CURRENT: Final = 2
REST: Final = -1


def class_colour(which: int) -> str:
    """The colour of a class: 1 is the positive one, 0 the negative one."""
    return colour(POSITIVE if which else NEGATIVE)


def sign_colour(value: float) -> str:
    """The colour of what speaks for a class: the positive one above zero; grey at zero."""
    return rest_colour() if value == 0 else class_colour(int(value > 0))


def sign_colours() -> list[tuple[float, str]]:
    """A scale for values around zero: the negative class, nothing, the positive class."""
    ground = theme_option("backgroundColor") or "#ffffff"
    return [(0.0, class_colour(0)), (0.5, ground), (1.0, class_colour(1))]


def current_colour() -> str:
    """The model with rules: what is looked at now, came in or became right."""
    return colour(CURRENT)


def faint(hexadecimal: str) -> str:
    """A colour that lets others through, for bands that overlap.

    >>> faint("#0072b2")
    'rgba(0, 114, 178, 0.18)'
    """
    red, green, blue = (int(hexadecimal[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.18)"


def rest_colour() -> str:
    """Grey: what was before, what left, and whatever has no colour of its own."""
    return colour(REST)


def group_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each group, never that of a class."""
    return block_colours(names)
