"""Which risk makes an answer positive: chosen on training rows, shown on the rows assessed."""

from __future__ import annotations

import re
from typing import Final

import streamlit as st

from hipad.evaluation.assessment import Assessment, Source
from hipad.evaluation.curves import (
    Cutoff,
    cutoff_by_cost,
    cutoff_by_net_benefit,
    cutoff_by_sensitivity,
    training_rows,
)
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.exceptions import HipadError
from hipad.utils import number, percent
from ui.models import TrainedModel
from ui.state import AppState
from ui.text import plain

AS_TRAINED: Final = "as trained"
AS_KEPT: Final = "as kept"
BY_SENSITIVITY: Final = "by sensitivity"
BY_COST: Final = "by cost"
BY_BENEFIT: Final = "by net benefit"
BY_HAND: Final = "by hand"
WEIGHED: Final[dict[Source, str]] = {
    "test": "Sensitivity, cost and net benefit are weighed on training data that were held out, "
    "never on the test set shown here.",
    "cross-validated": "Sensitivity, cost and net benefit are weighed on the training data, by "
    "models that have not seen them. The figures below are of the same data: at a cut-off chosen "
    "on them they are a little too good, until the test set is opened.",
}
WAYS: Final = (AS_TRAINED, BY_SENSITIVITY, BY_COST, BY_BENEFIT, BY_HAND)
FIGURES: Final = {
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "balanced_accuracy": "Balanced accuracy",
}


def choose(state: AppState, model: TrainedModel, found: Assessment) -> float | None:
    """Draw the choice of a cut-off and return it; None is the model's own, a score above zero."""
    kept = model.oriented.threshold
    choices = WAYS if kept is None else (AS_KEPT, *WAYS)
    choice = st.segmented_control(
        "Cut-off",
        choices,
        default=choices[0],
        required=True,
        key="results_way" if kept is None else "results_way_kept",
        help=f"From which risk on the answer is the positive class. {WEIGHED[found.source]}",
    )
    positive = plain(model.classes[1], 20)
    try:
        cutoff = _cutoff(state, model, str(choice), positive)
    except HipadError as error:
        st.error(plain(error, 400), icon=":material/error:")
        return None
    if isinstance(cutoff, Cutoff):
        st.caption(f"{plain(cutoff.words(model.classes[1]))}: {plain(cutoff.reason, 200)}.")
        cutoff = cutoff.threshold
    _keep(model, cutoff)
    return cutoff


def _keep(model: TrainedModel, cutoff: float | None) -> None:
    """Say by which cut-off the model answers, and offer to take the one that is shown."""
    kept = model.oriented.threshold
    same = kept == cutoff if kept is None or cutoff is None else abs(kept - cutoff) < 1e-9
    with st.container(horizontal=True, vertical_alignment="center"):
        if not same and st.button(
            "Use this cut-off", icon=":material/check:", key="results_keep_cutoff",
            help="The model keeps it: lists of answers, files and the model's own file use it.",
        ):  # fmt: skip
            model.classifier.set_risk_threshold(cutoff, positive=model.classes[1])
            st.rerun()
        st.caption(f"The model predicts {plain(model.cutoff_words)}.")


def _cutoff(
    state: AppState, model: TrainedModel, choice: str, positive: str
) -> Cutoff | float | None:
    if choice == AS_TRAINED:
        return None
    if choice == AS_KEPT:
        return model.oriented.threshold
    if choice == BY_HAND:
        return (
            st.slider("Positive from this risk on", 1, 99, 50, format="%d %%", key="results_hand")
            / 100
        )
    rows: ScoredRows = state.remember(
        "results_training_rows",
        model,
        lambda: training_rows(model.classifier, sign=model.oriented.sign),
    )
    if choice == BY_SENSITIVITY:
        least = st.slider(
            f"Share of {positive} to find", 50, 100, 90, format="%d %%", key="results_sensitivity"
        )
        return cutoff_by_sensitivity(rows, least / 100)
    if choice == BY_COST:
        ratio = st.number_input(
            f"One missed {positive} is as bad as this many false alarms",
            min_value=0.1,
            max_value=1000.0,
            value=5.0,
            key="results_cost",
        )
        return cutoff_by_cost(rows, float(ratio))
    at = st.slider("Risk at which you would act", 1, 99, 20, format="%d %%", key="results_benefit")
    return cutoff_by_net_benefit(rows, at / 100)


def figures(rows: ScoredRows, cutoff: float | None, noun: str) -> None:
    """Draw what the answers are worth at a cut-off, and at a stated prevalence."""
    own = float(rows.positive.mean())
    narrow, _ = st.columns([2, 3])
    stated = narrow.number_input(
        "Prevalence where the model will be used (%)",
        min_value=0.1,
        max_value=99.9,
        value=round(min(max(100 * own, 0.1), 99.9), 1),
        step=1.0,
        key="results_prevalence",
        help=f"The predictive values (PPV, NPV) depend on it. It starts at that of these {noun}s.",
    )
    prevalence = None if abs(stated - 100 * own) < 0.051 else float(stated) / 100
    answered = rows.at(cutoff)
    for column, (name, title) in zip(st.columns(len(FIGURES)), FIGURES.items(), strict=True):
        found = answered.measure(name, prevalence=prevalence)
        known = found.value == found.value
        column.metric(title, percent(found.value) if known else "–", help=words_of(name, noun))
        column.caption(
            f"{percent(found.low)} to {percent(found.high)}" if known else "none of these"
        )


def words_of(name: str, noun: str) -> str:
    """Say what a metric is, in the noun of the data.

    >>> words_of("sensitivity", "patient")
    'share of positive patients that are found'
    """
    return re.sub(r"\brow(s?)\b", rf"{noun}\1", METRICS[name].words)


def table(measured: dict[str, dict[str, Estimate]], noun: str) -> None:
    """Draw every metric with its interval, with rules and without."""
    lines = []
    for name in METRICS:
        line = {"metric": name.replace("_", " "), "what it says": words_of(name, noun)}
        for title, own in measured.items():
            one = own[name]
            line[title] = f"{number(one.value, 3)} ({number(one.low, 3)} to {number(one.high, 3)})"
        lines.append(line)
    st.dataframe(lines, hide_index=True)
