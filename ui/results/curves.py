"""Pictures of a model's answers: ROC, calibration, decision curve, risks by class; one cut-off."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import plotly.graph_objects as go

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.curves import (
    Bins,
    Curve,
    DecisionCurve,
    RiskDistribution,
    calibration_bins,
    calibration_curve,
    decision_curve,
    risk_distribution,
    roc_curve,
)
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.exceptions import DataError
from hipad.utils import number, one_line, percent
from ui import charts

HEIGHT = 330
MANY = 1_000  # points from which on they are drawn by WebGL
FEWEST_BINS, MOST_BINS, ROWS_A_BIN = 4, 10, 15


class Curves:
    """The curves of an assessment: computed once, and drawn for any cut-off."""

    def __init__(self, found: Assessment) -> None:
        self.found = found
        self.noun = found.noun
        self.own = "model" if found.without is None else "with rules"
        bins = int(np.clip(len(found.rows) // ROWS_A_BIN, FEWEST_BINS, MOST_BINS))
        self.roc: Curve = roc_curve(found.rows)
        self.roc_without = None if found.without is None else roc_curve(found.without)
        self.calibration: Curve | None = _calibration(found.rows)
        self.bins: Bins = calibration_bins(found.rows, bins)
        self.decision: DecisionCurve = decision_curve(found.rows)
        self.decision_without = None if found.without is None else decision_curve(found.without)
        self.risks: RiskDistribution = risk_distribution(found.rows)

    @cached_property
    def shown(self) -> dict[str, ScoredRows]:
        """The rows as each model judges them."""
        others = {} if self.found.without is None else {"without rules": self.found.without}
        return {self.own: self.found.rows, **others}

    @cached_property
    def fixed(self) -> dict[str, dict[str, Estimate]]:
        """The figures that no cut-off moves, computed once."""
        return {
            title: {name: rows.measure(name) for name in METRICS if not needs_cutoff(name)}
            for title, rows in self.shown.items()
        }

    def figures_at(self, cutoff: float | None) -> dict[str, dict[str, Estimate]]:
        """Every figure of each model, the answers given from a risk on."""
        return {
            title: {
                name: rows.at(cutoff).measure(name) if needs_cutoff(name) else fixed[name]
                for name in METRICS
            }
            for (title, rows), fixed in zip(self.shown.items(), self.fixed.values(), strict=True)
        }

    def roc_chart(self, cutoff: float | None) -> tuple[go.Figure, str]:
        """Draw sensitivity against false positives, and where the cut-off lies."""
        chart = charts.figure("ROC curve", x="1 - specificity", y="sensitivity", height=HEIGHT)
        _band(chart, self.roc.at, self.roc.low, self.roc.high)
        if self.roc_without is not None:
            _line(chart, self.roc_without.x, self.roc_without.y, "without rules", charts.colour(-1))
        _line(chart, self.roc.x, self.roc.y, self.own, charts.current_colour())
        _diagonal(chart)
        rows = self.found.rows.at(cutoff)
        sensitivity, specificity = rows.measure("sensitivity"), rows.measure("specificity")
        chart.add_scatter(
            x=[1 - specificity.value],
            y=[sensitivity.value],
            mode="markers",
            marker={"size": 13, "color": charts.current_colour(), "line": {"width": 2}},
            name="this cut-off",
        )
        _unit_axes(chart)
        area = self.fixed[self.own]["roc_auc"]
        return chart, (
            f"A positive {self.noun} scores above a negative one in {percent(area.value)} of "
            f"pairs ({percent(area.low)} to {percent(area.high)}). At this cut-off "
            f"{percent(sensitivity.value)} of the positive {self.noun}s are found (sensitivity) "
            f"and {percent(specificity.value)} of the negative ones recognised (specificity). "
            "Shaded: 95 % band."
        )

    def calibration_chart(self) -> tuple[go.Figure, str]:
        """Draw observed shares against stated risks."""
        chart = charts.figure("Calibration", x="risk stated", y="share observed", height=HEIGHT)
        if self.calibration is not None:
            curve = self.calibration
            _band(chart, curve.at, curve.low, curve.high)
            _line(chart, curve.x, curve.y, "smooth", charts.current_colour())
        bins = self.bins
        chart.add_scatter(
            x=bins.risk,
            y=bins.share,
            mode="markers",
            name=f"groups of {self.noun}s",
            marker={"color": charts.current_colour(), "size": 8},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": bins.high - bins.share,
                "arrayminus": bins.share - bins.low,
                "thickness": 1,
            },
            customdata=bins.count,
            hovertemplate="stated %{x:.0%}, observed %{y:.0%}, "
            f"%{{customdata}} {self.noun}s<extra></extra>",
        )
        _diagonal(chart)
        _unit_axes(chart)
        fixed = self.fixed[self.own]
        slope, ratio = fixed["calibration_slope"], fixed["observed_expected"]
        return chart, (
            f"On the diagonal, the stated risks are what happens. {slope_words(slope)} For every "
            f"100 positive {self.noun}s expected there were {_whole(100 * ratio.value)} "
            f"({_whole(100 * ratio.low)} to {_whole(100 * ratio.high)})."
        )

    def decision_chart(self, cutoff: float | None) -> tuple[go.Figure, str]:
        """Draw the net benefit at each risk from which on one would act."""
        chart = charts.figure(
            "Decision curve", x="risk from which you would act", y="net benefit", height=HEIGHT
        )
        curve = self.decision
        _band(chart, curve.thresholds, curve.low, curve.high)
        _line(chart, curve.thresholds, curve.treat_all, "act on all", charts.colour(-1), dash="dot")
        chart.add_hline(y=0.0, line={"color": charts.colour(-1), "width": 2, "dash": "dash"})
        if (other := self.decision_without) is not None:
            _line(chart, other.thresholds, other.model, "without rules", charts.colour(-1))
        _line(chart, curve.thresholds, curve.model, self.own, charts.current_colour())
        if cutoff is not None:
            chart.add_vline(x=cutoff, line={"color": charts.current_colour(), "width": 2})
        top = max(float(np.nanmax(curve.model)), float(curve.treat_all[0]), 0.01)
        chart.update_xaxes(range=[0, 1], tickformat=".0%")
        chart.update_yaxes(range=[-0.25 * top, 1.15 * top])
        useful = curve.useful_range
        if useful is None:
            return chart, "At no risk is the model better than acting on everybody or on nobody."
        return chart, (
            f"Net benefit: positive {self.noun}s found, less the harm of false alarms. On these "
            f"{self.noun}s using the model is better than acting on everybody or on nobody (the "
            f"line at 0) for whoever acts from a risk between {percent(useful[0], 0)} and "
            f"{percent(useful[1], 0)}."
        )

    def risk_chart(self, cutoff: float | None, classes: tuple[str, str]) -> tuple[go.Figure, str]:
        """Draw how many rows of each class have which risk."""
        found = self.risks
        chart = charts.figure("Risks by class", x="risk stated", y=f"{self.noun}s", height=HEIGHT)
        middle = (found.edges[1:] + found.edges[:-1]) / 2
        parts = (found.negative, found.positive)
        for which, (values, name) in enumerate(zip(parts, classes, strict=True)):
            chart.add_bar(
                x=middle,
                y=values,
                name=f"actual {charts.label(name)}",
                marker_color=charts.class_colour(which),
                opacity=0.75,
            )
        chart.update_layout(barmode="overlay", bargap=0.05)
        chart.update_xaxes(range=[0, 1], tickformat=".0%")
        if cutoff is not None:
            chart.add_vline(x=cutoff, line={"color": charts.current_colour(), "width": 2})
        risks = self.found.rows.risks
        assert risks is not None
        positive = self.found.rows.positive
        means = [float(risks[positive == side].mean()) for side in (True, False)]
        return chart, (
            f"The mean risk is {percent(means[0])} among {self.noun}s of the positive class and "
            f"{percent(means[1])} among the others."
        )


def patients_chart(found: Assessment, classes: tuple[str, str]) -> tuple[go.Figure, str]:
    """Draw a dot for each row at its risk, one line per class; `customdata` is the row."""
    risks, positive = found.rows.risks, found.rows.positive
    assert risks is not None
    chart = charts.figure(f"Every {found.noun}", x="risk stated", y="", height=220)
    jitter = np.random.default_rng(0).uniform(-0.32, 0.32, len(risks))
    kind = go.Scattergl if len(risks) > MANY else go.Scatter
    names = np.array([one_line(name, 40) for name in found.names], dtype=object)
    for which in (1, 0):
        rows = np.flatnonzero(positive == bool(which))
        chart.add_trace(
            kind(
                x=risks[rows],
                y=which + jitter[rows],
                mode="markers",
                marker={"color": charts.class_colour(which), "size": 7, "opacity": 0.75},
                customdata=rows,
                text=names[rows],
                hovertemplate="%{text}: risk %{x:.0%}<extra></extra>",
                showlegend=False,
            )
        )
    chart.update_xaxes(range=[-0.01, 1.01], tickformat=".0%")
    ticks = [f"actual {charts.label(name)}" for name in classes]
    chart.update_yaxes(
        tickvals=[0, 1], ticktext=ticks, range=[-0.5, 1.5], showgrid=False, zeroline=False
    )
    chart.update_layout(margin_t=34)
    return chart, f"One dot for each {found.noun}. Click a dot to see why it gets its answer."


def slope_words(slope: Estimate) -> str:
    """Say whether risks are too extreme or too cautious.

    >>> slope_words(Estimate(0.6, 0.4, 0.8))
    'Calibration slope 0.6 (0.4 to 0.8): the risks are too extreme.'
    >>> slope_words(Estimate(math.inf, 2.6, math.inf))
    'The risks are too cautious: the scores separate the classes completely.'
    """
    if math.isinf(slope.value):
        return "The risks are too cautious: the scores separate the classes completely."
    verdict = "the risks are neither clearly too extreme nor too cautious"
    if slope.high < 1:
        verdict = "the risks are too extreme"
    elif slope.low > 1:
        verdict = "the risks are too cautious"
    interval = f"({number(slope.low, 3)} to {number(slope.high, 3)})"
    return f"Calibration slope {number(slope.value, 3)} {interval}: {verdict}."


def _whole(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "–"


def needs_cutoff(name: str) -> bool:
    """Whether a metric judges answers, which depend on the cut-off."""
    return METRICS[name].needs == "cut-off"


def _calibration(rows: ScoredRows) -> Curve | None:
    """Return the smooth curve, None where so few rows, or so few risks, allow none."""
    try:
        return calibration_curve(rows)
    except (DataError, np.linalg.LinAlgError):
        return None


def _line(
    chart: go.Figure, x: np.ndarray, y: np.ndarray, name: str, colour: str, dash: str = "solid"
) -> None:
    chart.add_scatter(
        x=x, y=y, mode="lines", name=name, line={"color": colour, "width": 2, "dash": dash}
    )


def _band(chart: go.Figure, at: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Shade the 95 % band; it has no place in the legend, which would cover the title."""
    chart.add_scatter(x=at, y=high, mode="lines", line={"width": 0}, showlegend=False,
                      hoverinfo="skip")  # fmt: skip
    chart.add_scatter(
        x=at, y=low, mode="lines", line={"width": 0}, fill="tonexty", showlegend=False,
        fillcolor="rgba(128,128,128,0.25)", hoverinfo="skip",
    )  # fmt: skip


def _diagonal(chart: go.Figure) -> None:
    chart.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", showlegend=False, hoverinfo="skip",
        line={"color": charts.colour(-1), "dash": "dot", "width": 1},
    )  # fmt: skip


def _unit_axes(chart: go.Figure) -> None:
    chart.update_xaxes(range=[-0.01, 1.01], tickformat=".0%")
    chart.update_yaxes(range=[-0.01, 1.02], tickformat=".0%")
