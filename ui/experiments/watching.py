"""What every experiment on the page has: buttons, progress with the rest, warnings, exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import streamlit as st

from hipad.experiments.report import Section, failure_sections, fits_csv, page
from hipad.experiments.tasks import failed_arms
from hipad.utils import count
from ui.experiments.lab import LabWork, Plan
from ui.jobs import JobStatus
from ui.looking import keep_looking
from ui.state import AppState
from ui.words import plain

Draw = Callable[[LabWork], Sequence[Section]]


def show(
    state: AppState, name: str, asked: object, plan: Plan, draw: Draw, *, title: str, **notes: Any
) -> None:
    """Buttons and, as soon as there are fits, what `draw` makes of them, again and again."""
    work = state.lab.at.get(name)
    with st.container(horizontal=True, vertical_alignment="center"):
        _buttons(state, name, asked, plan, notes, work)
    if work is None:
        return
    if work.job.status is JobStatus.STOPPED and work.job.reason:
        state.lab.go_on(name)  # it was out of sight for too long, and is looked at again

    def look() -> None:
        _progress(work)
        if work.asked != asked:
            st.caption("What stands below was asked for before the last change. Start anew.")
        if work.fits.found:
            sections = draw(work)
            _exports(name, title, work, sections)

    keep_looking(work.job, look)


def _buttons(
    state: AppState,
    name: str,
    asked: object,
    plan: Plan,
    notes: dict[str, Any],
    work: LabWork | None,
) -> None:
    active = work is not None and work.job.is_active
    same = work is not None and work.asked == asked
    if active:
        st.button(
            "Stop",
            icon=":material/stop:",
            key=f"lab_stop_{name}",
            on_click=state.lab.stop,
            args=(name,),
            help="Ends after the present fit. Finished fits are kept.",
        )
        return
    if same and work is not None and work.job.status is JobStatus.STOPPED:
        st.button(
            "Go on",
            type="primary",
            icon=":material/play_arrow:",
            key=f"lab_go_on_{name}",
            on_click=state.lab.go_on,
            args=(name,),
            help="Finished fits are not made again.",
        )
        return
    is_done = same and work is not None and work.job.status is JobStatus.FINISHED
    st.button(
        "Start" if work is None or not same else "Start again",
        type="secondary" if is_done else "primary",
        icon=":material/play_arrow:",
        key=f"lab_start_{name}",
        on_click=lambda: state.lab.begin(name, asked, plan, **notes),
        help="Begins at once; results grow as fits end. What was fitted before is found again.",
    )


def _progress(work: LabWork) -> None:
    job, fits = work.job, work.fits
    if job.status is JobStatus.FAILED:
        st.error(plain(job.error, 600), icon=":material/error:")
        return
    if not job.is_final:
        begun = fits.pace.total > 0
        words = str(fits.pace) if begun else "Being prepared ..."
        if job.status is JobStatus.STOPPED:
            words = f"Stopped after {fits.pace.done:,} of {count(fits.pace.total, 'fit')}."
        st.progress(min(fits.pace.share if begun else 0.0, 1.0), text=words)
    for sentence in failed_arms(list(fits.found)):
        st.error(plain(sentence, 600), icon=":material/error:")


def _exports(name: str, title: str, work: LabWork, sections: Sequence[Section]) -> None:
    if work.job.is_active:
        return
    found = list(work.fits.found)
    with st.container(horizontal=True):
        st.download_button(
            "All fits (CSV)",
            lambda: fits_csv(found),
            f"{name}.csv",
            "text/csv",
            icon=":material/download:",
            key=f"lab_csv_{name}",
            on_click="ignore",
            help="One line for each fit: what was done, its figures, its time.",
        )
        st.download_button(
            "Page (HTML)",
            lambda: page(title, [*failure_sections(found), *sections]),
            f"{name}.html",
            "text/html",
            icon=":material/download:",
            key=f"lab_html_{name}",
            on_click="ignore",
            help="Tables and pictures with versions and machine, whole in itself.",
        )


def section_table(section: Section, *, plainly: bool = False) -> None:
    """A section's table, for those who want the numbers; or at once where it is the answer."""
    if not section.rows:
        return
    columns: dict[str, list[str]] = {}
    for k, head in enumerate(section.head):
        name = head or " "
        while name in columns:
            name += " "
        columns[name] = [row[k] for row in section.rows]
    with nullcontext() if plainly else st.expander("The numbers"):
        st.dataframe(columns, hide_index=True, alt=section.title)
