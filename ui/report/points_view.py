"""The model as a point score, and what its rounding costs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.data import to_csv
from hipad.evaluation.comparison import Difference, compare_rows
from hipad.evaluation.metrics import ScoredRows
from hipad.export.points import PointScore
from hipad.utils import number, percent
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.results import seal
from ui.state import AppState, attempt
from ui.text import plain

MOST_LINES: Final = 100  # of the table of risks


def show(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """Draw the points, what they cost, and the file."""
    with st.expander("Point score: whole points, added up by hand"):
        found: list[PointScore] = []

        def work() -> None:
            found.append(
                state.remember(
                    "report_points", model, lambda: PointScore.of(model.oriented, data.X_train)
                )
            )

        if not attempt(state, work):
            st.info(plain(state.error, 600))
            state.error = ""
            return
        (score,) = found
        opened = seal.is_open(state)
        cost = state.remember(
            "report_points_cost",
            (model, model.cutoff_words, opened),
            lambda: cost_of(score, model, data, opened),
        )
        st.dataframe(point_table(score, data), hide_index=True, alt="Points of each feature")
        st.markdown(cost_sentence(cost, opened))
        risks = risk_table(score, model, data)
        st.dataframe(risks, hide_index=True, height=220, alt="Risk by points")
        if score.left_out:
            names = ", ".join(plain(data.index.name(j)) for j in score.left_out[:10])
            st.caption(f"Without a point, as their weights are small: {names}.")
        lines = point_table(score, data)
        st.download_button(
            "Point score (CSV)",
            lambda: (
                to_csv({name: [line[name] for line in lines] for name in lines[0]})
                + "\n"
                + to_csv({name: [line[name] for line in risks] for name in risks[0]})
            ),
            "points.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            key="report_points_file",
        )


def point_table(score: PointScore, data: Dataset) -> list[dict[str, Any]]:
    """Return a line for each feature: from where on, by which step, how many points."""
    return [
        {
            "feature": data.index.name(one.column),
            "points": f"{one.points:+d}",
            "for each": number(one.step),
            "above": number(one.reference),
        }
        for one in score.items
    ]


def risk_table(score: PointScore, model: TrainedModel, data: Dataset) -> list[dict[str, Any]]:
    """Return the risk at each sum of points that training rows have."""
    sums = score.points(data.X_train)
    low, high = int(sums.min()), int(sums.max())
    step = max(1, -(-(high - low + 1) // MOST_LINES))
    at = np.arange(low, high + 1, step)
    scores = np.asarray(score.base + score.unit * at, dtype=np.float64)
    risks, answers = model.oriented.risks(scores), model.answers(scores)
    return [
        {"points": int(one), f"risk of {data.classes[1]}": percent(float(risk)), "answer": said}
        for one, risk, said in zip(at, risks, answers, strict=True)
    ]


def cost_of(
    score: PointScore, model: TrainedModel, data: Dataset, opened: bool
) -> tuple[Difference, ...]:
    """Compare the points with the model, on test rows where these are open."""
    X, y = (data.X_test, data.y_test) if opened else (data.X_train, data.y_train)
    groups = data.groups_test if opened else data.groups_train
    positive = np.asarray(y) == data.classes[1]
    own, rounded = (
        ScoredRows(positive, told, model.oriented.risks(told), groups, model.oriented.threshold)
        for told in (model.scores(X), score.scores(X))
    )
    return compare_rows(own, rounded, ("roc_auc", "balanced_accuracy"))


def cost_sentence(cost: tuple[Difference, ...], opened: bool) -> str:
    """Say what rounding changes, and on which rows."""
    where = "On the test set" if opened else "On the training data, which both have seen,"
    area, balanced = cost
    return (
        f"{where} the area under the ROC curve is {percent(area.second.value)} with points and "
        f"{percent(area.first.value)} with the model: a difference of "
        f"{_points(area)} points; balanced accuracy differs by {_points(balanced)} points."
    )


def _points(one: Difference) -> str:
    value, low, high = (
        100 * v for v in (one.difference.value, one.difference.low, one.difference.high)
    )
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
