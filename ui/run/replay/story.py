"""A story to watch: frames, the lines of its charts, and the features that come and go.

One story is a run, step by step; another is the same data from many features to few. The browser
plays any of them: `as_dict()` is what it is given.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hipad.utils import one_line

if TYPE_CHECKING:
    from ui.run.replay.feature_grid import FeatureGrid, Moves

# Places in the theme's palette. Two have a meaning on the whole page: right answers, and what has
# none. The others are for the algorithm's curves, and none of them is that of a class.
RIGHT_COLOUR, AMBER, VIOLET, TEAL, GREY = 2, 4, 5, 6, -1
Span = tuple[float, float]


def packed(values: Any, kind: str = "<f4") -> str:
    """Return numbers in a row, little end first, as base64: typed arrays for a browser.

    >>> packed([1, 2], "u1")
    'AQI='
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


@dataclass(frozen=True)
class Line:
    """Values of one quantity, a number per frame; `colour` counts in the theme's palette."""

    name: str
    values: Sequence[float]
    colour: int
    dashed: bool = False


@dataclass(frozen=True)
class LineChart:
    """Lines that share an axis which does not move while the story is told."""

    title: str
    lines: tuple[Line, ...]
    logarithmic: bool = False
    from_zero: bool = False
    percent: bool = False
    whole: bool = False  # there are no halves of a feature
    algorithm: bool = False  # of interest to those who ask how the result was found
    most: float | None = None  # of what can be had at all
    shared: Span | None = None  # the axis, where several stories have one

    @property
    def span(self) -> Span:
        """Lowest and highest value of the axis."""
        if self.shared is not None:
            return self.shared
        values = np.array([v for line in self.lines for v in line.values], dtype=float)
        values = values[np.isfinite(values)]
        if not values.size:
            return (0.0, 1.0)
        if self.logarithmic:
            values = np.maximum(values, 1e-16)
            return float(10 ** np.floor(np.log10(values.min()))), float(values.max() * 1.5)
        low, high = float(values.min()), float(values.max())
        low = min(low, 0.0) if self.from_zero else low
        margin = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
        top = high + margin
        if self.most is not None:
            top = max(high, min(top, 1.02 * self.most))
        return (low if self.from_zero else max(low - margin, min(low, 0.0))), top

    def as_dict(self) -> dict[str, Any]:
        low, high = self.span
        return {
            "title": self.title,
            "low": low,
            "high": high,
            "log": self.logarithmic,
            "percent": self.percent,
            "whole": self.whole,
            "algorithm": self.algorithm,
            "lines": [
                {
                    "name": one_line(line.name, 30),
                    "values": packed(line.values),
                    "colour": line.colour,
                    "dashed": line.dashed,
                }
                for line in self.lines
            ],
        }


@dataclass(frozen=True, eq=False)
class Story:
    """Frames with their place on the common axis and the words for each."""

    title: str
    axis: str
    places: Sequence[float]  # of each frame on the axis
    words: Sequence[str]  # what each frame is called
    charts: tuple[LineChart, ...]
    grid: FeatureGrid
    moves: Moves
    right: Sequence[int]  # right answers at each frame,
    judged: str  # and whose
    headline: str = ""
    aside: str = ""  # what follows the headline where no other story stands beside this one
    alarm: str = ""  # what must be known before anything else,
    alarm_block: str = ""  # and the block that it is about
    state: str = ""  # what the work behind it is doing
    live: bool = False  # whether frames are still to come
    marks: Sequence[tuple[float, str]] = ()  # places that mean something
    ticks: Sequence[tuple[float, str]] = ()  # on the axis, where numbers would not do
    note: str = ""  # what was left out
    span: Span | None = None  # first and last place of the axis, where several stories have one

    def as_dict(self) -> dict[str, Any]:
        """The story for the browser."""
        return {
            "title": one_line(self.title, 60),
            "axis": self.axis,
            "places": packed(self.places),
            "words": list(self.words),
            "charts": [chart.as_dict() for chart in self.charts],
            "field": self.grid.as_dict(self.moves),
            "headline": one_line(self.headline, 300),
            "aside": one_line(self.aside, 200),
            "alarm": one_line(self.alarm, 400),
            "alarmBlock": one_line(self.alarm_block, 24),
            "right": packed(self.right, "<u4"),
            "judged": self.judged,
            "span": self.span,
            "state": self.state,
            "live": self.live,
            "marks": [list(mark) for mark in self.marks],
            "ticks": [list(tick) for tick in self.ticks],
            "note": self.note,
        }


def with_shared_axes(stories: Sequence[Story]) -> list[Story]:
    """Return the stories with one scale for each chart that they have in common, and one clock.

    Curves of the algorithm keep their own: with other terms they are of another problem.
    """
    if len(stories) < 2:
        return list(stories)
    spans: dict[str, Span] = {}
    charts = [chart for story in stories for chart in story.charts]
    for chart in (chart for chart in charts if not chart.algorithm):
        low, high = chart.span
        known = spans.get(chart.title, chart.span)
        spans[chart.title] = (min(low, known[0]), max(high, known[1]))
    places = [place for story in stories for place in story.places]
    span = (float(min(places)), float(max(places))) if places else None
    return [
        replace(
            story,
            charts=tuple(replace(chart, shared=spans.get(chart.title)) for chart in story.charts),
            span=span,
        )
        for story in stories
    ]
