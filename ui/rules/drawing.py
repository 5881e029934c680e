"""The compiled rules as a picture: which features each condition weighs, and its threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from hipad.evaluation.study import Study
from hipad.rules import PictureRow, picture
from hipad.wording import count, number
from ui import charts
from ui.dataset import Dataset
from ui.state import AppState
from ui.words import plain

MOST_ROWS: Final = 24
MOST_COLUMNS: Final = 24
TOLD: Final = 5  # conditions, and cells of one, that are told in words


def show(state: AppState, checked: Study, data: Dataset) -> None:
    """The picture, and for experts what it is a picture of."""
    st.subheader("What the rules weigh", anchor=False)
    active = checked.active
    rows = picture(active[:MOST_ROWS], blocks=data.blocks)
    if not rows:
        st.caption("Switch a rule on to see it here.")
        return
    chart, text = draw(rows)
    charts.show(chart, key="rules_picture", text=text)
    if len(active) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of {count(len(active), 'rule')}.")
    if state.expert:
        st.caption(
            "Each line is a row of B x ≤ d, with its signs turned where large values meet it. A "
            "block whose features share one weight is one cell. "
            + " ".join(plain(r, 200) for rule in checked.active[:5] for r in rule.remarks[:2])
        )


def draw(rows: Sequence[PictureRow]) -> tuple[go.Figure, str]:
    """A cell for each feature or block of a condition, coloured by which way it counts."""
    shown = rows[:MOST_ROWS]
    names = list(dict.fromkeys(cell.name for row in shown for cell in row.cells))[:MOST_COLUMNS]
    weights = np.full((len(shown), len(names)), np.nan)
    labels = np.full(weights.shape, "", dtype=object)
    for i, row in enumerate(shown):
        for cell in row.cells:
            if cell.name in names:
                at = i, names.index(cell.name)
                weights[at] = cell.sign
                times = f" × {cell.n_features:,}" if cell.n_features > 1 else ""
                labels[at] = f"{number(turn(row) * cell.weight, 3)}{times}"
    chart = charts.figure(
        "What each condition weighs", x="feature or block", y="", height=130 + 34 * len(shown)
    )
    chart.add_heatmap(
        z=weights,
        x=[charts.label(name, 20) for name in names],
        y=list(range(len(shown))),
        text=labels,
        texttemplate="%{text}",
        textfont={"color": charts.theme_option("backgroundColor"), "size": 12},
        hovertemplate="%{x}: %{text}<extra></extra>",
        colorscale=[[0, charts.colour(3)], [1, charts.colour(2)]],  # signs, not classes
        zmin=-1,
        zmax=1,
        showscale=False,
        xgap=3,
        ygap=3,
    )
    chart.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[axis_label(row) for row in shown],
        autorange="reversed",
        showgrid=False,
    )
    chart.update_xaxes(showgrid=False)
    return chart, words(rows)


def turn(row: PictureRow) -> int:
    """-1 for a condition that small values meet: it reads better as `... ≤ threshold`."""
    return -1 if all(cell.sign < 0 for cell in row.cells) else 1


def bound(row: PictureRow) -> str:
    """The relation and its number."""
    return f"{'≥' if turn(row) > 0 else '≤'} {number(turn(row) * row.threshold)}"


def axis_label(row: PictureRow) -> str:
    """Which rule, up to or from which threshold, says what."""
    return f"{charts.label(row.rule, 18)}: {bound(row)} → {charts.label(row.outcome, 16)}"


def words(rows: Sequence[PictureRow]) -> str:
    """The picture in sentences."""
    more = f" And {count(len(rows) - TOLD, 'more condition')}." if len(rows) > TOLD else ""
    return (
        f"{'. '.join(map(row_words, rows[:TOLD]))}.{more} In the picture blue cells help with "
        "large values, orange ones with small values."
    )


def row_words(row: PictureRow) -> str:
    """One condition as a sum, its bound and what follows."""
    cells = [
        f"{number(turn(row) * cell.weight, 3)} × {plain(cell.name)}"
        + (f" ({cell.n_features:,} features)" if cell.n_features > 1 else "")
        for cell in row.cells[:TOLD]
    ]
    total = " + ".join(cells).replace("+ -", "- ")
    more = f" and {len(row.cells) - TOLD} more" if len(row.cells) > TOLD else ""
    return f"{plain(row.rule)}: {total}{more} {bound(row)} gives {plain(row.outcome)}"
