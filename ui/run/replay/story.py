"""A story to watch: frames, the lines of its charts, and the features that come and go."""

from __future__ import annotations
import base64
from typing import Any
import numpy as np
from collections.abc import Sequence
from dataclasses import dataclass
from ui.run.replay.mosaic import Mosaic, Moves
from ui.run.replay.packing import packed
from ui.words import one_line

# --------------------------------------------------------------------------------------------------
# Arrays as short texts that a browser turns into typed arrays again.


def packed(values: Any, kind: str = "<f4") -> str:
    """Numbers in a row, little end first, as base64.

    >>> packed([1, 2], "u1")
    'AQI='
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


# --------------------------------------------------------------------------------------------------
# A story to watch: frames, the lines of its charts, and the features that come and go.
#
# One story is a run, step by step; another is the same data as sparsity is relaxed. The browser plays
# any of them: `told()` is what it is given.


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

    @property
    def span(self) -> tuple[float, float]:
        """Lowest and highest value of the axis."""
        values = np.array([v for line in self.lines for v in line.values], dtype=float)
        values = values[np.isfinite(values)]
        if not values.size:
            return (0.0, 1.0)
        if self.logarithmic:
            values = np.maximum(values, 1e-16)
            return float(10 ** np.floor(np.log10(values.min()))), float(values.max() * 1.5)
        low, high = float(values.min()), float(values.max())
        low = min(low, 0.0) if self.from_zero else low
        room = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
        return (low if self.from_zero else low - room), high + room

    def told(self) -> dict[str, Any]:
        low, high = self.span
        return {
            "title": self.title,
            "low": low,
            "high": high,
            "log": self.logarithmic,
            "percent": self.percent,
            "whole": self.whole,
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
    mosaic: Mosaic
    moves: Moves
    headline: str = ""
    aside: str = ""  # what follows the headline where no other story stands beside this one
    alarm: str = ""  # what must be known before anything else
    state: str = ""  # what the work behind it is doing
    live: bool = False  # whether frames are still to come
    marks: Sequence[tuple[float, str]] = ()  # places that mean something
    ticks: Sequence[tuple[float, str]] = ()  # on the axis, where numbers would not do
    note: str = ""  # what was left out

    def told(self) -> dict[str, Any]:
        """The story for the browser."""
        return {
            "title": one_line(self.title, 60),
            "axis": self.axis,
            "places": packed(self.places),
            "words": list(self.words),
            "charts": [chart.told() for chart in self.charts],
            "field": self.mosaic.told(self.moves),
            "headline": one_line(self.headline, 300),
            "aside": one_line(self.aside, 200),
            "alarm": one_line(self.alarm, 400),
            "state": self.state,
            "live": self.live,
            "marks": [list(mark) for mark in self.marks],
            "ticks": [list(tick) for tick in self.ticks],
            "note": self.note,
        }
