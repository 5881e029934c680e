"""How the number of features was chosen: right answers on held-out patients, by how few features.

One line for each way of sharing weights between features that go together (lambda2); the model with
the least error and the one taken are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from hipad.estimator.path import PathPoint
from hipad.evaluation.metrics import few_features_sentence
from hipad.utils import count, number, percent
from ui import charts

RIDGE: Final = ("low", "medium", "high")
LINES: Final = (3, 4, 5)  # colours of the palette: of no class
WIDE: Final = 20  # times more features: then steps that are alike look alike
BEST, TAKEN = "least error", "this model"


def chart(path: Sequence[PathPoint], *, expert: bool = False) -> tuple[go.Figure, str]:
    """The picture and what it says; points without a feature are left out."""
    tried = [point for point in path if point.support_size > 0]
    figure = charts.figure(
        "How few features? Right answers on held-out patients",
        x="number of features",
        y="right, mean of both classes",
        height=300,
    )
    ridges = sorted({point.lambda2 for point in tried})
    for at, lambda2 in enumerate(ridges):
        own = [point for point in tried if point.lambda2 == lambda2]
        _add_line(figure, own, _name(at, ridges, expert=expert), charts.colour(LINES[at % 3]))
    for name, symbol in ((BEST, "circle-open"), (TAKEN, "diamond")):
        _add_mark(figure, [point for point in tried if _marked(point, name)], name, symbol)
    _set_axes(figure, [point.support_size for point in tried])
    return figure, _summary(tried)


def _add_line(figure: go.Figure, points: list[PathPoint], name: str, colour: str) -> None:
    points = sorted(points, key=lambda point: point.support_size)
    figure.add_scatter(
        x=[point.support_size for point in points],
        y=[point.accuracy for point in points],
        customdata=[point.loss for point in points],
        hovertemplate="%{x:,} features<br>%{y:.0%} right<br>error %{customdata:.3f}",
        mode="lines+markers",
        line_color=colour,
        name=name,
    )


def _add_mark(figure: go.Figure, points: list[PathPoint], name: str, symbol: str) -> None:
    figure.add_scatter(
        x=[point.support_size for point in points],
        y=[point.accuracy for point in points],
        mode="markers",
        marker={"symbol": symbol, "size": 15, "color": charts.colour(2), "line_width": 2},
        hoverinfo="skip",
        name=name,
    )


def _set_axes(figure: go.Figure, sizes: list[int]) -> None:
    figure.update_yaxes(tickformat=".0%")
    if max(sizes) > WIDE * min(sizes):
        figure.update_xaxes(type="log", dtick=1)
    elif max(sizes) - min(sizes) < 10:
        figure.update_xaxes(dtick=1)  # there are no halves of a feature


def _marked(point: PathPoint, name: str) -> bool:
    return point.best if name == BEST else point.chosen


def _name(at: int, ridges: list[float], *, expert: bool) -> str:
    if expert or len(ridges) != len(RIDGE):
        return f"lambda2 = {number(ridges[at], 3)}"
    return f"ridge: {RIDGE[at]}"


def _summary(tried: list[PathPoint]) -> str:
    best = next((point for point in tried if point.best), tried[0])
    taken = next((point for point in tried if point.chosen), best)
    text = (
        f"{count(len(tried), 'model')} compared by cross-validation; the least error (log loss, "
        f"which counts how sure answers were) was at {count(best.support_size, 'feature')} "
        f"({percent(best.accuracy)} of held-out patients right, both classes counting equally)."
    )
    if taken.sparsest and not taken.best:
        return f"{text} {few_features_sentence(tried)}"
    if taken is best:
        return f"{text} The model is that one."
    return (
        f"{text} The model has {taken.support_size:,} ({percent(taken.accuracy)}): where many do "
        "about equally well, the best one is a matter of chance, so one in the middle of them is "
        "taken, or a sparser one that is as good."
    )
