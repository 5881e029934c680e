"""Reports of experiments to hand on: sections, tables and SVG charts in one HTML file."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from hipad import __version__
from hipad.data.table import to_csv
from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.reproduction import (
    COMPARED,
    KSVM_OPTIONS,
    TABLE1,
    TABLE2,
    Entry,
    FewRows,
    TableLine,
    available,
    figure_tasks,
    real_data,
    synthetic_data,
    table_lines,
    table_tasks,
)
from hipad.experiments.reproduction import NAME as FIGURE
from hipad.experiments.runner import Done, Mean, Task, failed_arms
from hipad.experiments.sensitivity import Curve, SweepStep, Worth, harm_marks, rank_methods
from hipad.experiments.study_plan import StudyPlan
from hipad.experiments.tuning import SettingPoint, choose
from hipad.utils import ROOT, html_table, listed, number, percent, signed

# --------------------------------------------------------------------------------------------------
# What an experiment leaves behind: a CSV of every fit, and one HTML page with tables and pictures.
#
# The page is whole in itself: no script, nothing fetched, all text escaped. It ends with the
# versions and the machine that the figures come from.


PACKAGES = ("numpy", "scipy", "scikit-learn", "osqp", "joblib", "distributed")
STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #ccc; text-align: left; }
svg { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True)
class Section:
    """A part of the page: sentences, a table, a picture."""

    title: str
    sentences: Sequence[str] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    picture: str = ""


def failure_sections(found: Sequence[Done]) -> list[Section]:
    """Return what failed, arm by arm, to stand before all that was found; nothing if nothing
    failed.
    """
    sentences = failed_arms(found)
    return [Section("Fits that failed", sentences)] if sentences else []


def fits_csv(outcomes: Iterable[Done]) -> str:
    """Return one line for each fit: what was done, its figures, its time."""
    found = sorted(outcomes, key=lambda done: (done.task.data, done.task.seed, done.key))
    settings = sorted({name for done in found for name in done.task.settings})
    named = sorted({n for d in found for n, v in d.figures.items() if not isinstance(v, list)})
    columns: dict[str, list[object]] = {
        "data": [done.task.data for done in found],
        "seed": [done.task.seed for done in found],
    }
    columns |= {name: [_csv_cell(done.setting(name)) for done in found] for name in settings}
    columns |= {name: [_csv_cell(done.figures.get(name)) for done in found] for name in named}
    columns["seconds"] = [round(done.seconds, 4) for done in found]
    columns["error"] = [done.error for done in found]
    return to_csv(columns)


def _csv_cell(value: object) -> object:
    """Return numbers as they are, nothing as an empty cell, all else as text."""
    return "" if value is None else value if isinstance(value, int | float) else str(value)


def page(title: str, sections: Sequence[Section]) -> str:
    """Return the HTML page."""
    body = "\n".join(_section(part) for part in sections)
    end = "".join(f"<li>{escape(line)}</li>" for line in circumstances())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n"
        f"<h2>Versions and machine</h2><ul>{end}</ul></body></html>\n"
    )


def circumstances() -> list[str]:
    """Return versions and machine; nothing that names a person or a computer."""
    lines = [f"hipad {__version__}, Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    lines.append(f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores")
    return lines


def _section(part: Section) -> str:
    lines = [f"<h2>{escape(part.title)}</h2>"]
    lines += [f"<p>{escape(sentence)}</p>" for sentence in part.sentences]
    if part.picture:
        lines.append(f"<figure>{part.picture}</figure>")
    if part.rows:
        lines.append(html_table(part.head, part.rows))
    return "\n".join(lines)


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same table for a terminal.

    >>> print(plain_table(["a", "long"], [["1", "2"]]))
    a  long
    1  2
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )


# --------------------------------------------------------------------------------------------------
# Small pictures as SVG text: lines with their intervals, and marks; nothing is fetched or run.
#
#  chart([Series("with rules", xs, ys, lows, highs)], x_title="labelled rows", y_title="accuracy")
#
# A picture carries its meaning as text too (`title` and `desc`), and its colours tell the lines
# apart for colour-blind readers (Okabe and Ito's palette).


PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48


@dataclass(frozen=True)
class Series:
    """One line; `low` and `high` are its intervals, where there are any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Mark:
    """An upright line where something happens."""

    x: float
    text: str


@dataclass(frozen=True)
class Axis:
    """From values to pixels, evenly or by logarithm."""

    least: float
    most: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        least, most, value = map(math.log, (self.least, self.most, value)) if self.log else (
            self.least, self.most, value,
        )  # fmt: skip
        share = (value - least) / (most - least) if most > least else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def chart(
    series: Sequence[Series],
    *,
    title: str,
    x_title: str,
    y_title: str,
    marks: Sequence[Mark] = (),
    log_x: bool = False,
) -> str:
    """Return a picture of lines over one another."""
    xs = [x for line in series for x in line.x] + [mark.x for mark in marks]
    ys = [y for line in series for y in (*line.y, *line.low, *line.high) if math.isfinite(y)]
    if not xs or not ys:
        return ""
    across = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, log_x)
    up = Axis(*_padded(min(ys), max(ys)), HEIGHT - BOTTOM, TOP)
    parts = [*_frame(across, up, sorted(set(xs)), x_title, y_title)]
    for k, line in enumerate(series):
        parts += _line(line, PALETTE[k % len(PALETTE)], across, up, k)
    parts += [piece for n, mark in enumerate(marks) for piece in _mark(mark, across, n)]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT + 18 * len(series)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif">'
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>"])


def _padded(low: float, high: float) -> tuple[float, float]:
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _frame(
    across: Axis, up: Axis, xs: Sequence[float], x_title: str, y_title: str
) -> Sequence[str]:
    parts = []
    for value in ticks(up.least, up.most):
        y = up.at(value)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#ccc"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{value:.6g}", "end"))
    shown = xs if len(xs) <= 10 else ticks(across.least, across.most)
    parts += [_text(across.at(x), HEIGHT - BOTTOM + 16, f"{x:.6g}", "middle") for x in shown]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_title, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 14 {middle})"'
    parts.append(_text(14, middle, y_title, "middle", turned))
    return parts


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends.

    >>> ticks(0.48, 1.02)
    [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _line(line: Series, colour: str, across: Axis, up: Axis, number: int) -> list[str]:
    points = [(across.at(x), up.at(y)) for x, y in zip(line.x, line.y, strict=True) if y == y]
    text = " ".join(f"{x},{y}" for x, y in points)
    parts = [f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="2.5"/>']
    if len(points) <= 40:
        parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in points]
    for x, low, high in zip(line.x, line.low, line.high, strict=False):
        if math.isfinite(low) and math.isfinite(high):
            parts.append(
                f'<path d="M{across.at(x)} {up.at(low)}V{up.at(high)}" stroke="{colour}"/>'
            )
    y = HEIGHT + 18 * number + 8
    parts.append(f'<path d="M{LEFT} {y - 4}h24" stroke="{colour}" stroke-width="2.5"/>')
    return [*parts, _text(LEFT + 32, y, line.name, "start")]


def _mark(mark: Mark, across: Axis, number: int) -> list[str]:
    x = across.at(mark.x)
    dashed = f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}" stroke="#666" stroke-dasharray="5 4"/>'
    return [dashed, _text(x + 4, TOP + 12 + 15 * number, mark.text, "start")]


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="12" text-anchor="{anchor}" fill="#333" {more}>'
        f"{escape(text)}</text>"
    )


# --------------------------------------------------------------------------------------------------
# Experiments told: each as a section with sentences, a table and a picture.
#
# The command line prints the tables, the app shows them, and the HTML page has all of it.


NAMES = {
    "HIPAD": "with rules",
    "no rules": "without rules",
    "rules alone": "rules alone",
    "LIBSVM": "LIBSVM",
    "hard rules": "absolute rules",
    "ADMM": "ADMM alone",
}


def paper_section(title: str, lines: Sequence[TableLine]) -> Section:
    """Return a table of the paper beside ours, with Friedman's test over its data sets."""
    head = ("data", "method", "accuracy %", "paper", "features", "paper", "CPU s", "paper", "")
    sentences = ["Settings are chosen among models with at most as many features as in the paper."]
    names = list(dict.fromkeys(line.entry.name for line in lines))
    scores = {m: [ln.accuracy.value for ln in lines if ln.method == m] for m in COMPARED}
    if len(names) > 1 and all(len(own) == len(names) for own in scores.values()):
        sentences.append(str(rank_methods(scores)))
    others = [line.entry for line in lines if line.entry.stands_in]
    if named := sorted({f"{entry.name} for {entry.paper_name}" for entry in others}):
        sentences.append(f"Standing in for data that are not here: {', '.join(named)}.")
    if missed := [_missed(line) for line in lines if line.method == "HIPAD" and not line.reaches]:
        sentences.append("Not reached: " + "; ".join(missed) + ".")
    return Section(title, sentences, head, [_paper_row(line) for line in lines])


def _paper_row(line: TableLine) -> list[str]:
    accuracy, support, seconds = line.paper or (None, None, None)
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
    """Return why a line does not reach the paper's."""
    accuracy, support, _ = line.paper or (math.nan, None, None)
    return (
        f"{line.entry.name}: {100 * line.accuracy.value:.1f} % with {line.support.value:.0f} "
        f"features, in the paper {accuracy:g} % with {support}"
    )


def figure_section(done: Done) -> Section:
    """Return the support against sweeps, with both switch tests."""
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
    """Return learning curves, and what the rules are worth."""
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


def plan_section(title: str, plan: StudyPlan) -> Section:
    """How many patients a target needs, and the curves that say so."""
    own = plan.curves
    low, high = own.interval()
    names = [NAMES[method] for method in own.methods]
    head = ("labelled patients", *names)
    rows = [
        [f"{n:,}", *(f"{own.means[k, j]:.3f} ({low[k, j]:.3f} to {high[k, j]:.3f})"
                     for k in range(len(names)))]
        for j, n in enumerate(own.sizes)
    ]  # fmt: skip
    lines = [
        Series(name, own.sizes, list(own.means[k]), list(low[k]), list(high[k]))
        for k, name in enumerate(names)
    ]
    reached = [
        Mark(one.value, f"{NAMES[one.method]}: {one.value:.0f}")
        for one in plan.needed
        if math.isfinite(one.value)
    ]
    picture = chart(
        lines,
        title=f"{plan.target.words} against the number of labelled patients",
        x_title="labelled patients",
        y_title=plan.target.words,
        marks=reached,
        log_x=True,
    )
    return Section(title, plan.sentences, head, rows, picture)


def sweep_section(
    title: str, axis: str, steps: Sequence[SweepStep], figure: str = "balanced accuracy"
) -> Section:
    """Return what a wrong rule does, and where it starts to harm."""
    harms = harm_marks(steps)
    sentence = harm_sentence(harms)
    head = (axis, "with rules %", "absolute %", "without %", "gain, points", "features")
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
    lines = [("with rules", "ours"), ("absolute rules", "hard"), ("without rules", "without")]
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
    """Return where a rule harms, in words."""
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
    """Return values, lower and upper ends, in per cent."""
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


# --------------------------------------------------------------------------------------------------
# The paper, repeated: which fits each of its parts needs, and the sections that tell of them.


PARTS = ("table1", "table2", "figure1")
SYNTHETIC = tuple(entry.name for entry in TABLE2)
DATA = "HIPAD_BENCHMARK_DATA"  # a folder with the real data sets, where none is named


@dataclass(frozen=True)
class RepeatPlan:
    """The data, the lines of both tables, and every fit that they need."""

    data_by_name: Mapping[str, ExperimentData]
    real: Sequence[Entry]
    synthetic: Sequence[Entry]
    tasks: Sequence[Task]


def gather(parts: Sequence[str], folder: str | None, seeds: int | None) -> RepeatPlan:
    """Return what some parts of the paper need; the folder holds the real data of table 1."""
    data_by_name: dict[str, ExperimentData] = {}
    real: list[Entry] = []
    tasks: list[Task] = []
    if "table1" in parts:
        data_by_name |= real_data(data_folder(folder))
        real = _drawn(available(TABLE1, data_by_name), seeds)
        tasks += table_tasks(real)
    synthetic = [entry for entry in TABLE2 if "table2" in parts or entry.name in parts]
    if synthetic:
        data_by_name |= synthetic_data()
        synthetic = _drawn(synthetic, seeds)
        tasks += table_tasks(synthetic, KSVM_OPTIONS)
    if "figure1" in parts:
        data_by_name[FIGURE] = FewRows()
        tasks += figure_tasks()
    return RepeatPlan(data_by_name, real, synthetic, tasks)


def _drawn(entries: Sequence[Entry], seeds: int | None) -> list[Entry]:
    """Return the same lines with other numbers of draws; a data set with one split has one."""
    if seeds is None:
        return list(entries)
    return [replace(e, draws=seeds if e.rows or e in TABLE2 else e.draws) for e in entries]


def repeat_sections(found: Sequence[Done], plan: RepeatPlan) -> list[Section]:
    """Return a section for each part that was run."""
    sections = []
    if plan.real:
        sections.append(paper_section("Table 1: real data", table_lines(plan.real, found)))
    if plan.synthetic:
        title = "Table 2: rules on synthetic data"
        sections.append(paper_section(title, table_lines(plan.synthetic, found)))
    early = [done for done in found if done.task.data == FIGURE and not done.failed]
    return sections + [figure_section(done) for done in early]


def data_folder(given: str | None) -> Path:
    """Return where real data sets lie: as given, as the environment says, or beside the project."""
    if given or os.environ.get(DATA):
        return Path(given or os.environ[DATA])
    beside = ROOT.parent / "shared" / "data"
    if not beside.is_dir():
        raise DataError(
            "table 1 needs real data sets, which do not come with the program: name a folder "
            f"with LIBSVM or NPZ files by --data FOLDER or by the variable {DATA}"
        )
    return beside


# --------------------------------------------------------------------------------------------------
# A grid of settings told: support and error against lambda1, the rules beside them, the choice.


SCORE_NAMES = {
    "balanced": "balanced accuracy",
    "accuracy": "right answers",
    "area": "area under ROC",
}


def tuning_sections(
    title: str, points: Sequence[SettingPoint], honest: Mean, score: str = "balanced"
) -> list[Section]:
    """Return error with the choice and the table, then the features."""
    if not points:
        return [Section(title, ["No setting has been judged."])]
    chosen = choose(points)
    lines = along_lambda1(points)
    marks = [Mark(chosen.lambda1, "chosen")]
    errors = chart(
        [
            Series(name, [p.lambda1 for p in own], [100 * (1 - p.score.value) for p in own])
            for name, own in lines.items()
        ],
        title="Error against lambda1",
        x_title="lambda1",
        y_title=f"100 - {SCORE_NAMES[score]}, %",
        marks=marks,
        log_x=True,
    )
    features = chart(
        [
            Series(name, [p.lambda1 for p in own], [p.support.value for p in own])
            for name, own in lines.items()
        ],
        title="Features against lambda1",
        x_title="lambda1",
        y_title="features",
        marks=marks,
        log_x=True,
    )
    sentences = [choice_sentence(points, score), honest_sentence(honest, score)]
    head = ("lambda1", "others", f"{SCORE_NAMES[score]} %", "features", *RULE_HEAD)
    rows = [table_row(point) for point in points]
    return [
        Section(title, [words for words in sentences if words], head, rows, errors),
        Section("Features against lambda1", picture=features),
    ]


RULE_HEAD = ("rules kept, typical patient %", "rules kept, every patient %", "margin")


def table_row(point: SettingPoint) -> list[str]:
    """Return one setting as cells."""
    return [
        number(point.lambda1),
        point.others,
        f"{100 * point.score.value:.1f}",
        f"{point.support.value:.1f}",
        _share(point.agrees),
        _share(point.holds),
        "-" if math.isnan(point.margin.value) else f"{point.margin.value:.2f}",
    ]


def along_lambda1(points: Sequence[SettingPoint]) -> dict[str, list[SettingPoint]]:
    """Return a line for each of the other settings, named by what differs, from small to large
    lambda1.
    """
    names = [name for name in points[0].params if name != "lambda1"] if points else []
    differ = [name for name in names if len({str(p.params[name]) for p in points}) > 1]
    lines: dict[str, list[SettingPoint]] = {}
    for point in sorted(points, key=lambda p: p.lambda1):
        lines.setdefault(point.text_of(differ or names[:1]), []).append(point)
    return lines


def choice_sentence(points: Sequence[SettingPoint], score: str = "balanced") -> str:
    """Return the chosen setting, and what the rules had to do with it."""
    chosen, by_score = choose(points), choose(points, rules_count=False)
    words = (
        f"Chosen: lambda1 {number(chosen.lambda1)}, {chosen.others}: {SCORE_NAMES[score]} "
        f"{percent(chosen.score.value)} with {chosen.support.value:.0f} features on average."
    )
    if chosen.params == by_score.params or math.isnan(chosen.agrees.value):
        return words
    return words + (
        f" By score and fewness alone it would have been lambda1 {number(by_score.lambda1)}, "
        f"{by_score.others}, which is as good within one standard error but keeps "
        f"{_share(by_score.agrees)} % of the rules about their typical patient, not "
        f"{_share(chosen.agrees)} %, and {_share(by_score.holds)} % about every patient, not "
        f"{_share(chosen.holds)} %."
    )


def honest_sentence(honest: Mean, score: str = "balanced") -> str:
    """Return what the whole choice is worth on rows that had no part in it."""
    if not honest.n:
        return ""
    interval = (
        "" if math.isnan(honest.low) else f" ({percent(honest.low)} to {percent(honest.high)})"
    )
    return (
        f"Honest estimate: {percent(honest.value)}{interval} {SCORE_NAMES[score]} on {honest.n} "
        "folds that had no part in the choice (nested cross-validation)."
    )


def _share(mean: Mean) -> str:
    return "-" if math.isnan(mean.value) else f"{100 * mean.value:.0f}"
