"""What changed against the pinned model: figures, weights, features, patients, rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.rules import CompiledRule, RuleRecord
from hipad.utils import number, signed
from ui import charts
from ui.bench.dials import round_step
from ui.bench.headline import headline, verdict
from ui.bench.sides import MOST_PATIENTS, Comparison
from ui.text import listing, one_line, plain, worst_case


def figures(found: Comparison, *, expert: bool = False) -> None:
    """The headline numbers, each with its change and its interval."""
    for column, figure in zip(st.columns(4), headline(found), strict=True):
        column.metric(
            figure.label,
            figure.value,
            figure.change_text if abs(figure.change) > 1e-9 else None,
            delta_color=figure.colour,
            help=figure.help,
        )
        column.caption(figure.below)
    st.caption(verdict(found, expert=expert))


def weights(found: Comparison) -> tuple[go.Figure, str]:
    """Sums of weights by block, of both models."""
    table = found.blocks
    positive = found.data.classes[1]
    unit = "per standard deviation" if found.new.model.settings.standardize else "in your units"
    chart = charts.figure(
        "Weights by block",
        x=f"sum of weights ({unit}); right: speaks for {charts.label(positive, 40)}",
        y="",
        height=150 + 38 * len(table),
    )
    names = list(table.index)
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
    charts.name_rows(chart, names)
    chart.update_xaxes(range=steady_range(table.to_numpy()))
    told = [
        f"{plain(name)} {number(row.old, 3)} → {number(row.new, 3)}"
        for name, row in zip(table.index[:6], table.head(6).itertuples(), strict=True)
    ]
    old, new = map(plain, found.names)
    return chart, f"{old} → {new}: {', '.join(told)}." if told else "No feature has a weight."


def steady_range(values: np.ndarray) -> list[float]:
    """Ends of an axis that stay the same while the values move a little.

    >>> steady_range(np.array([0.93, 0.2])), steady_range(np.array([-0.3, 1.7]))
    ([0.0, 1.0], [-0.5, 2.0])
    """
    low, high = float(min(values.min(initial=0), 0)), float(max(values.max(initial=0), 0))
    step = round_step(max(high, -low) * 1.05) / 2 or 1.0
    return [-math.ceil(-low * 1.05 / step) * step + 0.0, math.ceil(high * 1.05 / step) * step]


def features(found: Comparison) -> None:
    """Features gained and lost, and the largest changes."""
    changes, name = found.features, found.data.index.name
    st.markdown("**Features**")
    parts = [
        f"{len(columns):,} {word}: {listing([name(int(j)) for j in columns])}"
        for word, columns in (
            ("gained", changes.gained),
            ("lost", changes.lost),
            ("with the other sign", changes.turned),
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
                column_config=_numbers(*found.columns),
            )


def patients(found: Comparison) -> None:
    """The patients whose answer changed, one per row."""
    st.markdown("**Patients that flip**")
    table = found.patients
    if table.empty:
        st.caption("None: every patient keeps the answer of the pinned model.")
        return
    st.dataframe(
        table,
        hide_index=True,
        key="bench_patients",
        alt="Patients that flip",
        height=min(38 + 35 * len(table), 280),
        column_config=_numbers(*found.columns) | _shares(*found.risk_columns),
    )
    total = len(found.flips.rows) + len(found.learnt_flips.rows)
    shown = f"The first {MOST_PATIENTS} of {total:,}. " if total > len(table) else ""
    risks = ", the risk of that class" if set(found.risk_columns) & set(table) else ""
    st.caption(
        f"{shown}Row of the file, decision values (above 0 means "
        f"{plain(found.data.classes[1])}){risks}, true class."
    )


def _shares(*names: str) -> dict[str, Any]:
    return {name: st.column_config.NumberColumn(format="percent") for name in names}


def _numbers(*names: str) -> dict[str, Any]:
    return {name: st.column_config.NumberColumn(format="%.3f") for name in names}


def margins(found: Comparison, rules: list[CompiledRule]) -> None:
    """How far both models follow the rules as the sliders have them."""
    st.markdown("**Rules**")
    if not rules:
        st.caption("No rule is on.")
        return
    old, new = (side.records(rules) for side in found.sides)
    pairs = list(zip(old, new, strict=True))
    st.dataframe(
        pd.DataFrame([_margin_row(found.new.model.name, *pair) for pair in pairs]),
        hide_index=True,
        key="bench_margins",
        alt="Rule margins",
    )
    st.markdown("\n".join(f"- {plain(r.label)}: {plain(worst_case(r), 300)}" for r in new[:8]))
    st.caption(
        "Both models are held against the rules as the sliders have them. Typical patient: the "
        "least unusual one the rule speaks of; worst case: the least favourable one within the "
        "range of the data. Above 0 the model agrees with the rule."
    )


def _margin_row(new_name: str, old: RuleRecord, new: RuleRecord) -> dict[str, str]:
    called = one_line(new_name, 20)
    sides = (("pinned", old), ("the other" if called == "pinned" else called, new))
    typical = {
        f"typical: {name}": _margin(record.prototype.margin if record.prototype else None)
        for name, record in sides
    }
    worst = {
        f"worst case: {name}": _margin(record.worst.value if record.worst else None)
        for name, record in sides
    }
    return {"rule": new.label, **typical, **worst}


def _margin(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else signed(value)
