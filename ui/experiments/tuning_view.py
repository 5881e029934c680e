"""Tune: a grid of settings by cross-validation on the training data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from hipad.estimator.settings import USUAL_GRID
from hipad.exceptions import HipadError
from hipad.experiments.report import (
    SCORE_NAMES,
    Section,
    choice_sentence,
    honest_sentence,
    tuning_sections,
)
from hipad.experiments.tuning import choose, honest_estimate, tune_tasks, tuned
from ui import charts
from ui.experiments import experiment_panel
from ui.experiments.experiments_state import Experiment
from ui.settings import EXACT
from ui.state import AppState
from ui.text import plain

NAME: Final = "tune"
FOLDS: Final = 5
CALLED: Final = {"rule_weight": "patients", "rho": "stiffness"}  # parameter: setting of a run
LAMBDA2: Final = (*USUAL_GRID["lambda2"], 100.0)
AMOUNTS: Final = ("auto", 1.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def show(state: AppState) -> None:
    """Grid and folds, then curves against lambda1 as folds end."""
    st.caption(
        "Every setting is judged by cross-validation on the training data; the test data are not "
        "used. Among the settings that are as good as the best, the one is chosen that agrees with "
        "most of your rules, then the one with the fewest features."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        honest = st.toggle(
            "Corrected estimate (nested)",
            True,
            key="lab_honest",
            help="The figures of chosen settings look too good. This repeats the whole choice "
            "without each part of the data and judges it there (nested cross-validation). Takes "
            "about five times as long.",
        )
    data = experiment_panel.training(state)
    grid, folds, repeats, score = _choices(state)
    options = experiment_panel.options_of(state)
    experiment_panel.show_experiment(
        state,
        NAME,
        (data.fingerprint, str(grid), folds, repeats, score, honest, options),
        lambda: (
            tune_tasks(
                data,
                grid,
                folds=folds,
                repeats=repeats,
                honest=honest,
                score=score,
                options=options,
            ),
            {data.name: data},
        ),
        lambda work: draw(state, work),
        title=f"Settings for {data.name}",
        score=score,
    )


def _choices(state: AppState) -> tuple[dict[str, Any], int, int, str]:
    """The grid, the folds, their repeats and the score; the usual ones without the switch."""
    grid: dict[str, Any] = {
        "lambda1": USUAL_GRID["lambda1"],
        "lambda2": list(USUAL_GRID["lambda2"]),
    }
    if not state.expert:
        return grid, FOLDS, 1, "balanced"
    first, second, third, fourth = st.columns(4)
    grid["lambda1"] = int(
        first.number_input("Values of lambda1", 2, 50, grid["lambda1"], key="lab_lambda1")
    )
    grid["lambda2"] = second.multiselect("lambda2", LAMBDA2, grid["lambda2"], key="lab_lambda2")
    grid["rule_weight"] = third.multiselect("Weight of a rule", AMOUNTS, ["auto"], key="lab_worths")
    grid["rho"] = fourth.multiselect("Stiffness", AMOUNTS, ["auto"], key="lab_stiffness")
    grid = {name: value or {"lambda2": [1.0]}.get(name, ["auto"]) for name, value in grid.items()}
    folds = int(first.number_input("Folds", 2, 20, FOLDS, key="lab_folds"))
    repeats = int(second.number_input("Repeats", 1, 20, 1, key="lab_repeats"))
    score = third.selectbox(
        "Score", list(SCORE_NAMES), format_func=SCORE_NAMES.__getitem__, key="lab_score"
    )
    return grid, folds, repeats, str(score)


def draw(state: AppState, work: Experiment) -> Sequence[Section]:
    """The choice, the honest estimate, the curves, the numbers."""
    found, score = list(work.fits.found), str(work.notes["score"])
    points = tuned(found)
    if not points:
        return []
    try:
        chosen = choose(points)
    except HipadError as error:
        st.error(plain(error, 300), icon=":material/error:")
        return []
    so_far = "So far: " if work.job.is_active else ""
    st.success(so_far + plain(choice_sentence(points, score), 900), icon=":material/fact_check:")
    honest = honest_estimate(found, score)
    if sentence := honest_sentence(honest, score):
        st.info(plain(sentence, 300), icon=":material/verified:")
    if not work.job.is_active:
        st.button(
            "Use these settings",
            key="lab_use",
            icon=":material/check:",
            on_click=_use,
            args=(state, dict(chosen.params)),
            help="They are used for the next model.",
        )
    for title, chart, text in experiment_panel.settings_chart(points, chosen):
        charts.show(chart, key=f"lab_{title}", text=text)
    sections = tuning_sections("Settings", points, honest, score)
    experiment_panel.section_table(sections[0])
    return sections


def _use(state: AppState, params: dict[str, Any]) -> None:
    own = {CALLED.get(name, name): value for name, value in params.items()}
    state.settings = state.settings.changed(fewness=EXACT, **own)
    state.notice = "The next model uses the tuned settings."
    state.version += 1  # the fields of the Run page show them
