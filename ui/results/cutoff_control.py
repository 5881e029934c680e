"""Which risk makes an answer positive: chosen on training rows, shown on the rows assessed."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.evaluation.cutoffs import (
    Cutoff,
    cutoff_by_cost,
    cutoff_by_net_benefit,
    cutoff_by_sensitivity,
    training_rows,
)
from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.exceptions import HipadError
from hipad.utils import number, percent
from ui.models import TrainedModel
from ui.state import AppState
from ui.text import plain

AS_TRAINED: Final = "as trained"
BY_SENSITIVITY: Final = "by sensitivity"
BY_COST: Final = "by cost"
BY_BENEFIT: Final = "by net benefit"
BY_HAND: Final = "by hand"
WAYS: Final = (AS_TRAINED, BY_SENSITIVITY, BY_COST, BY_BENEFIT, BY_HAND)
FIGURES: Final = {
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "balanced_accuracy": "Balanced accuracy",
}


def choose(state: AppState, model: TrainedModel) -> float | None:
    """Draw the choice of a cut-off and return it; None is the model's own, a score above zero."""
    way = st.segmented_control(
        "Cut-off",
        WAYS,
        default=AS_TRAINED,
        required=True,
        key="results_way",
        help="From which risk on the answer is the positive class. Sensitivity, cost and net "
        "benefit are weighed on training rows that were held out, never on the rows shown here.",
    )
    positive = plain(model.classes[1], 20)
    try:
        cutoff = _cutoff(state, model, str(way), positive)
    except HipadError as error:
        st.error(plain(error, 400), icon=":material/error:")
        return None
    if cutoff is None:
        return None
    if isinstance(cutoff, Cutoff):
        st.caption(f"{plain(cutoff.words(model.classes[1]))}: {plain(cutoff.reason, 200)}.")
        return cutoff.threshold
    return cutoff


def _cutoff(state: AppState, model: TrainedModel, way: str, positive: str) -> Cutoff | float | None:
    if way == AS_TRAINED:
        return None
    if way == BY_HAND:
        return st.slider("Risk from which on", 1, 99, 50, format="%d %%", key="results_hand") / 100
    rows: ScoredRows = state.remember(
        "results_training_rows",
        id(model.classifier),
        lambda: training_rows(model.classifier, sign=model.oriented.sign),
    )
    if way == BY_SENSITIVITY:
        least = st.slider(
            f"Share of {positive} to find", 50, 100, 90, format="%d %%", key="results_sensitivity"
        )
        return cutoff_by_sensitivity(rows, least / 100)
    if way == BY_COST:
        ratio = st.number_input(
            f"A missed {positive} is as bad as so many false alarms",
            min_value=0.1,
            max_value=1000.0,
            value=5.0,
            key="results_cost",
        )
        return cutoff_by_cost(rows, float(ratio))
    at = st.slider("Risk at which you would act", 1, 99, 20, format="%d %%", key="results_benefit")
    return cutoff_by_net_benefit(rows, at / 100)


def figures(rows: ScoredRows, cutoff: float | None) -> None:
    """Draw what the answers are worth at a cut-off, and at a stated prevalence."""
    own = float(rows.positive.mean())
    stated = st.number_input(
        "Prevalence where the model will be used (%)",
        min_value=0.1,
        max_value=99.9,
        value=round(min(max(100 * own, 0.1), 99.9), 1),
        step=1.0,
        key="results_prevalence",
        help="The predictive values (PPV, NPV) depend on it. It starts at that of these rows.",
    )
    prevalence = None if abs(stated - 100 * own) < 0.051 else float(stated) / 100
    answered = rows.at(cutoff)
    for column, (name, title) in zip(st.columns(len(FIGURES)), FIGURES.items(), strict=True):
        found = answered.measure(name, prevalence=prevalence)
        known = found.value == found.value
        column.metric(title, percent(found.value) if known else "–", help=METRICS[name].words)
        column.caption(f"{percent(found.low)} to {percent(found.high)}" if known else "no such row")


def table(rows: ScoredRows, without: ScoredRows | None, cutoff: float | None) -> None:
    """Draw every metric with its interval, with rules and without."""
    shown = {"with rules" if without is not None else "model": rows}
    if without is not None:
        shown["without rules"] = without
    lines = []
    found = {title: own.at(cutoff).measure_all() for title, own in shown.items()}
    for name, metric in METRICS.items():
        line = {"metric": name.replace("_", " "), "what it says": metric.words}
        for title in shown:
            one = found[title][name]
            line[title] = f"{number(one.value, 3)} ({number(one.low, 3)} to {number(one.high, 3)})"
        lines.append(line)
    st.dataframe(lines, hide_index=True)
