"""The Workbench page: move a threshold or a weight, and see what changes against a model."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hipad.exceptions import HipadError
from ui import charts, feature_sheet
from ui.dataset import Dataset
from ui.jobs import JobStatus
from ui.models import TrainedModel
from ui.page_frame import need_data
from ui.state import AppState, app_state
from ui.text import plain
from ui.workbench import (
    comparison,
    controls,
    cross_validation,
    kept_models,
    refit,
    rule_ablation,
    view,
)


def first_model(state: AppState) -> None:
    """Offer to fit a model, as there is nothing to compare with."""
    job = state.job
    if refit.is_refitting(state):
        st.info("The kept models are being fitted again. This page continues when they are ready.")
        return
    if job is not None and job.is_active:
        st.info("The first model is being fitted. This page continues when it is ready.")
        return
    if job is not None and job.status is JobStatus.FAILED:
        st.error(f"The run failed: {plain(job.error, 600)}", icon=":material/error:")
    st.info(
        "The Workbench compares with a reference model. Fit one with the present rules and "
        "settings.",
        icon=":material/tune:",
    )
    if st.button(
        "Fit the first model",
        type="primary",
        icon=":material/play_arrow:",
        key="bench_first",
        help="Runs once. After that, the model follows every move of a slider.",
    ):
        state.launch()
        st.rerun()


def compare(state: AppState, data: Dataset, base: TrainedModel) -> None:
    """Draw the sliders, and what they change."""
    refit.follow_rules(state)
    above, below = st.container(key="bench_view"), st.container(key="bench_changes")
    with below:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            controls.actions(state)
            chosen = kept_models.choose_shown(state)
        plain_sliders = st.container()
        other = model_to_compare(state, base, chosen)
        if other is not None:
            show_changes(state, base, other)
    with above:
        show_sliders(state, data, base, other, plain_sliders)
    if other is not None:
        rule_ablation.show(state, base)
        kept_models.show(state)


def model_to_compare(
    state: AppState, base: TrainedModel, chosen: TrainedModel | None
) -> TrainedModel | None:
    """Return the kept model that was chosen, else that of the sliders; None where there is none."""
    if chosen is None and refit.must_ask(state, base):
        st.info(f"A refit of these data takes about {state.tuning.seconds:.0f} seconds.")
        if not st.button("Refit", type="primary", key="bench_refit",
                         help="Fit with the sliders where they are."):  # fmt: skip
            return None
    try:
        return chosen or refit.refitted(state, base)
    except HipadError as error:
        st.error(f"These rules cannot be used: {plain(error, 600)}", icon=":material/error:")
        st.page_link("pages/rules.py", label="Correct them", icon=":material/arrow_forward:")
        return None


def show_sliders(
    state: AppState, data: Dataset, base: TrainedModel, shown: TrainedModel | None, place: Any
) -> None:
    """Draw the view with its sliders and, below it, the same sliders without pictures."""
    rules = data.read(state.tuning.draft).rules
    if not rules:
        st.info("There is no rule to tune. Write one on the **Rules** page.")
        st.page_link("pages/rules.py", label="Go to Rules", icon=":material/arrow_forward:")
        return
    sliders = controls.sliders_in_sight(state, data, base, rules)
    page = {slider.position for slider, _ in sliders.values()}
    notes = controls.notes(state, data, base, rules, page)
    view.show(state, data, base, shown, rules, sliders, notes)
    with place, st.expander("Each rule: plain sliders, learnt weights, and what if it is wrong"):
        controls.show_plain(state, base, rules, sliders, notes)


def show_changes(state: AppState, base: TrainedModel, other: TrainedModel) -> None:
    """Draw everything that differs between two models."""
    found = refit.compared(state, base, other)
    cross_validation.show(state, base, other)
    comparison.show_figures(found, expert=state.expert)
    if found.data.judged.part == "test":
        rows = found.data.row_word()
        st.caption(
            "Do not tune on test results: they will look too good. Move the sliders by the "
            f"cross-validated figures, and look at the test {rows} last."
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kept_models.offer_to_keep(state, other, key="bench")
    chart, text = comparison.weight_chart(found)
    charts.show(chart, key="bench_blocks", text=text)
    comparison.show_margins(found, refit.draft_rules(state))
    comparison.show_features(found)
    comparison.show_patients(found)


state = app_state()
st.title("Workbench", anchor=False)
if need_data(state):
    assert state.data is not None
    asked = feature_sheet.taken(state)
    base = refit.reference_model(state)
    if base is None:
        first_model(state)
    else:
        compare(state, state.data, base)
    feature_sheet.show(state.data, state.model or base, state.rules.text, asked)
