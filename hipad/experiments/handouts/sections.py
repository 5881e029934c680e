"""Experiments told: each as a section with sentences, a table and a picture.

The command line prints the tables, the app shows them, and the HTML page has all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hipad.experiments.curves import Curve, Worth
from hipad.experiments.friedman import rank_methods
from hipad.experiments.handouts.handout import Section
from hipad.experiments.handouts.svg import Mark, Series, chart
from hipad.experiments.paper import METHODS, TableLine
from hipad.experiments.summing import Mean
from hipad.experiments.task import Done
from hipad.experiments.wrong_rules import SweepStep, harm_marks
from hipad.wording import listed, signed

NAMES = {
    "HIPAD": "with rules",
    "no rules": "without rules",
    "rules alone": "rules alone",
    "LIBSVM": "LIBSVM",
    "hard rules": "rules as certainties",
    "ADMM": "ADMM alone",
}


def paper_section(title: str, lines: Sequence[TableLine]) -> Section:
    """A table of the paper beside ours, with Friedman's test over its data sets."""
    head = ("data", "method", "accuracy %", "paper", "features", "paper", "CPU s", "paper", "")
    sentences = ["Settings are chosen among models with at most as many features as in the paper."]
    names = list(dict.fromkeys(line.entry.name for line in lines))
    scores = {m: [ln.accuracy.value for ln in lines if ln.method == m] for m in METHODS}
    if len(names) > 1 and all(len(own) == len(names) for own in scores.values()):
        sentences.append(str(rank_methods(scores)))
    others = [line.entry for line in lines if line.entry.stands_in]
    if told := sorted({f"{entry.name} for {entry.paper_name}" for entry in others}):
        sentences.append(f"Standing in for data that are not here: {', '.join(told)}.")
    if missed := [_missed(line) for line in lines if line.method == "HIPAD" and not line.reaches]:
        sentences.append("Not reached: " + "; ".join(missed) + ".")
    return Section(title, sentences, head, [_paper_row(line) for line in lines])


def _paper_row(line: TableLine) -> list[str]:
    accuracy, support, seconds = line.told or (None, None, None)
    return [
        line.entry.name,
        line.method,
        _percent(line.accuracy),
        _cell(accuracy, ".1f"),
        _cell(line.support.value, ",.0f"),
        _cell(support, ",.0f"),
        _cell(line.seconds.value, ".3f"),
        _cell(seconds, ".2f"),
        "reached" if line.reaches else "",
    ]


def _missed(line: TableLine) -> str:
    """Why a line does not reach the paper's."""
    accuracy, support, _ = line.told or (math.nan, None, None)
    return (
        f"{line.entry.name}: {100 * line.accuracy.value:.1f} % with {line.support.value:.0f} "
        f"features, in the paper {accuracy:g} % with {support}"
    )


def figure_section(done: Done) -> Section:
    """The support against sweeps, with both switch tests."""
    found = done.figures
    sizes = found["support_sizes"]
    steps = list(range(1, len(sizes) + 1))
    marks = [
        Mark(found["paper"], "the paper's test"),
        Mark(found["settled"], "the support has settled"),
        Mark(found["ours"], "the support's test"),
    ]
    picture = chart(
        [Series("features in", steps, sizes)],
        title="Number of features against sweeps of the ADMM",
        x_title="sweep",
        y_title="features in",
        marks=marks,
    )
    sentence = (
        f"The features settle after {found['settled']} sweeps; the ADMM converges after "
        f"{found['converged']}. The paper's test ends phase 1 after {found['paper']} sweeps, the "
        f"test of the support after {found['ours']}."
    )
    return Section("Figure 1: the support converges early", [sentence], picture=picture)


def curve_section(title: str, curves: Sequence[Curve], worth: Worth | None) -> Section:
    """Learning curves, and what the rules are worth."""
    sizes = sorted({n for curve in curves for n in curve.sizes})
    known = [dict(zip(curve.sizes, curve.means, strict=True)) for curve in curves]
    head = ("labelled rows", *(NAMES.get(curve.method, curve.method) for curve in curves))
    rows = [[f"{2 * n}", *(_percent(own[n]) if n in own else "-" for own in known)] for n in sizes]
    picture = chart(
        [
            Series(
                NAMES.get(curve.method, curve.method),
                [2 * n for n in curve.sizes],
                *_columns(curve.means),
            )
            for curve in curves
        ],
        title="Balanced accuracy against the number of labelled rows",
        x_title="labelled rows",
        y_title="balanced accuracy, %",
        log_x=True,
    )
    return Section(title, [] if worth is None else [str(worth)], head, rows, picture)


def sweep_section(
    title: str, axis: str, steps: Sequence[SweepStep], figure: str = "balanced accuracy"
) -> Section:
    """What a wrong rule does, and where it starts to harm."""
    harms = harm_marks(steps)
    sentence = harm_sentence(harms)
    head = (axis, "with rules %", "as certainties %", "without %", "gain, points", "features")
    rows = [
        [
            step.version,
            _percent(step.ours),
            _percent(step.hard),
            _percent(step.without),
            f"{signed(100 * step.gain.value, 1)}"
            + ("" if math.isnan(step.gain.low) else f" ({_points(step.gain)})"),
            f"{step.support.value:.0f}",
        ]
        for step in steps
    ]
    places = [step.place for step in steps]
    lines = [("with rules", "ours"), ("rules as certainties", "hard"), ("without rules", "without")]
    picture = chart(
        [
            Series(name, places, *_columns([getattr(step, field) for step in steps]))
            for name, field in lines
        ],
        title=f"{figure} against {axis}",
        x_title=axis,
        y_title=f"{figure}, %",
        marks=[Mark(step.place, words) for step, words in harms],
    )
    return Section(title, [sentence], head, rows, picture)


def harm_sentence(harms: Sequence[tuple[SweepStep, str]]) -> str:
    """Where a rule harms, in words."""
    if not harms:
        return "No version harms beyond chance."
    step, words = harms[0]
    places = {
        "harms from here": f"From {step.version} on",
        "harms up to here": f"Up to {step.version}",
    }
    where = places.get(words, f"At {listed([each.version for each, _ in harms])}")
    return f"{where} the rule harms: {signed(100 * step.gain.value, 1)} points against no rules."


def _columns(means: Sequence[Mean]) -> tuple[list[float], list[float], list[float]]:
    """Values, lower and upper ends, in per cent."""
    return (
        [100 * mean.value for mean in means],
        [100 * mean.low for mean in means],
        [100 * mean.high for mean in means],
    )


def _percent(mean: Mean) -> str:
    if math.isnan(mean.value):
        return "-"
    half = "" if math.isnan(mean.low) else f" ± {100 * (mean.high - mean.value):.1f}"
    return f"{100 * mean.value:.1f}{half}"


def _points(mean: Mean) -> str:
    return f"{signed(100 * mean.low, 1)} to {signed(100 * mean.high, 1)}"


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None or math.isnan(value) else format(value, form)
