"""A grid of settings told: support and error against lambda1, the rules beside them, the choice."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hipad.experiments.handouts.handout import Section
from hipad.experiments.handouts.svg import Mark, Series, chart
from hipad.experiments.searches.grid_points import SettingPoint, choose
from hipad.experiments.summing import Mean
from hipad.wording import number, percent

SCORE_NAMES = {
    "balanced": "balanced accuracy",
    "accuracy": "right answers",
    "area": "area under ROC",
}


def tuning_sections(
    title: str, points: Sequence[SettingPoint], honest: Mean, score: str = "balanced"
) -> list[Section]:
    """Error with the choice and the table, then the features."""
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
        Section(title, [told for told in sentences if told], head, rows, errors),
        Section("Features against lambda1", picture=features),
    ]


RULE_HEAD = ("rules kept, typical patient %", "rules kept, every patient %", "margin")


def table_row(point: SettingPoint) -> list[str]:
    """One setting as cells."""
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
    """A line for each of the other settings, named by what differs, from small to large lambda1."""
    names = [name for name in points[0].params if name != "lambda1"] if points else []
    differ = [name for name in names if len({str(p.params[name]) for p in points}) > 1]
    lines: dict[str, list[SettingPoint]] = {}
    for point in sorted(points, key=lambda p: p.lambda1):
        lines.setdefault(point.told(differ or names[:1]), []).append(point)
    return lines


def choice_sentence(points: Sequence[SettingPoint], score: str = "balanced") -> str:
    """The chosen setting, and what the rules had to do with it."""
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
    """What the whole choice is worth on rows that had no part in it."""
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
