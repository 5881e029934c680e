"""The result in one sentence, the two estimates and their difference."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.comparison import compare_rows
from hipad.evaluation.intervals import Estimate
from hipad.utils import percent
from ui.models import TrainedModel
from ui.state import AppState
from ui.text import plain

LEADING = ("balanced_accuracy", "roc_auc")
TITLES = {"balanced_accuracy": "Balanced accuracy", "roc_auc": "ROC AUC"}


def show(state: AppState, model: TrainedModel, found: Assessment) -> None:
    """Draw the sentence and the estimates, with rules and without."""
    accuracy = found.rows.measure("accuracy")
    cutoff = "" if model.oriented.threshold is None else plain(model.cutoff_words)
    st.success(sentence(found, accuracy, cutoff), icon=":material/fact_check:")
    columns = st.columns(2 * len(LEADING))
    for k, name in enumerate(LEADING):
        with_rules = found.rows.measure(name)
        title = TITLES[name]
        _metric(columns[2 * k], f"{title}, with rules" if found.without else title, with_rules)
        if found.without is not None:
            alone = found.without.measure(name)
            _metric(columns[2 * k + 1], f"{title}, without rules", alone)
    if found.without is not None:
        st.markdown(difference_sentence(state, found, model.classes))


def sentence(found: Assessment, accuracy: Estimate, cutoff: str = "") -> str:
    """Say how many rows are put in their class, and which rows these are.

    The share counts each row once; its interval counts the rows of one patient together. `cutoff`
    names the one that is kept with the model.
    """
    n = found.whom
    right = round(accuracy.value * len(found.rows))
    interval = f"95 % interval {percent(accuracy.low)} to {percent(accuracy.high)}"
    whose = {
        "test": f"Of {n} of the test set, which the model has not seen, it puts",
        "cross-validated": f"Cross-validated on {n} of the training set, the model puts",
    }[found.source]
    answered = f" with the cut-off that is kept ({cutoff})" if cutoff else ""
    share = f"{right:,} in the right class: {percent(accuracy.value)}"
    return f"{whose} **{share}** ({interval}){answered}."


def difference_sentence(state: AppState, found: Assessment, classes: tuple[str, str]) -> str:
    """Say what the rules change, with the interval of the difference."""
    assert found.without is not None
    pair = found.without, found.rows
    (change,) = state.remember(
        "results_difference", found, lambda: compare_rows(*pair, ("balanced_accuracy",))
    )
    points, low, high = (
        100 * value
        for value in (change.difference.value, change.difference.low, change.difference.high)
    )
    interval = f"({low:+.1f} to {high:+.1f})"
    if low <= 0 <= high:
        return (
            f"The rules change balanced accuracy by {points:+.1f} points {interval}: within what "
            f"chance explains on these {found.noun}s. The model without rules was tuned for itself."
        )
    verb = "gain" if points > 0 else "cost"
    return (
        f"The rules {verb} **{abs(points):.1f} points of balanced accuracy** {interval} for "
        f"{plain(classes[1])} against {plain(classes[0])}. The model without rules was tuned for "
        "itself."
    )


def _metric(column: Any, title: str, estimate: Estimate) -> None:
    is_known = not math.isnan(estimate.value)
    column.metric(title, percent(estimate.value) if is_known else "–")
    if is_known:
        column.caption(f"{percent(estimate.low)} to {percent(estimate.high)}")
