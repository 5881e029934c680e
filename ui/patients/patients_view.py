"""The Patients page from top to bottom: list, sheet of the chosen one, patients of a new file."""

from __future__ import annotations

import streamlit as st

from hipad.evaluation.assessment import Assessment
from ui import tour
from ui.dataset import Dataset
from ui.jobs import poll
from ui.models import TrainedModel
from ui.patients import new_patients, patient_list, sheet
from ui.patients.patient_list import PatientList
from ui.results import results_view, stability_view
from ui.state import AppState
from ui.workbench.cross_validation import request_of


def show(state: AppState) -> None:
    """Draw the patients of the present model."""
    data = state.data
    assert data is not None
    if data.every_label is not None:
        st.info(
            "Patients are shown for two classes. Choose one class against the rest on the Data "
            "page."
        )
        return
    model = results_view.present_model(state)
    if model is None:
        return
    found = results_view.assessed(state, model, data)
    if found is not None:
        _list(state, model, data, found)
    new_patients.show(state, model, data)


def _list(state: AppState, model: TrainedModel, data: Dataset, found: Assessment) -> None:
    """Draw the list, and below it the sheet of the patient that was chosen."""
    state.memo["shown: Patients"] = (None, True)
    if found.source == "test":
        st.caption(f"The {found.noun}s of the test set, which the model has not seen.")
    else:
        st.caption(
            f"Training {found.noun}s, each answered by a model that has not seen them "
            "(cross-validated). The test set is opened on the Results page."
        )
    request = request_of(model, data)
    listed: PatientList = state.remember(
        "patients_rows", found, lambda: PatientList.of(found, request)
    )
    job = stability_view.job_of(state, model, found)
    if job is not None and job.is_active:
        under_way = job

        def summary() -> None:
            st.caption(under_way.message)

        poll(under_way, summary)
    pair = None if job is None else job.outcome
    spread = patient_list.spread_of(pair, len(found.rows))
    above = st.container()  # in a talk the patient comes first, then the list
    row = patient_list.choose(state, listed, spread)
    if row is None:
        return
    with above if tour.at() == tour.PATIENT else st.container():
        sheet.show(state, model, listed, row)
