"""Which patients to label next: both predicted classes, spread over their scores."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from hipad.data import to_csv
from hipad.evaluation.active_learning import LabelSuggestion, label_next
from hipad.utils import count
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.state import AppState

MOST: Final = 10


def show(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """The list with a download; nothing where every patient has a label."""
    X = data.X_unlabelled
    if X is None or not data.n_unlabelled:
        return
    found = state.remember("label next", (model, data), lambda: suggestions(model, data))
    with st.expander("Which patients to label next", icon=":material/label:"):
        st.caption(
            f"Of {count(data.n_unlabelled, 'patient')} without a label, these would tell the model "
            "most: both classes in turn, from patients it is sure of to those it doubts, and none "
            "like another. Label them, load the table again, and run."
        )
        st.dataframe(found, hide_index=True, alt="Which patients to label next")
        st.download_button(
            "List (CSV)",
            to_csv({name: found[name].tolist() for name in found.columns}),
            "label_next.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            help="Patients to label next, the first one first.",
        )


def suggestions(model: TrainedModel, data: Dataset, most: int = MOST) -> pd.DataFrame:
    """The patients to label, one per row."""
    found = label_next(model.classifier, data.X_unlabelled, most)
    return pd.DataFrame([_row(one, model, data) for one in found])


def _row(one: LabelSuggestion, model: TrainedModel, data: Dataset) -> dict[str, object]:
    score = model.oriented.sign * one.decision_value
    return {
        "patient": data.unlabelled_names[one.row],
        "doubt (%)": round(100 * one.score),
        f"score of {data.classes[1]}": round(score, 2),
        "why": one.reason,
    }
