"""B and d as a picture: rows are conditions, columns the features that they name, d beside them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from hipad.data import to_csv
from hipad.evaluation.rule_study import Study
from hipad.rules import CompiledRule, MatrixPicture, PictureRow, matrix_picture, picture
from hipad.utils import count, number
from ui import charts
from ui.dataset import Dataset
from ui.rules.checks import study_rows
from ui.state import AppState
from ui.text import plain

MOST_ROWS: Final = 24
TOLD: Final = 5  # conditions, and cells of one, that are told in words
YOURS, SCALED = "Your units", "Scaled units"
WRITTEN: Final = 24  # columns whose cells have room for their number
DEEPEST: Final = 2.2  # the full colour would stand here: numbers stay readable on the cells
UPRIGHT: Final = 3  # columns whose names stand side by side


def show(state: AppState, checked: Study, data: Dataset) -> None:
    """The picture, and for experts the units and the files to take away."""
    st.subheader("Conditions and their features", anchor=False)
    active = checked.active[:MOST_ROWS]
    if not active:
        st.caption("Switch a rule on to see it here.")
        return
    scaled = state.expert and _units() == SCALED
    shown = state.remember(
        "matrix", (checked, scaled), lambda: _matrix(state, active, data, scaled)
    )
    rows = picture(active, blocks=data.blocks)
    chart = draw(shown, literal=state.expert)
    charts.show(chart, key="rules_picture", text=words(rows))
    if len(checked.active) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of {count(len(checked.active), 'rule')}.")
    if shown.binned:
        st.caption("Neighbouring features share a column, with the mean of their values.")
    if state.expert:
        _take_away(active, shown, data)
        st.caption(" ".join(plain(r, 200) for rule in active[:5] for r in rule.remarks[:2]))


def _units() -> str:
    return str(
        st.segmented_control(
            "Units",
            [YOURS, SCALED],
            default=YOURS,
            required=True,
            key="rules_units",
            label_visibility="collapsed",
            help="B and d in the units of your data, or as the solver uses them: features "
            "standardised to mean 0 and standard deviation 1 (less for features that hardly vary, "
            "if there are thousands).",
        )
    )


def _matrix(
    state: AppState, active: Sequence[CompiledRule], data: Dataset, scaled: bool
) -> MatrixPicture:
    seen = study_rows(data, state.settings)
    mean, scale = (seen.mean, seen.scale) if scaled else (None, None)
    return matrix_picture(active, blocks=data.blocks, mean=mean, scale=scale)


def _take_away(active: Sequence[CompiledRule], shown: MatrixPicture, data: Dataset) -> None:
    with st.container(horizontal=True):
        st.download_button(
            "B and d (CSV)",
            partial(as_csv, active, data),
            "rules_B_d.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            help="One line for each entry of B that is not zero and for each entry of d, in the "
            "units of your data.",
        )
        st.download_button(
            "B and d (LaTeX)",
            shown.latex,
            "rules_B_d.tex",
            "text/plain",
            icon=":material/download:",
            on_click="ignore",
            help="The matrix as shown here, as an array for a paper.",
        )


def as_csv(rules: Sequence[CompiledRule], data: Dataset) -> str:
    """Every entry of B and d, in the user's units."""
    lines: dict[str, list[Any]] = {"row": [], "rule": [], "part": [], "feature": [], "value": []}
    row = 0
    for rule in rules:
        for k in range(len(rule.d)):
            row += 1
            begin, end = rule.B.indptr[k : k + 2]
            entries = zip(rule.B.indices[begin:end], rule.B.data[begin:end], strict=True)
            cells = [("B", data.index.name(int(j)), float(value)) for j, value in entries]
            for part, name, value in [*cells, ("d", "", float(rule.d[k]))]:
                for key, cell in zip(lines, (row, rule.label, part, name, value), strict=True):
                    lines[key].append(cell)
    return to_csv(lines)


def draw(shown: MatrixPicture, *, literal: bool) -> go.Figure:
    """A cell for each condition and column, coloured by value and sign, and d beside it.

    Unless it is to be literal, conditions are turned so that they read as the user wrote them.
    """
    turns = np.ones(len(shown.d)) if literal else np.array([*map(turn, shown.values)])
    values = turns[:, None] * shown.values
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    tints = np.where(shown.named > 0, -shown.values / np.where(largest > 0, largest, 1.0), np.nan)
    n_rows, n_columns = values.shape
    chart = make_subplots(1, 2, column_widths=[0.84, 0.16], horizontal_spacing=0.02)
    base = charts.figure("", x="", y="", height=120 + 34 * n_rows)
    chart.update_layout(base.layout)
    chart.update_layout(title={"text": "B x ≤ d" if literal else ""})
    rows = list(range(n_rows))
    cells = np.vectorize(lambda v, n: number(v, 3) if n else "", otypes=[object])
    chart.add_heatmap(
        z=tints, x=list(range(n_columns)), y=rows, row=1, col=1,
        text=cells(values, shown.named), customdata=_hovers(shown, values),
        texttemplate="%{text}" if n_columns <= WRITTEN else "",
        textfont={"color": charts.theme_option("textColor"), "size": 12},
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=_scale(), zmin=-DEEPEST, zmax=DEEPEST, showscale=False, xgap=2, ygap=2,
    )  # fmt: skip
    chart.add_heatmap(
        z=np.zeros((n_rows, 1)), x=[0], y=rows, row=1, col=2,
        text=[[bound(t, d, literal=literal)] for t, d in zip(turns, shown.d, strict=True)],
        texttemplate="%{text}",
        textfont={"color": charts.theme_option("textColor"), "size": 12},
        customdata=[[_d_hover(k, d)] for k, d in enumerate(shown.d, start=1)],
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=_scale(), zmin=-1, zmax=1, showscale=False, ygap=2,
    )  # fmt: skip
    _axes(chart, shown, "d" if literal else "limit")
    return chart


def _axes(chart: go.Figure, shown: MatrixPicture, bound_name: str) -> None:
    n = len(shown.columns)
    every = max(1, -(-n // WRITTEN))
    named = range(0, n, every)
    chart.update_xaxes(showgrid=False, zeroline=False, ticks="")
    chart.update_xaxes(
        tickvals=list(named),
        ticktext=[_column(shown, k) for k in named],
        tickangle=-30 if n > UPRIGHT else 0,
        col=1,
    )
    chart.update_xaxes(tickvals=[0], ticktext=[bound_name], col=2)
    chart.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, ticks="")
    chart.update_yaxes(
        tickvals=list(range(len(shown.d))),
        ticktext=[
            f"{charts.label(rule, 18)} → {charts.label(outcome, 14)}"
            for rule, outcome in zip(shown.labels, shown.outcomes, strict=True)
        ],
        col=1,
    )
    chart.update_yaxes(showticklabels=False, col=2)


def _column(shown: MatrixPicture, k: int) -> str:
    column = shown.columns[k]
    times = f" × {column.features.size:,}" if column.features.size > 1 else ""
    return f"{charts.label(column.name, 18)}{times}"


def _scale() -> list[tuple[float, str]]:
    """Grey by how much a feature counts; no colour, as colours speak of classes and blocks."""
    ground = charts.theme_option("secondaryBackgroundColor") or "#eeeeee"
    return [(0.0, charts.rest_colour()), (0.5, ground), (1.0, charts.rest_colour())]


def _hovers(shown: MatrixPicture, values: np.ndarray) -> np.ndarray:
    """The paper's symbols for each cell, and what stands behind them."""
    hovers = np.full(values.shape, "", dtype=object)
    for i, j in zip(*np.nonzero(shown.named), strict=True):
        column = shown.columns[j]
        name = charts.label(column.name, 40)
        low, high = shown.lowest[i, j], shown.highest[i, j]
        span = number(low, 4) if low == high else f"{number(low, 4)} to {number(high, 4)}"
        many = f", {int(shown.named[i, j]):,} features" if column.features.size > 1 else ""
        hovers[i, j] = (
            f"{charts.label(shown.conditions[i], 60)}<br>"
            f"B<sub>{i + 1},j</sub> = {span} for {name}{many}<br>"
            "B x ≤ d ⇒ y (w′x + b) ≥ 1 − slack"
        )
    return hovers


def _d_hover(k: int, d: float) -> str:
    return f"d<sub>{k}</sub> = {number(d, 5)}: row {k} is B<sub>{k}</sub> x ≤ {number(d, 5)}"


def turn(row: np.ndarray) -> float:
    """-1 where large values meet a condition: it reads better as `... ≥ threshold`."""
    return -1.0 if (row < 0).any() else 1.0


def bound(turned: float, d: float, *, literal: bool = False) -> str:
    """The relation and its number.

    >>> bound(-1.0, -4.0), bound(1.0, 2.0), bound(1.0, -4.0, literal=True)
    ('≥ 4', '≤ 2', '-4')
    """
    if literal:
        return number(d, 4)
    return f"{'≥' if turned < 0 else '≤'} {number(turned * d + 0.0, 4)}"


def words(rows: Sequence[PictureRow]) -> str:
    """The picture in sentences."""
    more = f" And {count(len(rows) - TOLD, 'more condition')}." if len(rows) > TOLD else ""
    return (
        f"{'. '.join(map(row_words, rows[:TOLD]))}.{more} The stronger the shade, the more "
        "the feature counts; a minus sign means that small values help instead of large ones."
    )


def row_words(row: PictureRow) -> str:
    """One condition as a sum, its bound and what follows."""
    side = 1 if any(cell.sign > 0 for cell in row.cells) else -1
    cells = [
        f"{number(side * cell.weight, 3)} × {plain(cell.name)}"
        + (f" ({cell.n_features:,} features)" if cell.n_features > 1 else "")
        for cell in row.cells[:TOLD]
    ]
    total = " + ".join(cells).replace("+ -", "- ")
    more = f" and {len(row.cells) - TOLD} more" if len(row.cells) > TOLD else ""
    relation = f"{'≥' if side > 0 else '≤'} {number(side * row.threshold + 0.0)}"
    return f"{plain(row.rule)}: {total}{more} {relation} gives {plain(row.outcome)}"
