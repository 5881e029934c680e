"""Charts of a report as SVG text: every mark tells its values to whoever points at it.

    chart = Chart("ROC curve", "1 - specificity", "sensitivity", x=UNIT, y=UNIT)
    chart.line(xs, ys, "with rules", "model", tips)
    chart.svg()

Colours are classes, whose meaning the page's style sheet tells: `negative`, `positive`, `model` and
`rest`. So a chart has the colours of light, dark and paper. Nothing in it is run or fetched; what a
mark tells stands in its `<title>`, which browsers show and the page's script enlarges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal

import numpy as np

from hipad.evaluation.curves import Bins, Curve, DecisionCurve, RiskDistribution
from hipad.evaluation.intervals import Estimate
from hipad.experiments.report import Axis, ticks
from hipad.utils import FloatArray, number, one_line, percent

Colour = Literal["negative", "positive", "model", "rest"]
Span = tuple[float, float]
UNIT: Final[Span] = (0.0, 1.0)
WIDTH: Final = 480
HEIGHT: Final = 320
LEFT: Final = 56
RIGHT: Final = 24
TOP: Final = 12
BOTTOM: Final = 46
LEGEND: Final = 18  # of each line of it
MOST_TIPS: Final = 60  # marks of a line that tell their values
MOST_POINTS: Final = 600  # of a line or a cloud: more cannot be seen apart
LONGEST: Final = 44  # letters of a name beside a bar


@dataclass
class Chart:
    """One picture with two axes; its methods add marks, `svg` gives its text.

    Parameters
    ----------
    title : str
        What it shows, for readers who do not see it.
    x_title, y_title : str
        What the axes are.
    x, y : (least, most)
        What the axes span.
    x_percent, y_percent : bool, default=True
        Whether the axes tell shares as percentages.
    """

    title: str
    x_title: str
    y_title: str
    x: Span = UNIT
    y: Span = UNIT
    x_percent: bool = True
    y_percent: bool = True
    _parts: list[str] = field(default_factory=list, init=False, repr=False)
    _legend: dict[str, tuple[Colour, str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._across = Axis(*self.x, LEFT, WIDTH - RIGHT)
        self._up = Axis(*self.y, HEIGHT - BOTTOM, TOP)

    def line(
        self,
        x: Sequence[float] | FloatArray,
        y: Sequence[float] | FloatArray,
        name: str,
        colour: Colour,
        tips: Sequence[str] = (),
        *,
        dash: str = "",
    ) -> None:
        """Add a line; `tips` are what its points tell."""
        at = self._thinned(x, y)
        points = [self._point(x[k], y[k]) for k in at]
        style = f' stroke-dasharray="{dash}"' if dash else ""
        text = " ".join(f"{a},{b}" for a, b in points)
        self._parts.append(f'<polyline class="line {colour}" points="{text}"{style}/>')
        if tips:
            for k in at[:: max(1, len(at) // MOST_TIPS)]:
                self._dot(x[k], y[k], 7, "tip", tips[k])
        self._legend[name] = (colour, dash)

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray) -> None:
        """Add a shaded band."""
        known = np.isfinite(low) & np.isfinite(high)
        if not known.any():
            return
        upper = [self._point(a, b) for a, b in zip(x[known], high[known], strict=True)]
        lower = [self._point(a, b) for a, b in zip(x[known], low[known], strict=True)]
        text = " ".join(f"{a},{b}" for a, b in (*upper, *lower[::-1]))
        self._parts.append(f'<polygon class="band" points="{text}"/>')

    def bundle(self, lines: Sequence[tuple[FloatArray, FloatArray]]) -> None:
        """Add many thin lines as one mark."""
        pieces = []
        for x, y in lines:
            known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
            at = known[:: max(1, len(known) // 50)]
            points = [self._point(x[k], y[k]) for k in at]
            pieces.append("M" + "L".join(f"{a} {b}" for a, b in points) if points else "")
        self._parts.append(f'<path class="bundle" d="{"".join(pieces)}"/>')

    def dots(
        self, x: Sequence[float] | FloatArray, y: Sequence[float] | FloatArray, colour: Colour,
        tips: Sequence[str], *, name: str = "", radius: float = 4,
    ) -> None:  # fmt: skip
        """Add points."""
        for k in self._thinned(x, y):
            self._dot(x[k], y[k], radius, f"dot {colour}", tips[k])
        if name:
            self._legend[name] = (colour, "dot")

    def whiskers(self, x: FloatArray, low: FloatArray, high: FloatArray, colour: Colour) -> None:
        """Add upright intervals."""
        pieces = []
        for k in self._thinned(x, low):
            across, bottom = self._point(x[k], low[k])
            pieces.append(f"M{across} {bottom}V{self._point(x[k], high[k])[1]}")
        self._parts.append(f'<path class="whisker {colour}" d="{"".join(pieces)}"/>')

    def bars(
        self, edges: FloatArray, values: FloatArray, name: str, colour: Colour, tips: Sequence[str]
    ) -> None:
        """Add upright bars between neighbouring edges."""
        for left, right, value, tip in zip(edges[:-1], edges[1:], values, tips, strict=True):
            if value:
                a, top = self._point(left, value)
                b, foot = self._point(right, 0.0)
                self._parts.append(
                    f'<rect class="bar {colour}" x="{a + 0.5:.1f}" y="{top}" '
                    f'width="{max(b - a - 1, 1):.1f}" height="{foot - top:.1f}">{_tip(tip)}</rect>'
                )
        self._legend[name] = (colour, "bar")

    def diagonal(self) -> None:
        """Add the line on which both axes are equal."""
        self.line(list(self.x), list(self.x), "", "rest", dash="2 4")
        del self._legend[""]

    def upright(self, x: float, tip: str) -> None:
        """Add a line at one place of the lower axis."""
        at = self._across.at(x)
        self._parts.append(
            f'<path class="mark" d="M{at} {TOP}V{HEIGHT - BOTTOM}">{_tip(tip)}</path>'
        )

    def level(self, y: float) -> None:
        """Add a line at one height."""
        at = self._up.at(y)
        self._parts.append(
            f'<path class="mark" stroke-dasharray="6 4" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>'
        )

    def svg(self) -> str:
        """Return the picture."""
        height = HEIGHT + LEGEND * len(self._legend)
        clip = f'<svg x="{LEFT}" y="0" width="{WIDTH - LEFT - RIGHT + 8}" height="{HEIGHT - BOTTOM + 8}" viewBox="{LEFT} 0 {WIDTH - LEFT - RIGHT + 8} {HEIGHT - BOTTOM + 8}">'  # fmt: skip # noqa: E501
        return "\n".join(
            [
                _head(self.title, WIDTH, height),
                *self._frame(),
                clip,
                *self._parts,
                "</svg>",
                *self._names(),
                "</svg>",
            ]
        )

    def _frame(self) -> list[str]:
        foot = HEIGHT - BOTTOM
        parts = []
        for value in ticks(*self.y):
            y = self._up.at(value)
            parts.append(f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>')
            parts.append(_text(LEFT - 6, y + 4, _formatted(value, self.y_percent), "end"))
        for value in ticks(*self.x):
            x = self._across.at(value)
            parts.append(f'<path class="grid" d="M{x} {foot}v4"/>')
            parts.append(_text(x, foot + 17, _formatted(value, self.x_percent), "middle"))
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, self.x_title, "middle"))
        middle = (TOP + foot) / 2
        turned = f' transform="rotate(-90 13 {middle})"'
        return [*parts, _text(13, middle, self.y_title, "middle", turned)]

    def _names(self) -> list[str]:
        parts = []
        for k, (name, (colour, kind)) in enumerate(self._legend.items()):
            y = HEIGHT + LEGEND * k + 8
            if kind == "dot":
                parts.append(f'<circle class="dot {colour}" cx="{LEFT + 12}" cy="{y - 4}" r="4"/>')
            elif kind == "bar":
                parts.append(
                    f'<rect class="bar {colour}" x="{LEFT + 4}" y="{y - 10}" width="16" '
                    'height="10"/>'
                )
            else:
                dash = f' stroke-dasharray="{kind}"' if kind else ""
                parts.append(f'<path class="line {colour}" d="M{LEFT} {y - 4}h24"{dash}/>')
            parts.append(_text(LEFT + 32, y, one_line(name, LONGEST), "start"))
        return parts

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return self._across.at(float(x)), self._up.at(float(y))

    def _dot(self, x: float, y: float, radius: float, kind: str, tip: str) -> None:
        a, b = self._point(x, y)
        self._parts.append(
            f'<circle class="{kind}" cx="{a}" cy="{b}" r="{radius}">{_tip(tip)}</circle>'
        )

    @staticmethod
    def _thinned(x: Sequence[float] | FloatArray, y: Sequence[float] | FloatArray) -> list[int]:
        """Return which points to draw: those that are finite, of very many some."""
        known = [k for k in range(len(x)) if math.isfinite(x[k]) and math.isfinite(y[k])]
        if len(known) <= MOST_POINTS:
            return known
        return [known[k] for k in np.linspace(0, len(known) - 1, MOST_POINTS).astype(int)]


def _head(title: str, width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">'
    )


def _tip(text: str) -> str:
    return f"<title>{escape(one_line(text, 300))}</title>"


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _formatted(value: float, as_percent: bool) -> str:
    return percent(value, 0) if as_percent else f"{value:.6g}"


# --------------------------------------------------------------------------------------------------
# The pictures of the Results page.


def roc_chart(
    own: Curve, without: Curve | None, name: str, cutoff: tuple[Estimate, Estimate]
) -> str:
    """Draw sensitivity against false positives; `cutoff` are sensitivity and specificity there."""
    chart = Chart("ROC curve", "1 - specificity", "sensitivity")
    chart.band(own.at, own.low, own.high)
    chart.diagonal()
    if without is not None:
        chart.line(without.x, without.y, "without rules", "rest", _roc_tips(without, "without"))
    chart.line(own.x, own.y, name, "model", _roc_tips(own, name))
    sensitivity, specificity = cutoff
    tip = (
        f"answers as given: sensitivity {percent(sensitivity.value)}, "
        f"specificity {percent(specificity.value)}"
    )
    if math.isfinite(sensitivity.value) and math.isfinite(specificity.value):
        at = [1 - specificity.value], [sensitivity.value]
        chart.dots(*at, "positive", [tip], name="the answers as given", radius=6)
    return chart.svg()


def _roc_tips(curve: Curve, name: str) -> list[str]:
    return [
        f"{name}: sensitivity {percent(y)}, specificity {percent(1 - x)}"
        for x, y in zip(curve.x, curve.y, strict=True)
    ]


def calibration_chart(curve: Curve | None, bins: Bins, noun: str) -> str:
    """Draw observed shares against stated risks."""
    chart = Chart("Calibration", "risk stated", "share observed")
    chart.diagonal()
    if curve is not None:
        chart.band(curve.at, curve.low, curve.high)
        tips = [f"stated {percent(x)}, observed {percent(y)} (smooth)"
                for x, y in zip(curve.x, curve.y, strict=True)]  # fmt: skip
        chart.line(curve.x, curve.y, "smooth", "model", tips)
    chart.whiskers(bins.risk, bins.low, bins.high, "positive")
    tips = [
        f"{n:,} {noun}s: stated {percent(risk)}, observed {percent(share)} "
        f"({percent(low)} to {percent(high)})"
        for n, risk, share, low, high in zip(
            bins.count, bins.risk, bins.share, bins.low, bins.high, strict=True
        )
    ]
    chart.dots(bins.risk, bins.share, "positive", tips, name=f"groups of {noun}s", radius=5)
    return chart.svg()


def decision_chart(own: DecisionCurve, without: DecisionCurve | None, name: str) -> str:
    """Draw the net benefit at each risk from which on one would act."""
    top = max(float(np.nanmax(own.model)), float(own.treat_all[0]), 0.01)
    span = (-0.25 * top, 1.15 * top)
    chart = Chart("Decision curve", "risk from which on one acts", "net benefit", y=span,
                  y_percent=False)  # fmt: skip
    chart.band(own.thresholds, own.low, own.high)
    seen = own.treat_all >= span[0]
    chart.line(own.thresholds[seen], own.treat_all[seen], "act on all", "rest", dash="2 4")
    chart.level(0.0)
    if without is not None:
        tips = _benefit_tips(without, "without rules")
        chart.line(without.thresholds, without.model, "without rules", "rest", tips)
    chart.line(own.thresholds, own.model, name, "model", _benefit_tips(own, name))
    return chart.svg()


def _benefit_tips(curve: DecisionCurve, name: str) -> list[str]:
    return [f"{name}: net benefit {number(gain, 3)} at risk {percent(at, 0)}"
            for at, gain in zip(curve.thresholds, curve.model, strict=True)]  # fmt: skip


def risk_chart(found: RiskDistribution, classes: tuple[str, str], noun: str) -> str:
    """Draw how many rows of each class have which risk."""
    most = float(max(found.negative.max(initial=1), found.positive.max(initial=1)))
    chart = Chart("Risks by class", "risk stated", f"{noun}s", y=(0.0, 1.05 * most),
                  y_percent=False)  # fmt: skip
    sides: tuple[Colour, Colour] = ("negative", "positive")
    for values, name, colour in zip((found.negative, found.positive), classes, sides, strict=True):
        tips = [
            f"{n:,} {noun}s of class {name} at risk {percent(a, 0)} to {percent(b, 0)}"
            for n, a, b in zip(values, found.edges[:-1], found.edges[1:], strict=True)
        ]
        chart.bars(found.edges, values.astype(float), f"actual {name}", colour, tips)
    return chart.svg()


# --------------------------------------------------------------------------------------------------
# Stability: Riley and Collins, Biometrical Journal 65 (2023) 2200302.


def risk_instability_chart(risk: FloatArray, low: FloatArray, high: FloatArray, noun: str) -> str:
    """Draw between which risks refits put each row."""
    chart = Chart("Risk instability", "risk by the model", "risk by refits")
    chart.diagonal()
    chart.whiskers(risk, low, high, "model")
    tips = [
        f"a {noun} of risk {percent(at)}: refits {percent(a)} to {percent(b)}"
        for at, a, b in zip(risk, low, high, strict=True)
    ]
    chart.dots(risk, (low + high) / 2, "model", tips, radius=2.5)
    return chart.svg()


def answer_instability_chart(risk: FloatArray, share: FloatArray, noun: str) -> str:
    """Draw how many refits change the answer of each row."""
    chart = Chart("Answer instability", "risk by the model", "refits that change the answer")
    tips = [
        f"a {noun} of risk {percent(at)}: {percent(own)} of refits answer otherwise"
        for at, own in zip(risk, share, strict=True)
    ]
    chart.dots(risk, share, "model", tips, radius=3)
    return chart.svg()


def calibration_instability_chart(lines: Sequence[tuple[FloatArray, FloatArray]]) -> str:
    """Draw one calibration curve for each refit."""
    chart = Chart("Calibration instability", "risk stated", "share observed")
    chart.diagonal()
    chart.bundle(lines)
    return chart.svg()


def decision_instability_chart(at: FloatArray, benefits: FloatArray) -> str:
    """Draw one decision curve for each refit."""
    top = max(float(np.nanmax(benefits)), 0.01)
    chart = Chart("Decision instability", "risk from which on one acts", "net benefit",
                  y=(-0.25 * top, 1.15 * top), y_percent=False)  # fmt: skip
    chart.level(0.0)
    chart.bundle([(at, one) for one in benefits])
    return chart.svg()


# --------------------------------------------------------------------------------------------------
# Bars that lie: weights, what the data say of rules, answers.

ROW_HEIGHT: Final = 24
LABELS: Final = 170


def weights_chart(
    names: Sequence[str], weights: Sequence[float], classes: tuple[str, str], measure: str
) -> str:
    """Draw weights by name, those towards the positive class to the right."""
    reach = max((abs(weight) for weight in weights), default=0.0) or 1.0
    middle = (LABELS + WIDTH) / 2
    half = (WIDTH - LABELS) / 2 - 8
    height = ROW_HEIGHT * len(names) + 26
    parts = [_head("Weights of features", WIDTH, height)]
    parts.append(f'<path class="grid" d="M{middle} 4V{height - 22}"/>')
    for k, (name, weight) in enumerate(zip(names, weights, strict=True)):
        y, size = ROW_HEIGHT * k + 4, half * abs(weight) / reach
        side = int(weight > 0)
        colour = ("negative", "positive")[side]
        start = middle if side else middle - size
        tip = f"{name}: {number(weight)} {measure}, towards {classes[side]}"
        parts.append(
            f'<rect class="bar {colour}" x="{start:.1f}" y="{y}" width="{max(size, 1):.1f}" '
            f'height="{ROW_HEIGHT - 6}">{_tip(tip)}</rect>'
        )
        parts.append(_label(name, y + 13))
    foot = height - 6
    parts.append(_text(middle - 6, foot, f"towards {one_line(classes[0], 12)}", "end"))
    parts.append(_text(middle + 6, foot, f"towards {one_line(classes[1], 12)}", "start"))
    return "\n".join([*parts, "</svg>"])


@dataclass(frozen=True)
class RuleBar:
    """What the data say of a rule: of the rows it applies to the share that is right."""

    name: str
    right: int
    fired: int
    low: float
    high: float
    common: float  # the share of its outcome among all rows
    positive: bool


def rules_chart(bars: Sequence[RuleBar], noun: str) -> str:
    """Draw how often each rule is right where it applies, and how common its outcome is."""
    height = ROW_HEIGHT * len(bars) + 40
    across = Axis(0.0, 1.0, LABELS + 8, WIDTH - RIGHT - 8)
    foot = height - 34
    parts = [_head("Rules on the training rows", WIDTH, height)]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = across.at(value)
        parts.append(f'<path class="grid" d="M{x} 4V{foot}"/>')
        parts.append(_text(x, foot + 15, percent(value, 0), "middle"))
    for k, bar in enumerate(bars):
        y = ROW_HEIGHT * k + 14
        parts.append(_label(bar.name, y + 4))
        colour = "positive" if bar.positive else "negative"
        if not bar.fired:
            parts.append(_text(across.at(0.5), y + 4, f"applies to no training {noun}", "middle"))
            continue
        tip = f"{bar.name}: its outcome has {percent(bar.common)} of all {noun}s"
        x = across.at(bar.common)
        parts.append(f'<path class="mark" d="M{x} {y - 8}v16">{_tip(tip)}</path>')
        share = bar.right / bar.fired
        low, high = across.at(bar.low), across.at(bar.high)
        tip = (
            f"{bar.name}: right on {bar.right:,} of {bar.fired:,} {noun}s it applies to, "
            f"{percent(share)} ({percent(bar.low)} to {percent(bar.high)})"
        )
        parts.append(f'<path class="whisker {colour}" d="M{low} {y}H{high}">{_tip(tip)}</path>')
        parts.append(
            f'<circle class="dot {colour}" cx="{across.at(share)}" cy="{y}" r="5.5">{_tip(tip)}'
            "</circle>"
        )
    text = "right where it applies (dot, 95 % interval); share of its outcome (line)"
    parts.append(_text(WIDTH - RIGHT, height - 4, text, "end"))
    return "\n".join([*parts, "</svg>"])


def answers_chart(
    bars: Sequence[tuple[str, tuple[float, float, float]]], classes: tuple[str, str]
) -> str:
    """Draw the shares of rows that are answered with each class, or not at all."""
    height = ROW_HEIGHT * len(bars) + 30
    across = Axis(0.0, 1.0, LABELS, WIDTH - RIGHT)
    parts = [_head("Answers at the chosen coverage", WIDTH, height)]
    kinds = ((classes[0], "negative"), ("cannot say", "rest"), (classes[1], "positive"))
    for k, (name, shares) in enumerate(bars):
        y, begun = ROW_HEIGHT * k + 4, 0.0
        parts.append(_label(name, y + 13))
        for share, (answer, colour) in zip(shares, kinds, strict=True):
            a, b = across.at(begun), across.at(begun + share)
            tip = f"{name}: {answer} for {percent(share)}"
            parts.append(
                f'<rect class="bar {colour}" x="{a}" y="{y}" width="{max(b - a, 0):.1f}" '
                f'height="{ROW_HEIGHT - 6}">{_tip(tip)}</rect>'
            )
            begun += share
    place = LABELS
    for answer, colour in kinds:
        parts.append(
            f'<rect class="bar {colour}" x="{place}" y="{height - 20}" width="12" height="12"/>'
        )
        shown = one_line(answer, 12)
        parts.append(_text(place + 17, height - 10, shown, "start"))
        place += 34 + 7 * len(shown)
    return "\n".join([*parts, "</svg>"])


def _label(name: str, y: float) -> str:
    shown = one_line(name, 20)
    whole = _tip(name) if shown != name else ""
    return f'<text x="{LABELS - 6}" y="{y}" text-anchor="end">{escape(shown)}{whole}</text>'
