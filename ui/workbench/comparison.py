"""Two models side by side: figures, weights, features, patients and rules, and how they are shown.

A comparison is made once for each pair: the reference model first, then the other. Figures on test
patients look too good to whoever tunes by them, so the page says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.evaluation.comparison import (
    FeatureChanges,
    Flips,
    block_totals,
    feature_changes,
    flips,
    largest_changes,
)
from hipad.evaluation.intervals import Estimate
from hipad.rules import CompiledRule, RuleRecord
from hipad.utils import count, number, one_line, percent, signed
from ui import charts
from ui.dataset import NO_BLOCK, Dataset
from ui.models import TrainedModel, comparable_weights
from ui.rules.checks import study_rows
from ui.text import listing, plain, worst_case
from ui.workbench.sliders import round_step

MOST_BLOCKS: Final = 12
MOST_FEATURES: Final = 30
MOST_PATIENTS: Final = 200
DECIMALS: Final = 3  # of weights and decision values in tables
CLEAR: Final = 0.05  # p value below which a change is called clear


@dataclass(frozen=True, eq=False)
class Side:
    """A model and its scores on the patients it is judged by and on those it learnt from."""

    model: TrainedModel
    data: Dataset
    judged: np.ndarray
    learnt: np.ndarray

    @classmethod
    def of(cls, model: TrainedModel, data: Dataset) -> Side:
        """Score the patients, once."""
        learnt, judged = model.scores(data.X_train), data.judged
        alike = judged.part == "training"
        return cls(model, data, learnt if alike else model.scores(judged.X), learnt)

    @cached_property
    def weights(self) -> np.ndarray:
        """Per standard deviation where the features were scaled, else in the user's units."""
        return comparable_weights(self.model, self.data)

    @property
    def area(self) -> Estimate:
        return self.model.judgement.area

    def records(self, rules: list[CompiledRule]) -> list[RuleRecord]:
        """Report these rules for the model, whether or not it was fitted with them."""
        seen = study_rows(self.data, self.model.settings)
        return seen.report(rules, self.model.weights, self.model.intercept)


def truth(data: Dataset) -> np.ndarray:
    """Return which of the patients that models are judged by are positive."""
    return np.asarray(data.judged.y == data.classes[1])


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed from the reference model to the other."""

    old: Side
    new: Side

    @property
    def data(self) -> Dataset:
        return self.new.data

    @property
    def sides(self) -> tuple[Side, Side]:
        """The reference model first."""
        return self.old, self.new

    @cached_property
    def features(self) -> FeatureChanges:
        return feature_changes(self.old.model.weights, self.new.model.weights)

    @cached_property
    def flips(self) -> Flips:
        """Changed answers of the patients that models are judged by."""
        groups = self.data.judged.groups
        return flips(self.old.judged, self.new.judged, truth(self.data), groups)

    @cached_property
    def learnt_flips(self) -> Flips:
        """Changed answers of training patients; none where models are judged by these."""
        if self.data.judged.part == "training":
            return flips(self.old.learnt[:0], self.new.learnt[:0])
        positive = self.data.y_train == self.data.classes[1]
        return flips(self.old.learnt, self.new.learnt, positive, self.data.groups_train)

    @cached_property
    def names(self) -> tuple[str, str]:
        """What to call the two, in tables and pictures."""
        return f"{self.old.model.name} (reference)", self.new.model.name

    @property
    def columns(self) -> tuple[str, str]:
        """Columns of tables for the two, which no name of a model can make another's."""
        return f"by {self.names[0]}", f"by {self.names[1]}"

    @property
    def risk_columns(self) -> tuple[str, str]:
        """Columns of tables for the risks that the two give."""
        return f"risk by {self.names[0]}", f"risk by {self.names[1]}"

    @cached_property
    def blocks(self) -> pd.DataFrame:
        """Sums of weights by block, old and new.

        The order is that of the blocks, and which are shown depends on the reference model first,
        so that rows stay where they are while a slider moves.
        """
        sums = [block_totals(side.weights, self.data.blocks, NO_BLOCK) for side in self.sides]
        table = pd.DataFrame(sums, index=["old", "new"]).T
        table = table[(table != 0).any(axis=1)]
        size = table.abs().to_numpy()
        shown = np.lexsort((-size[:, 1], -size[:, 0]))[:MOST_BLOCKS]
        return table.iloc[np.sort(shown)]

    @cached_property
    def largest(self) -> pd.DataFrame:
        """The features whose weight changed most."""
        before, after = self.old.weights, self.new.weights
        columns = largest_changes(before, after, MOST_FEATURES)
        old, new = before[columns], after[columns]
        kinds = [old == 0, new == 0, old * new < 0]
        return pd.DataFrame(
            {
                "feature": [self.data.index.name(int(j)) for j in columns],
                "block": self.data.block_of(columns),
                "change": np.select(kinds, ["gained", "lost", "changed sign"], "changed"),
                self.columns[0]: rounded(old),
                self.columns[1]: rounded(new),
            }
        )

    @cached_property
    def patients(self) -> pd.DataFrame:
        """The patients whose answer changed, those judged by first."""
        has_test = self.data.judged.part == "test"
        parts = [self._part(self.flips, self.old.judged, self.new.judged, int(has_test))]
        parts += [self._part(self.learnt_flips, self.old.learnt, self.new.learnt, 0)]
        return pd.concat(parts, ignore_index=True).head(MOST_PATIENTS)

    def _part(self, found: Flips, old: np.ndarray, new: np.ndarray, which: int) -> pd.DataFrame:
        rows = found.rows
        y = self.data.y_test if which else self.data.y_train
        assert y is not None
        risks = self.old.model.risks(old[rows]), self.new.model.risks(new[rows])
        named = zip(self.risk_columns, risks, strict=True)
        return pd.DataFrame(
            {
                "row": self.data.called(which, rows),
                "of": ["test" if which else "training"] * len(rows),
                self.columns[0]: rounded(old[rows]),
                self.columns[1]: rounded(new[rows]),
                **{name: values for name, values in named if values is not None},
                "actual": y[rows],
                "change": np.where(np.isin(rows, found.better), "became right", "became wrong"),
            }
        )


def rounded(values: np.ndarray) -> np.ndarray:
    """Return values as tables show them: what rounds to zero has no minus.

    >>> rounded(np.array([-0.0001, 1.23456])).tolist()
    [0.0, 1.235]
    """
    return np.asarray(np.round(values, DECIMALS) + 0.0)


# --------------------------------------------------------------------------------------------------
# Figures: each with its change against the reference model and its interval.


class Figure(NamedTuple):
    """A number, how it differs from the reference model's, and what stands under it."""

    label: str
    value: str
    change: float
    change_text: str | None  # None where nothing is left of the change after rounding
    below: str
    help: str
    colour: Literal["normal", "off"] = "normal"


def headline(found: Comparison) -> list[Figure]:
    """Return right answers and area, of test rows alone; features and changed answers."""
    old, new = (side.model.judgement.accuracy for side in found.sides)
    gain = 100 * (new.value - old.value)
    before, after = (side.area for side in found.sides)
    wider = after.value - before.value
    n_old, n_new = (len(side.model.support) for side in found.sides)
    flipped, row = found.flips, found.data.row_word(1)
    figures = [
        Figure(
            "Right answers",
            percent(new.value),
            gain,
            change_words(gain, 1, " points"),
            " to ".join(map(percent, new.interval)),
            f"Accuracy: the share of {row}s put in their own class. Below: the change against "
            "the reference model, and Wilson's 95 % interval.",
        ),
        Figure(
            "Area under ROC",
            area_words(after.value),
            wider,
            change_words(wider, 3),
            "not known" if math.isnan(after.value) else f"{after.low:.3f} to {after.high:.3f}",
            f"The chance that a positive {row} scores above a negative one; its 95 % interval.",
        ),
        Figure(
            "Features used",
            f"{n_new:,}",
            n_new - n_old,
            change_words(n_new - n_old, 0),
            f"{found.features.kept:,} as before",
            "Features that have a weight.",
            "off",
        ),
        Figure(
            "Changed answers",
            f"{len(flipped.rows):,}",
            0.0,
            None,
            f"{len(flipped.better):,} became right, {len(flipped.worse):,} became wrong",
            "Answers that differ from the reference model's.",
        ),
    ]
    return figures if found.data.judged.part == "test" else figures[2:]


def change_words(change: float, digits: int, unit: str = "") -> str | None:
    """Return a change with its sign, or None where it rounds to zero or is not known.

    >>> change_words(-0.0004, 3), change_words(-0.0006, 3)
    (None, '-0.001')
    """
    if math.isnan(change) or not round(change, digits):
        return None
    return signed(change, digits) + unit


def show_figures(found: Comparison, *, expert: bool = False) -> None:
    """Draw the headline figures and whether they differ by more than chance."""
    for column, figure in zip(st.columns(4), headline(found), strict=False):
        column.metric(
            figure.label,
            figure.value,
            figure.change_text,
            delta_color=figure.colour,
            help=figure.help,
        )
        column.caption(figure.below)
    st.caption(verdict(found, expert=expert))


def area_words(value: float) -> str:
    """Return an area under the curve in words; patients of one class have none."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def verdict(found: Comparison, *, expert: bool = False) -> str:
    """Say whether the change is more than chance."""
    judged, flipped = found.new.model.judgement, found.flips
    right = judged.accuracy
    part = "test" if judged.part == "test" else "training"
    one = found.data.row_word(1)
    whom = f"{right.n:,} {part} {one}s"
    if right.patients is not None:
        whom = f"{right.n:,} {part} rows of {count(right.patients, one)}"
    if not len(flipped.rows):
        return f"No answer changed (of {whom})."
    clear = flipped.p_value < CLEAR
    words = "more than chance explains" if clear else "within what chance explains"
    test = f" (McNemar's exact test: p = {flipped.p_value:.2g})" if expert else ""
    better, worse = len(flipped.better), len(flipped.worse)
    return f"Of {whom}, {better:,} became right and {worse:,} wrong: {words}{test}."


# --------------------------------------------------------------------------------------------------
# Weights, features, patients and rules.


def weight_chart(found: Comparison) -> tuple[go.Figure, str]:
    """Return a picture of the sums of weights by block, of both models, and its words."""
    table = found.blocks
    standardized = found.new.model.settings.standardize
    chart = charts.figure(
        "Weights by block",
        x=f"sum of weights ({'per standard deviation' if standardized else 'in your units'}); "
        f'bars to the right favour "{charts.label(found.data.classes[1], 40)}"',
        y="",
        height=150 + 38 * len(table),
    )
    for column, name, colour in zip(
        ("old", "new"), found.names, (charts.rest_colour(), charts.current_colour()), strict=True
    ):
        chart.add_bar(
            x=table[column],
            y=list(range(len(table))),
            orientation="h",
            name=charts.label(name, 30),
            marker_color=colour,
        )
    chart.update_layout(barmode="group")
    charts.name_rows(chart, list(table.index))
    chart.update_xaxes(range=steady_range(table.to_numpy()))
    words = [
        f"{plain(name)} {number(row.old, 3)} → {number(row.new, 3)}"
        for name, row in zip(table.index[:6], table.head(6).itertuples(), strict=True)
    ]
    old, new = map(plain, found.names)
    return chart, f"{old} → {new}: {', '.join(words)}." if words else "No feature has a weight."


def steady_range(values: np.ndarray) -> list[float]:
    """Return ends of an axis that stay the same while the values move a little.

    >>> steady_range(np.array([0.93, 0.2])), steady_range(np.array([-0.3, 1.7]))
    ([0.0, 1.0], [-0.5, 2.0])
    """
    low, high = float(min(values.min(initial=0), 0)), float(max(values.max(initial=0), 0))
    step = round_step(max(high, -low) * 1.05) / 2 or 1.0
    return [-math.ceil(-low * 1.05 / step) * step + 0.0, math.ceil(high * 1.05 / step) * step]


def show_features(found: Comparison) -> None:
    """List features gained and lost, and the largest changes."""
    changes, name = found.features, found.data.index.name
    st.markdown("**Features**")
    parts = [
        f"{len(columns):,} {word}: {listing([name(int(j)) for j in columns])}"
        for word, columns in (
            ("gained", changes.gained),
            ("lost", changes.lost),
            ("with the opposite sign", changes.turned),
        )
        if len(columns)
    ]
    st.markdown("\n".join(f"- {part}" for part in parts) or "The same features as before.")
    if len(found.largest):
        with st.expander(f"The {len(found.largest)} largest changes of weight"):
            st.dataframe(
                found.largest,
                hide_index=True,
                key="bench_features",
                alt="Largest changes of weight",
                height=260,
                column_config=_formats(found.columns, "%.3f"),
            )


def show_patients(found: Comparison) -> None:
    """List the patients whose answer changed, one per row."""
    st.markdown("**Changed answers**")
    table = found.patients
    if table.empty:
        st.caption("All answers are those of the reference model.")
        return
    st.dataframe(
        table,
        hide_index=True,
        key="bench_patients",
        alt="Changed answers",
        height=min(38 + 35 * len(table), 280),
        column_config=_formats(found.columns, "%.3f") | _formats(found.risk_columns, "percent"),
    )
    total = len(found.flips.rows) + len(found.learnt_flips.rows)
    shown = f"The first {MOST_PATIENTS} of {total:,}. " if total > len(table) else ""
    risks = ", the risk of that class" if set(found.risk_columns) & set(table) else ""
    st.caption(
        f"{shown}Row of the file, decision values (above 0 means "
        f"{plain(found.data.classes[1])}){risks}, actual class."
    )


def _formats(names: tuple[str, str], form: Any) -> dict[str, Any]:
    return {name: st.column_config.NumberColumn(format=form) for name in names}


def show_margins(found: Comparison, rules: list[CompiledRule]) -> None:
    """Show how far both models agree with the rules as the sliders have them."""
    st.markdown("**Rules**")
    if not rules:
        st.caption("No rule is on.")
        return
    old, new = (side.records(rules) for side in found.sides)
    other = one_line(found.new.model.name, 20)
    names = "reference", "the other" if other == "reference" else other
    rows = []
    for pair in zip(old, new, strict=True):
        row = {"rule": pair[1].label}
        for name, record in zip(names, pair, strict=True):
            typical = record.prototype.margin if record.prototype else None
            row[f"typical margin: {name}"] = _margin(typical)
        for name, record in zip(names, pair, strict=True):
            row[f"least margin: {name}"] = _margin(record.worst.value if record.worst else None)
        rows.append(row)
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="bench_margins", alt="Rule margins")
    word = found.data.row_word(1)
    lines = (f"- {plain(r.label)}: {plain(worst_case(r, word), 300)}" for r in new[:8])
    st.markdown("\n".join(lines))
    st.caption(
        "Both models are compared with the rules as the sliders have them. Typical margin: at the "
        f"most ordinary {word} the rule applies to. Least margin: at the least favourable {word} "
        "within the range of the data. Above 0 the model agrees with the rule."
    )


def _margin(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else signed(value)
