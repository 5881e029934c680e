"""Who does the fits, behind the switch for experts: processes here, or a Dask cluster."""

from __future__ import annotations

import os

import streamlit as st

from ui.state import AppState


def show(state: AppState) -> None:
    """The switch, and what it shows."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.expert = st.toggle(
            "Expert",
            state.expert,
            key=f"lab_expert_{state.version}",
            help="Number of draws, sizes, grids, workers, cluster.",
        )
        if not state.expert:
            return
        cores = os.cpu_count() or 1
        state.lab.workers = int(
            st.number_input(
                "Workers",
                1,
                max(cores, 1),
                min(state.lab.workers, cores),
                key="lab_workers",
                help="Processes on this computer. The figures do not depend on it.",
                width=120,
            )
        )
        state.lab.scheduler = st.text_input(
            "Dask scheduler",
            state.lab.scheduler,
            key="lab_scheduler",
            placeholder="tcp://host:8786",
            help="The address of a cluster's scheduler: its workers then do the fits, and the data "
            "go there. Empty: this computer.",
            width=260,
        )
