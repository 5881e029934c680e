"""The headline figures of a model against the pinned one, and whether they differ by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from hipad.utils import count, percent
from ui.bench.sides import Comparison

CLEAR: Final = 0.05  # p value below which a change is called clear


@dataclass(frozen=True)
class Figure:
    """A number, how it differs from the pinned model's, and what stands under it."""

    label: str
    value: str
    change: float
    change_text: str
    below: str
    help: str
    colour: Literal["normal", "off"] = "normal"


def headline(found: Comparison) -> list[Figure]:
    """Right answers, area, features and flips."""
    return [_right_answers(found), _area(found), _features(found), _flips(found)]


def _right_answers(found: Comparison) -> Figure:
    old, new = (side.model.judgement.accuracy for side in found.sides)
    low, high = new.interval
    gain = 100 * (new.value - old.value)
    return Figure(
        "Right answers",
        percent(new.value),
        gain,
        f"{gain:+.1f} points",
        f"{percent(low)} to {percent(high)}",
        "Share of patients put in their own class. Below: the change against the pinned model, and "
        "Wilson's 95 % interval.",
    )


def _area(found: Comparison) -> Figure:
    old, new = (side.area for side in found.sides)
    wider = new.value - old.value
    return Figure(
        "Area under ROC",
        area_words(new.value),
        wider,
        f"{wider:+.3f}",
        "not known" if math.isnan(new.value) else f"{new.low:.3f} to {new.high:.3f}",
        "The chance that a positive patient scores above a negative one, with its 95 % interval.",
    )


def _features(found: Comparison) -> Figure:
    old, new = (len(side.model.support) for side in found.sides)
    more = new - old
    return Figure(
        "Features used",
        f"{new:,}",
        more,
        f"{more:+,}",
        f"{found.features.kept:,} as before",
        "Features that have a weight.",
        "off",
    )


def _flips(found: Comparison) -> Figure:
    flipped = found.flips
    return Figure(
        "Flips",
        f"{len(flipped.rows):,}",
        0.0,
        "",
        f"{len(flipped.better):,} better, {len(flipped.worse):,} worse",
        "Patients whose answer differs from the pinned model's.",
    )


def area_words(value: float) -> str:
    """An area under the curve; patients of one class have none."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def verdict(found: Comparison, *, expert: bool = False) -> str:
    """Whether the change is more than chance, in words."""
    judged, flipped = found.new.model.judgement, found.flips
    part = "test" if judged.part == "test" else "training"
    right = judged.accuracy
    whom = f"{right.n:,} {part} patients"
    if right.patients is not None:
        whom = f"{right.n:,} {part} rows of {count(right.patients, 'patient')}"
    if not len(flipped.rows):
        return f"All {whom} get the answer they had."
    better, worse = len(flipped.better), len(flipped.worse)
    clear = flipped.p_value < CLEAR
    words = "more than chance explains" if clear else "within what chance explains"
    test = f" (McNemar's exact test: p = {flipped.p_value:.2g})" if expert else ""
    return f"Of {whom}, {better:,} became right and {worse:,} wrong: {words}{test}."
