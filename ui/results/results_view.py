"""The Results page from top to bottom: sentence, estimates, pictures, figures."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.evaluation.assessment import Assessment, Source
from hipad.solvers import Status
from ui import charts
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, JobStatus, poll
from ui.models import TrainedModel
from ui.patients.patient_list import CHOSEN, compiled_rules
from ui.results import (
    cannot_say,
    cutoff_control,
    seal,
    stability_view,
    subgroups,
    tuning_correction,
    verdict,
)
from ui.results.assessment import assessment_job, without_rules
from ui.results.curves import Curves, patients_chart
from ui.state import AppState
from ui.text import plain
from ui.workbench.cross_validation import folds_of, request_of

JOB: Final = "results_job"
KEPT: Final = "results_at_cutoff"


def show(state: AppState) -> None:
    """Draw the results of the present model."""
    data = state.data
    assert data is not None
    if data.every_label is not None:
        st.info(
            "Results are shown for two classes. Choose one class against the rest on the Data page."
        )
        return
    model = present_model(state)
    if model is None:
        return
    seal.show(state)
    found = assessed(state, model, data)
    if found is not None:
        state.memo["shown: Results"] = (None, True)
        _results(state, model, data, found)


def assessed(state: AppState, model: TrainedModel, data: Dataset) -> Assessment | None:
    """Return what the model says of unseen rows; None, and a bar drawn, while this is computed."""
    source: Source = "test" if seal.is_open(state) else "cross-validated"
    request = request_of(model, data)
    folds = [folds_of(state, asked) for asked in (request, without_rules(request))]
    job: BackgroundJob[Assessment] = state.remember(
        JOB, (model, source), lambda: assessment_job(model, request, source, folds)
    )
    if not job.is_active and not job.is_final and job.status is not JobStatus.FAILED:
        job.launch()
    if job.is_final:
        if job.outcome is not None:
            tuning_correction.note(state, model, job.outcome)
            return _at_kept_cutoff(state, model, job.outcome)
        return None
    poll(job, lambda: _progress(job))
    return None


def _at_kept_cutoff(state: AppState, model: TrainedModel, found: Assessment) -> Assessment:
    """Return the rows as the model answers them, by the cut-off that is kept with it."""
    threshold = model.oriented.threshold
    before: Assessment | None = state.memo.get(KEPT, (None, None))[1]
    kept = state.remember(KEPT, (model, found.source, threshold), lambda: found.at(threshold))
    chosen = state.memo.get(CHOSEN)
    is_same = before is not None and before.names is kept.names
    if is_same and chosen is not None and chosen[0] is before:
        state.memo[CHOSEN] = (kept, chosen[1])  # whoever was looked at still is
    return kept


def present_model(state: AppState) -> TrainedModel | None:
    """Return the model to show: that of the last run, else the reference model."""
    if state.job is not None and state.job.is_active:
        st.info("The model is being fitted; its results appear when it is ready.")
        poll(state.job, lambda: None)
        return None
    model = state.model or state.pinned_model
    if model is None:
        st.info("Results need a fitted model. Run a fit first.", icon=":material/play_circle:")
        if st.button("Fit a model", type="primary", key="results_fit"):
            state.launch()
            st.rerun()
        return None
    if model.classifier.certificate_.status is Status.STOPPED:
        st.info("The run was stopped, so there is no final model to judge. Run it again.")
        return None
    return model


def _progress(job: BackgroundJob[Assessment]) -> None:
    if job.status is JobStatus.FAILED:
        st.error(f"The model could not be judged: {plain(job.error, 600)}")
        return
    st.progress(job.progress or 0.0, text=job.message or "The model is being judged")


def _results(state: AppState, model: TrainedModel, data: Dataset, found: Assessment) -> None:
    verdict.show(state, model, found)
    if found.source == "cross-validated" and rules_unseen(state, model, data):
        st.info(
            f"No rule applies to any training {found.noun}, so cross-validation cannot see what "
            f"the rules do for those {found.noun}s they are meant for: only {found.noun}s to whom "
            "a rule applies can tell. For tuning by such patients, give a part of the test set to "
            "training (Data page, share for testing) before you open the rest."
        )
    tuning_correction.show(state, model, data, found)
    curves: Curves = state.remember(
        "results_curves", (model, found.source), lambda: Curves(found)
    )  # of scores and risks, which no cut-off changes

    def at_cutoff() -> None:
        cutoff = cutoff_control.choose(state, model, found)
        left, right = st.columns(2)
        pictures = (
            (left, "results_roc", curves.roc_chart(cutoff)),
            (right, "results_calibration", curves.calibration_chart()),
            (left, "results_decision", curves.decision_chart(cutoff)),
            (right, "results_risks", curves.risk_chart(cutoff, data.classes)),
        )
        for column, key, (chart, text) in pictures:
            charts.show(chart, key=key, text=text, where=column)
        cutoff_control.figures(found.rows, cutoff, found.noun)
        with st.expander("All figures, with 95 % intervals"):
            cutoff_control.table(curves.figures_at(cutoff), found.noun)

    st.fragment(at_cutoff)()
    subgroups.show(state, model, data, found)
    _open_patient(state, found, data)
    stability_view.show(state, model, request_of(model, data), data, found)
    cannot_say.show(found, data.classes)


def rules_unseen(state: AppState, model: TrainedModel, data: Dataset) -> bool:
    """Whether there are rules, of which none applies to a training row."""

    def look() -> bool:
        rules = compiled_rules(request_of(model, data))
        return bool(rules) and not any(
            rule.fires(data.X_train, data.gaps_train).any() for rule in rules
        )

    return state.remember("results_rules_unseen", model, look)


def _open_patient(state: AppState, found: Assessment, data: Dataset) -> None:
    """Draw every row as a dot; a click opens its sheet on the Patients page."""
    chart, text = patients_chart(found, data.classes)
    key = state.fresh_key("results_patients", (found, state.memo.get(CHOSEN)))
    row = charts.show_to_choose(chart, key=key, text=text)
    if row is not None:
        state.memo[CHOSEN] = (found, row)
        st.switch_page("pages/patients.py")
