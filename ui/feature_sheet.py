"""One feature in a dialog: its values by class, its weight in the model, the rules that name it.

feature_sheet.ask(state, column)          # a tile or a bar was clicked
asked = feature_sheet.taken(state)        # at the top of the page
feature_sheet.show(state, data, asked)    # at its end
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from scipy.sparse import issparse

from hipad.utils import IntArray, number, one_line, signed
from ui import charts
from ui.dataset import NO_BLOCK, Dataset
from ui.models import TrainedModel, comparable_weights, measure_of
from ui.rules.checks import fitting_rules
from ui.state import AppState
from ui.text import plain

SLOT: Final = "feature to open"
BINS: Final = 24


def ask(state: AppState, column: int) -> None:
    """Have a feature opened when the page is drawn next."""
    state.memo[SLOT] = (None, int(column))


def ask_cell(state: AppState, cell: str, cell_of: IntArray) -> None:
    """Have the feature of a tile opened: of several in one tile, the one with the largest weight.

    What the browser sends may be anything: a cell that is not there opens nothing.
    """
    if not cell.isdecimal() or len(cell) > 9:
        return
    columns = np.flatnonzero(cell_of == int(cell))
    if not columns.size:
        return
    model = state.model
    if model is not None and model.weights.size == cell_of.size:
        columns = columns[np.argsort(-np.abs(model.weights[columns]), kind="stable")]
    ask(state, int(columns[0]))


def is_asked(state: AppState) -> bool:
    """Whether a feature waits to be opened."""
    return SLOT in state.memo


def taken(state: AppState) -> int | None:
    """Return the feature that was asked for, once."""
    found: tuple[object, int] | None = state.memo.pop(SLOT, None)
    return None if found is None else found[1]


def show(data: Dataset, model: TrainedModel | None, rules: str, column: int | None) -> None:
    """Open the dialog of a feature, if one was asked for."""
    if column is not None and 0 <= column < data.n_features:
        name = one_line(data.index.name(column), 60)
        st.dialog(plain(name))(lambda: draw(data, model, rules, column))()


def draw(data: Dataset, model: TrainedModel | None, rules: str, column: int) -> None:
    """Draw what is known of a feature."""
    (block,) = data.block_of(np.array([column]))
    of = "" if block == NO_BLOCK else f"Block: {plain(block)}. "
    st.markdown(of + weight_words(data, model, column))
    values, positive = measured(data, column)
    chart, text = histogram(data, values, positive)
    charts.show(chart, key=f"feature_{column}", text=text)
    st.dataframe(by_class(data, values, positive), hide_index=True, alt="Values by class")
    named = naming(data, rules, column)
    if named:
        st.markdown("**Rules that use it**")
        st.markdown("\n".join(f"- {plain(rule, 200)}" for rule in named))
    else:
        st.caption("No rule uses this feature.")


def weight_words(data: Dataset, model: TrainedModel | None, column: int) -> str:
    """Return what the model does with a feature."""
    if model is None or model.weights.size != data.n_features:
        return "No model of these data yet."
    weight = float(comparable_weights(model, data)[column])
    if not weight:
        return "It has no weight in the model."
    unit = " per standard deviation" if measure_of(model) != "weight" else ""
    favours = plain(data.classes[int(weight > 0)])
    return f"Weight {signed(weight, 3)}{unit}: large values favour {favours}."


def measured(data: Dataset, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training values that are in the file, and which of them are of the positive
    class.
    """
    own = data.X_train[:, [column]]
    values = np.asarray(own.toarray() if issparse(own) else own, dtype=float).ravel()
    known = np.ones(values.size, dtype=bool)
    if data.gaps_seen is not None:
        known = ~data.gaps_seen.rows([column])[: values.size]
    return values[known], (data.y_train == data.classes[1])[known]


def histogram(data: Dataset, values: np.ndarray, positive: np.ndarray) -> tuple[go.Figure, str]:
    """Return how often values occur in each class, and the same in words."""
    chart = charts.figure("Training values", x="value", y=data.line_word(), height=240)
    edges = np.histogram_bin_edges(values, BINS) if values.size else np.array([0.0, 1.0])
    means = []
    for which, name in enumerate(data.classes):
        own = values[positive == bool(which)]
        chart.add_bar(
            x=0.5 * (edges[1:] + edges[:-1]),
            y=np.histogram(own, edges)[0],
            width=np.diff(edges),
            name=charts.label(name),
            marker_color=charts.class_colour(which),
        )
        if own.size:
            means.append(f"{number(float(own.mean()))} in {plain(name)}")
    chart.update_layout(barmode="stack", bargap=0, legend_traceorder="normal")
    return chart, f"On average {', '.join(means)}." if means else "No value is known."


def by_class(data: Dataset, values: np.ndarray, positive: np.ndarray) -> pd.DataFrame:
    """Return mean, deviation and range in each class."""
    rows = []
    for which, name in enumerate(data.classes):
        own = values[positive == bool(which)]
        known = (
            {
                "mean": own.mean(),
                "sd": own.std(),
                "min": own.min(),
                "max": own.max(),
            }
            if own.size
            else {}
        )
        rows.append(
            {"class": name, data.line_word(): f"{own.size:,}"}
            | {key: number(float(value)) for key, value in known.items()}
        )
    return pd.DataFrame(rows).fillna("–")


def naming(data: Dataset, rules: str, column: int) -> list[str]:
    """Return the rules whose conditions use a feature, by itself or in a block."""
    found = data.read(rules).rules
    fitting, _ = fitting_rules(found, data)
    return [
        f"{found.labels[position]}: {found[position].text}"
        for position, rule in sorted(fitting.items())
        if column in rule.columns
    ]
