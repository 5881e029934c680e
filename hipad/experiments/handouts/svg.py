"""Small pictures as SVG text: lines with their intervals, and marks; nothing is fetched or run.

    chart([Series("with rules", xs, ys, lows, highs)], x_title="labelled rows", y_title="accuracy")

A picture carries its meaning as text too (`title` and `desc`), and its colours tell the lines apart
for colour-blind readers (Okabe and Ito's palette).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

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
class _Axis:
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
    """A picture of lines over one another."""
    xs = [x for line in series for x in line.x] + [mark.x for mark in marks]
    ys = [y for line in series for y in (*line.y, *line.low, *line.high) if math.isfinite(y)]
    if not xs or not ys:
        return ""
    across = _Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, log_x)
    up = _Axis(*_padded(min(ys), max(ys)), HEIGHT - BOTTOM, TOP)
    parts = [*_frame(across, up, sorted(set(xs)), x_title, y_title)]
    for number, line in enumerate(series):
        parts += _line(line, PALETTE[number % len(PALETTE)], across, up, number)
    parts += [piece for n, mark in enumerate(marks) for piece in _mark(mark, across, n)]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT + 18 * len(series)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif">'
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>"])


def _padded(low: float, high: float) -> tuple[float, float]:
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def _frame(
    across: _Axis, up: _Axis, xs: Sequence[float], x_title: str, y_title: str
) -> Sequence[str]:
    parts = []
    for value in _ticks(up.least, up.most):
        y = up.at(value)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#ccc"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{value:.6g}", "end"))
    shown = xs if len(xs) <= 10 else _ticks(across.least, across.most)
    parts += [_text(across.at(x), HEIGHT - BOTTOM + 16, f"{x:.6g}", "middle") for x in shown]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_title, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 14 {middle})"'
    parts.append(_text(14, middle, y_title, "middle", turned))
    return parts


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends.

    >>> _ticks(0.48, 1.02)
    [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _line(line: Series, colour: str, across: _Axis, up: _Axis, number: int) -> list[str]:
    points = [(across.at(x), up.at(y)) for x, y in zip(line.x, line.y, strict=True) if y == y]
    told = " ".join(f"{x},{y}" for x, y in points)
    parts = [f'<polyline points="{told}" fill="none" stroke="{colour}" stroke-width="2.5"/>']
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


def _mark(mark: Mark, across: _Axis, number: int) -> list[str]:
    x = across.at(mark.x)
    dashed = f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}" stroke="#666" stroke-dasharray="5 4"/>'
    return [dashed, _text(x + 4, TOP + 12 + 15 * number, mark.text, "start")]


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="12" text-anchor="{anchor}" fill="#333" {more}>'
        f"{escape(text)}</text>"
    )
