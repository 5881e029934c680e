"""What if a rule is wrong: its threshold, weight or outcome, and where it starts to harm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.estimator.problem_factory import default_weight
from hipad.exceptions import HipadError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.report import Section, sweep_section
from hipad.experiments.sensitivity import (
    SIZES,
    PerturbedRule,
    sizes_for,
    strangers_to,
    sweep,
    sweep_tasks,
    threshold_versions,
    thresholds_of,
    thresholds_seen,
    worth_versions,
    wrong_versions,
)
from hipad.rules import parse_rules
from hipad.utils import count, listed
from ui import charts
from ui.experiments import experiment_panel
from ui.experiments.experiments_state import Experiment
from ui.state import AppState
from ui.text import plain

NAME: Final = "doubt"
ADVICE, THRESHOLD, WORTH = "Wrong outcome", "Threshold", "Weight"
AREA: Final = "Area under ROC"
AXES: Final = {ADVICE: "outcome", THRESHOLD: "threshold", WORTH: "weight"}
WORTHS: Final = (0.25, 0.5, 1, 2, 4, 8)  # times the usual weight
FIRST_DRAWS: Final = 6
FEWEST_DRAWS: Final = 3  # for an interval
USUAL_LABELLED: Final = 16
ALL_BUT: Final = 5  # one of so many parts is tested when "as many as there are" are labelled


def show(state: AppState, data: ExperimentData) -> None:
    """Which rule, wrong in which way, then the sweep as it grows."""
    st.caption(
        "One rule is made wrong step by step. Each version is tried three ways on the same data: "
        "normal weight, absolute (the data cannot overrule it), and without the rules."
    )
    rules = parse_rules(data.rules)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n = len(rules)
        chosen = st.selectbox(
            "Rule",
            range(n),
            index=min(state.lab.rule, n - 1),
            format_func=lambda at: f"{rules.labels[at]}: {rules[at].text}"[:80],
            key=f"lab_rule_{state.version}_{n}_{state.lab.rule_turn}",
            help="The rule that is made wrong. The others stay as they are.",
        )
        state.lab.rule = int(chosen)
        position = state.lab.rule
        change = _change_asked(state, data, position)
        rows = _labelled(state, data)
        draws = _draws(state)
    options = experiment_panel.options_of(state)
    try:
        versions = _versions(state, data, position, change, learnt_from(data, rows))
    except HipadError as error:
        st.error(plain(error, 400), icon=":material/error:")
        return
    experiment_panel.show_experiment(
        state,
        NAME,
        (data.fingerprint, [version.rules for version in versions], rows, draws, options),
        lambda: (
            sweep_tasks(data, versions, draws=draws, rows=rows, options=options),
            {data.name: data},
        ),
        draw,
        title=f"What if {rules.labels[position]} is wrong",
        versions=versions,
        axis=AXES[change.split(":")[0]],
        label=rules.labels[position],
    )


def _change_asked(state: AppState, data: ExperimentData, position: int) -> str:
    """What is changed: its outcome, one of its thresholds, its weight."""
    (rule,) = parse_rules(data.rules)[position : position + 1]
    places = thresholds_of(data.rules, position)
    named = {f"{THRESHOLD}:{k}": f"wrong threshold: {rule.conditions[k]}" for k in places}
    options = {ADVICE: "wrong outcome", **named, WORTH: "wrong weight"}
    return str(
        st.selectbox(
            "How it is wrong",
            list(options),
            format_func=lambda at: options[at][:60],
            key=f"lab_way_{state.version}_{position}_{len(places)}",
            help="Wrong outcome: the rule with the opposite outcome, and with features that have "
            "nothing to do with it. Wrong threshold: moved over the range of the data.",
        )
    )


def _labelled(state: AppState, data: ExperimentData) -> dict[str, Any]:
    assert state.data is not None
    possible = sizes_for(data, SIZES)
    usual = min(USUAL_LABELLED, max(possible))
    options = [*possible, 0]
    chosen = st.selectbox(
        f"Labelled {state.data.row_word()}",
        options,
        index=options.index(usual),
        format_func=lambda n: f"{2 * n}" if n else "four of five",
        key=f"lab_labelled_{state.version}",
        help="The models learn from so many in each repeat. With few of them, rules matter most, "
        "for better or worse.",
        width=160,
    )
    return {"labelled": int(chosen)} if chosen else {"fold": [0, ALL_BUT]}


def _draws(state: AppState) -> int:
    if not state.expert:
        return FIRST_DRAWS
    return int(st.number_input("Repeats", 2, 200, FIRST_DRAWS, key="lab_draws_doubt", width=120))


def _versions(
    state: AppState, data: ExperimentData, position: int, change: str, labelled: float
) -> Sequence[PerturbedRule]:
    def make() -> Sequence[PerturbedRule]:
        if change == ADVICE:
            negative, positive = map(str, data.labels)
            strangers = strangers_to(data, np.random.default_rng(0))
            own = data.blocks, data.feature_names
            return wrong_versions(data.rules, position, (negative, positive), strangers, *own)
        if change == WORTH:
            usual = max(1.0, default_weight("auto", labelled))
            return worth_versions(data.rules, position, [float(f"{k * usual:.2g}") for k in WORTHS])
        place = int(change.split(":")[1])
        values = thresholds_seen(data, position, place)
        return threshold_versions(data.rules, position, values, place)

    return state.remember("lab versions", (data.fingerprint, position, change, labelled), make)


def learnt_from(data: ExperimentData, rows: dict[str, Any]) -> float:
    """How many rows a draw is learnt from."""
    some = rows.get("labelled")
    return 2 * some if some else len(data.pool) * (1 - 1 / ALL_BUT)


def draw(work: Experiment) -> Sequence[Section]:
    """Warnings first, then where it starts to harm, accuracy, features and the numbers."""
    versions, axis = work.notes["versions"], str(work.notes["axis"])
    title = f"What if {work.notes['label']} is wrong"
    steps = [step for step in sweep(list(work.fits.found), versions) if step.gain.n]
    if not steps:
        return []
    section = sweep_section(title, axis, steps)
    fallen = [step.version for step in steps if step.falls]
    if fallen:
        st.warning(
            f"In {count(len(fallen), 'version')} the model is more than two points worse than the "
            f"model without rules, and this is not chance: {plain(listed(fallen), 300)}.",
            icon=":material/warning:",
        )
    if all(step.gain.n >= FEWEST_DRAWS for step in steps):
        st.info(plain(section.sentences[0], 300), icon=":material/query_stats:")
    elif work.job.is_active:
        st.caption(f"The verdict appears after {FEWEST_DRAWS} repeats.")
    chart, text = experiment_panel.sweep_chart(steps, axis)
    charts.show(chart, key="lab_sweep", text=plain(text, 1_000))
    areas = [step for step in sweep(list(work.fits.found), versions, "area") if step.ours.n]
    if areas:
        chart, text = experiment_panel.sweep_chart(areas, axis, AREA)
        charts.show(chart, key="lab_area", text=plain(text, 1_000))
    chart, text = experiment_panel.support_chart(steps, axis)
    charts.show(chart, key="lab_support", text=plain(text, 1_000))
    experiment_panel.section_table(section)
    return [section, sweep_section(AREA, axis, areas, AREA)]
