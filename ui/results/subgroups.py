"""The figures by subgroup: the rows that are judged, divided by the values of one feature."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import streamlit as st
from scipy import sparse

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import Subgroup, by_subgroup, cut_column
from hipad.utils import percent
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.state import AppState

FIGURES: Final = ("accuracy", "sensitivity", "specificity", "roc_auc")
PARTS: Final = 3  # into which numbers are cut
MOST_FEATURES: Final = 200  # to choose from; those of the model first


def show(state: AppState, model: TrainedModel, data: Dataset, found: Assessment) -> None:
    """Draw the choice of a feature, and the figures of each part of the rows."""
    with st.expander("Figures by subgroup"):
        features = features_of(model, data)
        narrow, _ = st.columns([2, 3])
        chosen = narrow.selectbox(
            "Divide the rows by",
            features,
            index=None,
            format_func=lambda j: data.index.name(j),
            key="results_subgroup",
            help=f"Numbers are cut into {PARTS} parts of as many {found.noun}s.",
        )
        if chosen is None:
            st.caption("Does the model do as well for everybody? Choose what divides them.")
            return
        parts = state.remember(
            "results_subgroups", (found, chosen), lambda: subgroups(data, found, int(chosen))
        )
        st.dataframe(table(parts, found.noun), hide_index=True, alt="Figures by subgroup")
        st.caption(
            "With 95 % intervals. Subgroups differ by chance too: a difference that was looked for "
            "among many is no finding yet."
        )


def features_of(model: TrainedModel, data: Dataset) -> list[int]:
    """Return columns to divide by: those of the model, then others."""
    own = [int(j) for j in model.support[:MOST_FEATURES]]
    rest = np.setdiff1d(np.arange(min(data.n_features, 2 * MOST_FEATURES)), own)
    return own + [int(j) for j in rest[: MOST_FEATURES - len(own)]]


def subgroups(data: Dataset, found: Assessment, column: int) -> tuple[Subgroup, ...]:
    """Return the figures of the rows, divided by a column."""
    X = data.X_test if found.source == "test" else data.X_train
    assert X is not None
    values = X[:, [column]]
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    gaps = data.gaps_test if found.source == "test" else data.gaps_train
    cells = values.ravel().astype(float)
    if gaps:
        cells = np.where(gaps.rows([column])[: cells.size], np.nan, cells)
    return by_subgroup(found.rows, cut_column(cells, PARTS), FIGURES)


def table(parts: tuple[Subgroup, ...], noun: str) -> list[dict[str, Any]]:
    """Return a line for each part."""
    return [
        {
            "value": part.label,
            f"{noun}s": part.n,
            "of the positive class": part.n_positive,
            **{name.replace("_", " "): _told(one) for name, one in part.figures.items()},
        }
        for part in parts
    ]


def _told(one: Estimate) -> str:
    if np.isnan(one.value):
        return "–"
    return f"{percent(one.value)} ({percent(one.low)} to {percent(one.high)})"
