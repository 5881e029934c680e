"""What every experiment has: its data, controls, progress, charts and exports."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from scipy import sparse

from hipad.data import MissingValues
from hipad.experiments.methods import ExperimentData, rules_for
from hipad.experiments.report import (
    NAMES,
    Section,
    along_lambda1,
    failure_sections,
    fits_csv,
    harm_sentence,
    page,
)
from hipad.experiments.runner import Mean, failed_arms
from hipad.experiments.sensitivity import Curve, SweepStep, harm_marks
from hipad.experiments.tuning import SettingPoint
from hipad.utils import IntArray, count, number, percent
from ui import charts
from ui.dataset import Dataset
from ui.experiments.experiments_state import Experiment, Plan
from ui.jobs import JobStatus, poll
from ui.models import signs
from ui.state import AppState
from ui.text import plain

# --------------------------------------------------------------------------------------------------
# The data set of the session as the data of experiments.


def everybody(state: AppState) -> ExperimentData:
    """All rows whose class is known; of a sealed test set none.

    Test rows from a file of their own, or of a synthetic sample, are never learnt from: each
    draw takes some of the training rows, and is judged on the test rows.
    """
    data = _data(state)
    assert state.preparation is not None
    apart = state.preparation.test == "file"
    key = (data, state.rules.text, "all")
    return state.remember("data of all", key, lambda: _all(data, state.rules.text, apart))


def training(state: AppState) -> ExperimentData:
    """The training rows alone, for whatever chooses something; and which belong together."""
    data = _data(state)
    key = (data, state.rules.text)
    return state.remember(
        "training data",
        key,
        lambda: _experiment_data(
            data,
            data.X_train,
            signs(data.y_train, data),
            state.rules.text,
            groups=data.groups_train,
            gaps=data.gaps_train,
        ),
    )


def with_judges(state: AppState) -> ExperimentData:
    """The training rows, and the test rows as a split of their own where these are open."""
    data = _data(state)
    if data.judged.part != "test":
        return training(state)
    whole, n = everybody(state), len(data.y_train)
    split = np.arange(n), np.arange(n, whole.y.size)
    key = (data, state.rules.text)
    return state.remember("judged data", key, lambda: replace(whole, split=split))


def options_of(state: AppState) -> dict[str, Any]:
    """What of the settings of a run is taken over: everything else is at its default."""
    return {} if state.settings.standardize else {"standardize": False}


def _data(state: AppState) -> Dataset:
    assert state.data is not None
    return state.data


def _all(data: Dataset, rules: str, apart: bool) -> ExperimentData:
    if data.judged.part != "test":
        y = signs(data.y_train, data)
        X, groups, gaps = data.X_train, data.groups_train, data.gaps_train
        return _experiment_data(data, X, y, rules, groups=groups, gaps=gaps)
    assert data.y_test is not None
    y = np.concatenate([signs(data.y_train, data), signs(data.y_test, data)])
    n = len(data.y_train)
    split = (np.arange(n), np.arange(n, y.size))
    X = _stacked(data.X_train, data.X_test)
    groups = data.groups_train
    if groups is not None:
        tested = data.groups_test
        if tested is None or apart:  # test rows of a file of their own are of other patients
            own = np.arange(y.size - n) if tested is None else tested
            tested = groups.max() + 1 + own
        groups = np.r_[groups, tested]
    gaps = MissingValues.stacked([(data.gaps_train, n), (data.gaps_test, y.size - n)])
    known: dict[str, Any] = {"split": split if apart else None, "groups": groups, "gaps": gaps}
    return _experiment_data(data, X, y, rules, apart=apart, **known)


def _stacked(first: Any, second: Any) -> Any:
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack([first, second]))
    return np.vstack([first, second])


def _experiment_data(
    data: Dataset,
    X: Any,
    y: Any,
    rules: str,
    *,
    split: tuple[IntArray, IntArray] | None = None,
    groups: IntArray | None = None,
    apart: bool = False,
    gaps: MissingValues | None = None,
) -> ExperimentData:
    X = X.tocsr() if sparse.issparse(X) else X
    return ExperimentData(
        data.name,
        X,
        y,
        tuple(data.feature_names),
        dict(data.blocks),
        rules_for(rules, data.index, data.blocks, data.classes, data.name_table.values),
        split,
        data.classes,
        groups,
        apart,
        gaps,
    )


# --------------------------------------------------------------------------------------------------
# Charts, each with its text alternative.

ACCURACY = "balanced accuracy (%)"
# The same colour for a method everywhere; the first two are the classes'.
COLOURS = {
    "with rules": 2,
    "without rules": -1,
    "rules alone": 4,
    "LIBSVM": 3,
    "absolute rules": 6,
    "ADMM alone": 6,
}


def learning_chart(curves: Sequence[Curve], rows: str) -> tuple[go.Figure, str]:
    """Balanced accuracy against labelled rows, as these are called."""
    chart = charts.figure("Learning curves", x=f"labelled {rows} (log scale)", y=ACCURACY)
    sizes = [2 * n for n in curves[0].sizes] if curves else []
    for curve in curves:
        name = NAMES.get(curve.method, curve.method)
        _line(chart, name, [2.0 * n for n in curve.sizes], curve.means)
    chart.update_xaxes(type="log", tickvals=sizes, ticktext=[f"{n}" for n in sizes])
    lines = [
        f"{NAMES.get(c.method, c.method)} {percent(c.means[0].value)}" for c in curves if c.means
    ]
    first = sizes[0] if sizes else 0
    text = f"Balanced accuracy with {first} labelled {rows}: {', '.join(lines)}."
    banded = any(math.isfinite(mean.low) for curve in curves for mean in curve.means)
    return chart, f"{text} Bands: 95 % intervals over the repeats." if banded else text


def sweep_chart(
    steps: Sequence[SweepStep], axis: str, figure: str = "Balanced accuracy"
) -> tuple[go.Figure, str]:
    """Each version of a rule: with its normal weight, absolute, and left out."""
    chart = charts.figure(f"{figure} against {axis}", x=axis, y=f"{figure.lower()} (%)")
    places = [step.place for step in steps]
    lines = (("with rules", "ours"), ("absolute rules", "hard"), ("without rules", "without"))
    for name, part in lines:
        _line(chart, name, places, [getattr(step, part) for step in steps])
    if axis == "outcome":
        chart.update_xaxes(tickvals=places, ticktext=[charts.label(s.version) for s in steps])
    harms = harm_marks(steps)
    for step, words in harms:
        chart.add_vline(step.place, line_dash="dash", line_color=charts.rest_colour())
        chart.add_annotation(
            x=step.place, y=1, yref="paper", text=words, showarrow=False, xanchor="left"
        )
    entries = [f"{step.version} {percent(step.ours.value)}" for step in steps]
    without = steps[0].without.value if steps else math.nan
    return chart, (
        f"{figure} with rules, by {axis}: {', '.join(entries)}; without rules {percent(without)}. "
        + (harm_sentence(harms) if harms else "")
    )


def support_chart(steps: Sequence[SweepStep], axis: str) -> tuple[go.Figure, str]:
    """Features used by each version."""
    chart = charts.figure(f"Features against {axis}", x=axis, y="features", height=240)
    means = [step.support.value for step in steps]
    chart.add_scatter(
        x=[step.place for step in steps],
        y=means,
        mode="lines+markers",
        line_color=charts.colour(2),
        name="features",
    )
    if axis == "outcome":
        ticks = [charts.label(step.version) for step in steps]
        chart.update_xaxes(tickvals=[step.place for step in steps], ticktext=ticks)
    lines = [f"{s.version} {m:.0f}" for s, m in zip(steps, means, strict=True) if m == m]
    return chart, f"Features used, by {axis}: {', '.join(lines)}."


def settings_chart(
    points: Sequence[SettingPoint], chosen: SettingPoint
) -> list[tuple[str, go.Figure, str]]:
    """Error, features and kept rules against lambda1, a line for each of the other settings."""
    whats = (
        ("Error", "error (%)", lambda p: 100 * (1 - p.score.value)),
        ("Features", "features", lambda p: p.support.value),
        ("Typical margin of the rules", "margin (score)", lambda p: p.margin.value),
    )
    found = []
    for title, unit, value in whats:
        if all(math.isnan(value(point)) for point in points):
            continue  # there are no rules to ask
        chart = charts.figure(f"{title} against lambda1", x="lambda1 (log scale)", y=unit)
        for at, (name, own) in enumerate(along_lambda1(points).items()):
            chart.add_scatter(
                x=[p.lambda1 for p in own],
                y=[value(p) for p in own],
                mode="lines+markers",
                name=charts.label(name, 48),
                line_color=charts.colour(3 + at % 4),
            )
        chart.update_xaxes(type="log")
        chart.add_vline(chosen.lambda1, line_dash="dash", line_color=charts.rest_colour())
        text = f"{title} at the chosen lambda1 {number(chosen.lambda1)}: {number(value(chosen))}."
        found.append((title, chart, text))
    return found


def early_chart(sizes: Sequence[int], marks: Sequence[tuple[str, int]]) -> tuple[go.Figure, str]:
    """The paper's figure 1: features against sweeps, with both switch tests."""
    chart = charts.figure("Features against sweeps of the ADMM", x="sweep", y="features chosen")
    chart.add_scatter(
        x=list(range(1, len(sizes) + 1)),
        y=list(sizes),
        line_color=charts.colour(2),
        name="features",
    )
    for at, (name, sweep_number) in enumerate(marks):
        chart.add_vline(sweep_number, line_dash="dash", line_color=charts.rest_colour())
        chart.add_annotation(
            x=sweep_number,
            y=1 - 0.08 * at,
            yref="paper",
            text=name,
            showarrow=False,
            xanchor="left",
        )
    text = ", ".join(f"{name} after {sweep_number} sweeps" for name, sweep_number in marks)
    return chart, f"The number of features in the model after each sweep; {text}."


def _line(chart: go.Figure, name: str, x: Sequence[float], means: Sequence[Mean]) -> None:
    """One line, and the 95 % interval over the repeats as a band around it."""
    colour = charts.colour(COLOURS[name])
    known = [(at, 100 * m.low, 100 * m.high) for at, m in zip(x, means, strict=True)
             if math.isfinite(m.low) and math.isfinite(m.high)]  # fmt: skip
    if len(known) > 1:
        across, low, high = map(list, zip(*known, strict=True))
        chart.add_scatter(
            x=[*across, *reversed(across)],
            y=[*high, *reversed(low)],
            fill="toself",
            fillcolor=charts.faint(colour),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
    chart.add_scatter(
        x=list(x),
        y=[100 * mean.value for mean in means],
        mode="lines+markers",
        name=name,
        legendgroup=name,
        line_color=colour,
    )


# --------------------------------------------------------------------------------------------------
# Workers, behind the switch for experts: processes here, or a Dask cluster.


def show_workers_panel(state: AppState) -> None:
    """The switch, and what it shows."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.expert = st.toggle(
            "Expert",
            state.expert,
            key=f"lab_expert_{state.version}",
            help="Choose repeats, sizes, grids, workers and a cluster yourself.",
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
                help="Processes on this computer. The results do not depend on it.",
                width=120,
            )
        )
        state.lab.scheduler = st.text_input(
            "Dask scheduler",
            state.lab.scheduler,
            key="lab_scheduler",
            placeholder="tcp://host:8786",
            help="The address of the scheduler of a cluster. The models are then fitted there, and "
            "the data are sent there. Empty: this computer.",
            width=260,
        )


# --------------------------------------------------------------------------------------------------
# Buttons, progress, warnings and exports of an experiment.

Draw = Callable[[Experiment], Sequence[Section]]


def show_experiment(
    state: AppState,
    name: str,
    asked: object,
    plan: Plan,
    draw: Draw,
    *,
    title: str,
    begins: bool = False,
    **notes: Any,
) -> None:
    """Buttons and, as soon as there are fits, what `draw` makes of them, again and again.

    `begins` starts what was not asked for yet: on a stage nobody wants to press a button.
    """
    work = state.lab.at.get(name)
    if begins and (work is None or work.asked != asked):
        state.lab.begin(name, asked, plan, **notes)
        work = state.lab.at[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        _buttons(state, name, asked, plan, notes, work)
    if work is None:
        return
    if work.job.status is JobStatus.STOPPED and work.job.reason:
        state.lab.go_on(name)  # it was out of sight for too long, and is looked at again

    def look() -> None:
        _progress(work)
        if work.asked != asked:
            st.caption("These results were computed before your last change. Start again.")
        if work.fits.found:
            sections = draw(work)
            _exports(name, title, work, sections)

    poll(work.job, look)


def _buttons(
    state: AppState,
    name: str,
    asked: object,
    plan: Plan,
    notes: dict[str, Any],
    work: Experiment | None,
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
            help="Stops after the present model. Finished results are kept.",
        )
        return
    if same and work is not None and work.job.status is JobStatus.STOPPED:
        st.button(
            "Continue",
            type="primary",
            icon=":material/play_arrow:",
            key=f"lab_go_on_{name}",
            on_click=state.lab.go_on,
            args=(name,),
            help="Finished results are kept and not computed again.",
        )
        return
    is_done = same and work is not None and work.job.status is JobStatus.FINISHED
    st.button(
        "Start" if work is None or not same else "Start again",
        type="secondary" if is_done else "primary",
        icon=":material/play_arrow:",
        key=f"lab_start_{name}",
        on_click=lambda: state.lab.begin(name, asked, plan, **notes),
        help="Starts now; results appear as they finish. Earlier results are reused.",
    )


def _progress(work: Experiment) -> None:
    job, fits = work.job, work.fits
    if job.status is JobStatus.FAILED:
        st.error(plain(job.error, 600), icon=":material/error:")
        return
    if not job.is_final:
        begun = fits.pace.total > 0
        words = str(fits.pace) if begun else "Preparing ..."
        if job.status is JobStatus.STOPPED:
            words = f"Stopped after {fits.pace.done:,} of {count(fits.pace.total, 'model')}."
        st.progress(min(fits.pace.share if begun else 0.0, 1.0), text=words)
    for sentence in failed_arms(list(fits.found)):
        st.error(plain(sentence, 600), icon=":material/error:")


def _exports(name: str, title: str, work: Experiment, sections: Sequence[Section]) -> None:
    if work.job.is_active:
        return
    found = list(work.fits.found)
    with st.container(horizontal=True):
        st.download_button(
            "All results (CSV)",
            lambda: fits_csv(found),
            f"{name}.csv",
            "text/csv",
            icon=":material/download:",
            key=f"lab_csv_{name}",
            on_click="ignore",
            help="One line for each fitted model: settings, results and seconds.",
        )
        st.download_button(
            "Report (HTML)",
            lambda: page(title, [*failure_sections(found), *sections]),
            f"{name}.html",
            "text/html",
            icon=":material/download:",
            key=f"lab_html_{name}",
            on_click="ignore",
            help="One file with all tables and pictures, program versions and the computer used.",
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
    with nullcontext() if plainly else st.expander("Table of results"):
        st.dataframe(columns, hide_index=True, alt=section.title)
