"""The Report page from top to bottom: the form, what is computed, the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import streamlit as st

from hipad.evaluation.metrics import named_outcomes
from hipad.evaluation.stability import N_REFITS
from hipad.export import EXPORTS, export_model
from hipad.reporting.analysis import Findings, analyse_steps, stored_model
from hipad.reporting.guidelines import tripod_answers
from hipad.reporting.html import report_page
from hipad.reporting.study import Analysis
from hipad.utils import count
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob, JobStatus, poll
from ui.models import TrainedModel, model_file
from ui.report import form_view, points_view
from ui.report.study import study_of, tables_of
from ui.results import results_view, seal
from ui.session.study_session import study_file
from ui.state import AppState, attempt
from ui.text import plain

JOB: Final = "report_job"
FILE: Final = "report.html"


def show(state: AppState) -> None:
    """Draw the report of the present model."""
    data = state.data
    assert data is not None
    if data.every_label is not None:
        st.info(
            "Reports are made of two classes. Choose one class against the rest on the Data page."
        )
        return
    model = results_view.present_model(state)
    if model is None:
        return
    seal.show(state)
    st.caption(
        "One file with the data's flow, rules, model, figures, stability, a calculator and the "
        "checklists. It needs no network and holds no row of the data."
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("What you say", anchor=False)
        form_view.show(state, rules_of(model, data))
    with right:
        st.subheader("The file", anchor=False)
        _file(state, model, data)
        _study(state, model)
        _model(state, model, data)
    points_view.show(state, model, data)


def rules_of(model: TrainedModel, data: Dataset) -> list[tuple[str, str]]:
    """Return the rules of a model by label and text, as its report names them."""
    if not model.own_settings.use_rules:
        return []
    rules = named_outcomes(data.with_blocks(model.blocks).parse(model.rules), data.classes)
    return [(label, rule.text) for label, rule in zip(rules.labels, rules, strict=True)]


def report_job(state: AppState, model: TrainedModel, refits: int) -> BackgroundJob[Findings]:
    """Return a job that finds everything that the report shows."""
    study = replace(study_of(state, model), analysis=Analysis(refits=refits))
    tables = tables_of(state)

    def steps(job: BackgroundJob[Findings]) -> Iterator[None]:
        work = analyse_steps(study, tables)
        while True:
            try:
                step = next(work)
            except StopIteration as end:
                job.outcome = end.value
                return
            job.message, job.progress = step
            yield
            SCHEDULER.give_way()

    return BackgroundJob(steps, name="the report")


def _file(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """Draw how far the work is, and the file when it is done."""
    with_refits = st.toggle(
        "With stability",
        value=True,
        key="report_refits",
        help=f"{N_REFITS:,} refits to random halves of the training data, with rules and without. "
        "They take most of the time.",
    )
    refits = N_REFITS if with_refits else 0
    # a model that is explained after its fit is another object with the same classifier
    key = (model.classifier, model.cutoff_words, data.key, refits, seal.is_open(state))
    job: BackgroundJob[Findings] = state.remember(
        JOB, key, lambda: report_job(state, model, refits)
    )
    if job.is_active:
        poll(job, lambda: _progress(job))
        return
    if job.status is JobStatus.FAILED:
        st.error(f"The report could not be made: {plain(job.error, 600)}")
        return
    if job.outcome is None:
        label = "Go on" if job.was_stopped else "Make the report"
        if st.button(label, type="primary", icon=":material/description:", key="report_make"):
            job.launch()
            st.rerun()
        return
    _download(state, job.outcome)


def _study(state: AppState, model: TrainedModel) -> None:
    """Draw the study as a file, which opens here or elsewhere."""
    st.subheader("The study", anchor=False)
    st.caption(
        "Rules, settings, records and notes in one file. It opens here (Session, in the sidebar) "
        "and by `hipad report`, and gives the same figures."
    )
    with_data = False
    if state.loaded is not None and not state.loaded.sample:
        with_data = st.toggle(
            "With the data",
            key="report_with_data",
            help="Whoever has the file then has every row of the table, with its IDs.",
        )
    st.download_button(
        "Study (.hipad)",
        lambda: study_file(state, model, with_data=with_data),
        "study.hipad",
        "application/zip",
        icon=":material/folder_zip:",
        on_click="ignore",
        key="report_study",
    )


def _model(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """Draw the model in the forms that other programs read."""
    st.subheader("The model for others", anchor=False)
    form = st.selectbox(
        "Form",
        list(EXPORTS),
        format_func=lambda name: EXPORTS[name].words,
        key="report_form",
        help="All of them give the same risks.",
    )
    content: list[str | bytes] = []

    def write() -> None:
        key = (model.classifier, model.cutoff_words, form)
        content.append(
            state.remember(
                "report_export",
                key,
                lambda: export_model(
                    stored_model(model_file(model, data, seal.seal_of(state))), form
                ),
            )
        )

    if not attempt(state, write):
        st.error(plain(state.error, 600), icon=":material/error:")
        state.error = ""
        return
    st.download_button(
        "Download the model",
        content[0],
        f"model{EXPORTS[form].ending}",
        icon=":material/download:",
        on_click="ignore",
        key="report_export_file",
    )


def _progress(job: BackgroundJob[Findings]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.progress or 0.0, text=job.message or "The report waits for a free place")
        st.button("Stop", icon=":material/stop:", key="report_stop", on_click=job.stop)


def _download(state: AppState, found: Findings) -> None:
    """Draw the button, and how far the checklist is answered."""
    summary = replace(found, study=replace(found.study, notes=state.notes))
    st.download_button(
        "Download the report",
        lambda: report_page(summary),
        FILE,
        "text/html",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
        help="One HTML file: opens in any browser, prints to A4.",
    )
    answers = tripod_answers(summary)
    status = [one.status for one in answers]
    open_ = status.count("not answered yet")
    st.markdown(
        f"TRIPOD+AI: **{len(answers) - open_} of {len(answers)} items** have an answer, "
        f"{count(open_, 'item')} {'is' if open_ == 1 else 'are'} open."
    )
    st.dataframe(
        [
            {"item": one.item.number, "topic": one.item.topic, "state": one.status}
            for one in answers
        ],
        hide_index=True,
        alt="Which items of TRIPOD+AI are answered",
    )
