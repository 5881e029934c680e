"""Charts of experiments: learning curves, sweeps, settings; each with its text alternative."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from hipad.experiments.learning_curve import Curve
from hipad.experiments.perturbed_rules import SweepStep, harm_marks
from hipad.experiments.report import NAMES, along_lambda1, harm_sentence
from hipad.experiments.tasks import Mean
from hipad.experiments.tuning import SettingPoint
from hipad.utils import number, percent
from ui import charts, colours

ACCURACY = "balanced accuracy (%)"
# The same colour for a way in every chart; the first two are the classes'.
COLOURS = {
    "with rules": 2,
    "without rules": 3,
    "rules alone": 4,
    "LIBSVM": 5,
    "rules as certainties": 6,
    "ADMM alone": 6,
}


def learning(curves: Sequence[Curve]) -> tuple[go.Figure, str]:
    """Balanced accuracy against labelled patients."""
    chart = charts.figure("Learning curves", x="labelled patients (log scale)", y=ACCURACY)
    sizes = [2 * n for n in curves[0].sizes] if curves else []
    for curve in curves:
        name = NAMES.get(curve.method, curve.method)
        _line(chart, name, [2.0 * n for n in curve.sizes], curve.means)
    chart.update_xaxes(type="log", tickvals=sizes, ticktext=[f"{n}" for n in sizes])
    told = [
        f"{NAMES.get(c.method, c.method)} {percent(c.means[0].value)}" for c in curves if c.means
    ]
    first = sizes[0] if sizes else 0
    return chart, f"Balanced accuracy with {first} labelled patients: {', '.join(told)}."


def sweep(
    steps: Sequence[SweepStep], axis: str, figure: str = "Balanced accuracy"
) -> tuple[go.Figure, str]:
    """Each version of a rule: with its weight as it is, as a certainty, left out."""
    chart = charts.figure(f"{figure} against {axis}", x=axis, y=f"{figure.lower()} (%)")
    places = [step.place for step in steps]
    lines = (("with rules", "ours"), ("rules as certainties", "hard"), ("without rules", "without"))
    for name, part in lines:
        _line(chart, name, places, [getattr(step, part) for step in steps])
    if axis == "advice":
        chart.update_xaxes(tickvals=places, ticktext=[charts.label(s.version) for s in steps])
    harms = harm_marks(steps)
    for step, words in harms:
        chart.add_vline(step.place, line_dash="dash", line_color=colours.rest())
        chart.add_annotation(
            x=step.place, y=1, yref="paper", text=words, showarrow=False, xanchor="left"
        )
    told = [f"{step.version} {percent(step.ours.value)}" for step in steps]
    without = steps[0].without.value if steps else math.nan
    return chart, (
        f"{figure} with rules, by {axis}: {', '.join(told)}; without rules {percent(without)}. "
        + (harm_sentence(harms) if harms else "")
    )


def support(steps: Sequence[SweepStep], axis: str) -> tuple[go.Figure, str]:
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
    if axis == "advice":
        ticks = [charts.label(step.version) for step in steps]
        chart.update_xaxes(tickvals=[step.place for step in steps], ticktext=ticks)
    told = [f"{s.version} {m:.0f}" for s, m in zip(steps, means, strict=True) if m == m]
    return chart, f"Features used, by {axis}: {', '.join(told)}."


def settings(
    points: Sequence[SettingPoint], chosen: SettingPoint
) -> list[tuple[str, go.Figure, str]]:
    """Error, features and kept rules against lambda1, a line for each of the other settings."""
    whats = (
        ("Error", "error (%)", lambda p: 100 * (1 - p.score.value)),
        ("Features", "features", lambda p: p.support.value),
        ("Typical patients' margins", "margin (score)", lambda p: p.margin.value),
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
                line_color=charts.colour(2 + at),
            )
        chart.update_xaxes(type="log")
        chart.add_vline(chosen.lambda1, line_dash="dash", line_color=colours.rest())
        text = f"{title} at the chosen lambda1 {number(chosen.lambda1)}: {number(value(chosen))}."
        found.append((title, chart, text))
    return found


def early(sizes: Sequence[int], marks: Sequence[tuple[str, int]]) -> tuple[go.Figure, str]:
    """The paper's figure 1: features against sweeps, with both switch tests."""
    chart = charts.figure("Features against sweeps of the ADMM", x="sweep", y="features in")
    chart.add_scatter(
        x=list(range(1, len(sizes) + 1)),
        y=list(sizes),
        line_color=charts.colour(2),
        name="features",
    )
    for at, (name, sweep_number) in enumerate(marks):
        chart.add_vline(sweep_number, line_dash="dash", line_color=colours.rest())
        chart.add_annotation(
            x=sweep_number,
            y=1 - 0.08 * at,
            yref="paper",
            text=name,
            showarrow=False,
            xanchor="left",
        )
    told = ", ".join(f"{name} after {sweep_number} sweeps" for name, sweep_number in marks)
    return chart, f"The number of features in the model after each sweep; {told}."


def _line(chart: go.Figure, name: str, x: Sequence[float], means: Sequence[Mean]) -> None:
    """One line with its intervals."""
    half = [100 * (m.high - m.value) if m.high == m.high else 0.0 for m in means]
    chart.add_scatter(
        x=list(x),
        y=[100 * mean.value for mean in means],
        error_y={"type": "data", "array": half, "thickness": 1},
        mode="lines+markers",
        name=name,
        line_color=charts.colour(COLOURS[name]),
    )
