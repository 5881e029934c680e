"""For how many patients the model can answer at a chosen coverage, and for how many it cannot."""

from __future__ import annotations

from typing import Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.conformal import coverage_by_class, sets_of, undecided
from hipad.utils import FloatArray, percent
from ui import charts
from ui.text import plain

COVERAGE: Final = 90  # percent, at first: as usual for conformal sets
HEIGHT: Final = 190


def show(found: Assessment, classes: tuple[str, str]) -> None:
    """Draw the choice of a coverage, one sentence and a chart of the answers."""
    st.subheader("Cannot say", anchor=False)
    if found.p_values is None:
        st.caption(f"There are too few training {found.noun}s of a class to tell.")
        return

    def at_coverage() -> None:
        narrow, _ = st.columns([2, 3])
        coverage = narrow.slider(
            "Coverage in each class",
            50,
            99,
            COVERAGE,
            format="%d %%",
            key="results_coverage",
            help="Of each class this share shall be told right or not be answered. The more is "
            f"asked for, the more {found.noun}s the model cannot answer.",
        )
        st.markdown(sentence(found, coverage / 100))
        chart, text = answers_chart(found, coverage / 100, classes)
        charts.show(chart, key="results_answers", text=text)

    st.fragment(at_coverage)()


def sentence(found: Assessment, coverage: float) -> str:
    """Say for how many the model cannot answer, with rules and without."""
    assert found.p_values is not None
    own = undecided(found.p_values, coverage, found.rows.groups)
    told = (
        f"With {percent(coverage, 0)} of each class right, the model answers for "
        f"{percent(1 - own.value)} of the {found.noun}s and **cannot say for "
        f"{percent(own.value)}** ({percent(own.low)} to {percent(own.high)})"
    )
    if found.p_values_without is not None:
        other = undecided(found.p_values_without, coverage, found.rows.groups)
        told += f", without the rules for **{percent(other.value)}**"
    told += "."
    if coverage > found.most_coverage + 1e-12:
        told += (
            f" There are too few labelled {found.noun}s to rule out a class at more than "
            f"{percent(found.most_coverage)}."
        )
    return told


def answers_chart(
    found: Assessment, coverage: float, classes: tuple[str, str]
) -> tuple[go.Figure, str]:
    """Draw how many get which answer, with rules and without."""
    assert found.p_values is not None
    bars = {"model" if found.p_values_without is None else "with rules": found.p_values}
    if found.p_values_without is not None:
        bars["without rules"] = found.p_values_without
    chart = charts.figure("Answers", x=f"{found.noun}s", y="", height=HEIGHT)
    shares = np.array([_shares(values, coverage) for values in bars.values()])
    names = (charts.label(classes[0]), "cannot say", charts.label(classes[1]))
    colours = (charts.class_colour(0), charts.rest_colour(), charts.class_colour(1))
    for k, (name, colour) in enumerate(zip(names, colours, strict=True)):
        chart.add_bar(
            x=shares[:, k],
            y=list(range(len(bars))),
            orientation="h",
            name=name,
            marker_color=colour,
            hovertemplate=f"{name}: %{{x:.1%}}<extra></extra>",
        )
    chart.update_layout(barmode="stack", legend_traceorder="normal")
    charts.name_rows(chart, list(bars))
    chart.update_xaxes(range=[0, 1], tickformat=".0%")
    seen = coverage_by_class(found.p_values, found.rows.positive, coverage, found.rows.groups)
    told = " and ".join(
        f"{percent(one.value)} ({percent(one.low)} to {percent(one.high)}) of {plain(name, 24)}"
        for name, one in zip(classes, seen, strict=True)
    )
    return chart, f"Told right or not answered were {told}."


def _shares(p_values: FloatArray, coverage: float) -> tuple[float, float, float]:
    inside = sets_of(p_values, coverage)
    alone = inside.sum(axis=1) == 1
    negative, positive = (float(np.mean(alone & inside[:, k])) for k in (0, 1))
    return negative, 1.0 - negative - positive, positive
