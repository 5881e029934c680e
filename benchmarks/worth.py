"""What the experts' rules are worth in labelled patients, the one figure that says why this exists.

Learning curves with the rules and without on the same draws: the rules are worth as many further
patients as the curve without them needs to get as far (hipad/experiments/sensitivity.py).
Intervals come from drawing the draws again. Tables with published rules take the fits of
trust.py; ksvm-s has its own. With --write the table goes into the README, and the picture to
docs/worth.svg. Every finished fit is kept in a file among the temporary ones: a run that was
stopped goes on where it ended.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import trust
from benchmarks.data import ROOT, sample_table
from benchmarks.reporting import Options, progress, table, write_section
from benchmarks.rule_tables import FAMILIES, table_names
from hipad.experiments.methods import ExperimentData, Synthetic
from hipad.experiments.report import HEIGHT, LEFT, PALETTE, WIDTH, Series, chart
from hipad.experiments.reproduction import KSVM_OPTIONS
from hipad.experiments.runner import Done, Mean, ProgressEstimate, ResultsCache, Task, perform
from hipad.experiments.sensitivity import Worth, curve_tasks, curves, worth_of_rules

SIZES = (4, 8, 16, 32, 64, 128)
SYNTHETIC = "ksvm-s-10k"
SHOWN = (SYNTHETIC, "pima", "all-bcrabl")  # in the picture
PICTURE = ROOT / "docs" / "worth.svg"
NAMES = {"HIPAD": "with the rules", "no rules": "without"}
PANEL = HEIGHT + 150  # pixels a panel is high: its title, chart and names of lines


def run(options: Options) -> str:
    """One table: the worth beside few patients, on each data set."""
    rows, panels = [], []
    for name in (SYNTHETIC, *(one for one in table_names() if one not in FAMILIES)):
        if not options.wants(name):
            continue
        found = measured(name, options)
        worth = worth_of_rules(found)
        first = {curve.method: curve.means[0] for curve in curves(found)}
        rows.append(
            [
                name,
                worth.labelled,
                _percent(first["HIPAD"]),
                _percent(first["no rules"]),
                _formatted(worth),
            ]
        )
        if name in SHOWN:
            panels.append(panel(name, _formatted(worth), found))
    head = ["data", "labelled patients", "with rules, %", "without, %", "the rules are worth"]
    text = table(head, rows)
    if options.write:
        PICTURE.write_text(beside(panels), "utf-8")
        write_section("worth", text, ROOT / "README.md")
    return text


def measured(name: str, options: Options) -> list[Done]:
    """The fits of the learning curves with and without rules."""
    if name != SYNTHETIC:
        return of_trust(name, options)
    data = data_named(name)
    sizes = SIZES[:3] if options.quick else SIZES
    tasks = curve_tasks(
        data,
        draws=options.count(20),
        sizes=sizes,
        methods=tuple(NAMES),
        options=KSVM_OPTIONS if isinstance(data, Synthetic) else None,
    )
    return fitted(tasks, data, "hipad-worth.jsonl")


def of_trust(name: str, options: Options) -> list[Done]:
    """The fits of trust.py, as those of a learning curve."""
    sizes = trust.SIZES[: 2 if options.quick else -1]
    cells = trust.measured([name], sizes, options.count(20))
    found = []
    for (_, size), draws in cells.items():
        for seed, cell in enumerate(draws):
            for method, key in (("HIPAD", "right"), ("no rules", "none")):
                settings = {"method": method, "rows": {"labelled": size}}
                task = Task("contest", name, seed, settings)
                found.append(Done(task, task.key(name), {"balanced": cell[key]}))
    return found


def fitted(tasks: Sequence[Task], data: ExperimentData, file: str) -> list[Done]:
    """All fits, with a line of progress now and then; those in the file are not made again."""
    ledger = ResultsCache(Path(tempfile.gettempdir()) / file)
    there, pace, found = set(ledger.found), ProgressEstimate(len(tasks)), []
    for done in perform(tasks, {data.name: data}, ledger):
        found.append(done)
        pace.add(again=done.key in there, failed=done.failed)
        if done.failed:
            progress(f"failed: {done.error}")
        if not pace.done % 20:
            progress(f"{data.name}: {pace}")
    return found


def data_named(name: str) -> ExperimentData:
    """A bundled sample, or ksvm-s with its rules."""
    if name.startswith("ksvm-s"):
        return Synthetic(name, preset=name.removeprefix("ksvm-s-"))
    own = sample_table(name)
    known: dict[str, Any] = {"blocks": dict(own.blocks or {}), "rules": own.rules}
    labels = ("negative", "positive")
    return ExperimentData(name, own.X, own.y.astype(np.float64), own.names, labels=labels, **known)


def panel(name: str, worth: str, found: Sequence[Done]) -> str:
    """The two curves of one data set, with the answer above them."""
    lines = []
    for curve in curves(found):
        parts = [[100 * getattr(m, part) for m in curve.means] for part in ("value", "low", "high")]
        lines.append(Series(NAMES[curve.method], [2 * n for n in curve.sizes], *parts))
    title = f"{name}: worth {worth} labelled patients"
    return framed(name, worth, chart(lines, title=title, x_title="", y_title="", log_x=True))


def framed(name: str, worth: str, picture: str) -> str:
    """A chart below its name and answer, in letters that are read where the picture is small."""
    much, _, interval = worth.partition(" (")
    middle = WIDTH / 2
    answer = (f"worth {much} labelled patients", f"(95 %: {interval}")
    texts = [
        f'<text x="{middle}" y="{y}" font-size="{size}" text-anchor="middle">{escape(one)}</text>'
        for y, size, one in zip((32, 64, 92), (30, 24, 22), (name, *answer), strict=True)
    ]
    picture = re.sub(r'viewBox="0 0 (\d+) \d+"', rf'viewBox="0 0 \1 {HEIGHT}"', picture, count=1)
    picture = picture.replace('font-size="12"', 'font-size="22"')
    picture = re.sub(r'<path d="M64 \d+h24".*/>\n<text .*</text>', "", picture)  # names of lines
    inside = f'<svg y="100" width="{WIDTH}" height="{HEIGHT}" overflow="visible" '
    return "\n".join([*texts, picture.replace("<svg ", inside, 1)])


def beside(panels: Sequence[str]) -> str:
    """Panels in a row, as one picture, with the names of lines and axes below."""
    width, foot = WIDTH * len(panels), PANEL - 24
    size = f'viewBox="0 0 {width} {PANEL}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    placed = [f'<g transform="translate({WIDTH * k} 0)">{p}</g>' for k, p in enumerate(panels)]
    legend = []
    for k, (text, colour) in enumerate(zip(NAMES.values(), PALETTE, strict=False)):
        x = LEFT + 260 * k
        legend.append(f'<path d="M{x} {foot - 8}h48" stroke="{colour}" stroke-width="5"/>')
        legend.append(f'<text x="{x + 60}" y="{foot}" font-size="24">{escape(text)}</text>')
    axes = "balanced accuracy, %, against the number of labelled patients"
    legend.append(
        f'<text x="{width - 16}" y="{foot}" font-size="24" text-anchor="end">{axes}</text>'
    )
    return "\n".join([head, ground, *placed, *legend, "</svg>"]) + "\n"


def _formatted(worth: Worth) -> str:
    much = f"{'more than' if worth.beyond else 'about'} {abs(worth.value):.0f}"
    cost = "a cost of " if worth.value < 0 else ""
    low, high = (
        "beyond the curve" if math.isinf(end) else f"{end:.0f}" for end in (worth.low, worth.high)
    )
    return f"{cost}{much} ({low} to {high})"


def _percent(mean: Mean) -> str:
    half = "" if math.isnan(mean.low) else f" ± {100 * (mean.high - mean.value):.1f}"
    return f"{100 * mean.value:.1f}{half}"
