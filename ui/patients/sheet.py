"""One patient: what each feature adds, rules, distance, smallest change, what-if, like patients."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.evaluation.new_rows import (
    NO_BLOCK,
    RowExplanation,
    SmallestChange,
    explain_row,
    nearest_rows,
    outside_range,
    smallest_change,
)
from hipad.utils import count, listed, number, percent, signed
from ui import charts
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.patients.patient_list import PatientList
from ui.state import AppState
from ui.text import plain

MOST_BARS: Final = 15  # features of their own in the chart; the others are one bar
MOST_SLIDERS: Final = 5
NEAREST: Final = 5
ALL: Final = "all features"
STEPS: Final = 100  # of a slider, over the range of the training values


def show(state: AppState, model: TrainedModel, patients: PatientList, row: int) -> None:
    """Draw the sheet of one patient."""
    data, found = patients.data, patients.found
    x = patients.X[[row]]
    explanation = explain_row(
        model.classifier, x, data.X_train, blocks=data.blocks, sign=model.oriented.sign,
        boundary=model.oriented.boundary,
    )  # fmt: skip
    has_id = bool(data.ids[int(found.source == "test")])
    st.subheader(
        f"{found.noun.capitalize() if has_id else 'Row'} {plain(found.names[row])}", anchor=False
    )
    st.markdown(headline(model, patients, row, explanation))
    left, right = st.columns(2)
    chart, text = contributions_chart(explanation, data, found.noun)
    charts.show(chart, key="sheet_features", text=text, where=left)
    if data.blocks:
        chart, text = blocks_chart(explanation, data)
        charts.show(chart, key="sheet_blocks", text=text, where=right)
    with right:
        _rules(patients, row)
    with left, st.expander("Values and weights"):
        st.dataframe(contribution_table(explanation, data), hide_index=True, alt="Contributions")
    unusual = outside_range(model.classifier, x, data.X_train)
    if unusual:
        names = [data.index.name(one.column) for one in unusual]
        st.warning(f"Beyond all training values: {listed(names, spell=plain)}.")
    st.fragment(lambda: _change(model, data, x))()
    st.fragment(lambda: _what_if(model, data, explanation, row))()
    called = "ID" if data.ids[0] else "row"
    near = nearest_rows(model.classifier, x, data.X_train, NEAREST + 1)
    own = row if found.source == "cross-validated" else -1
    st.markdown(f"**The most similar training {found.noun}s**, as the model sees them")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    called: str(data.called(0)[one.row]),
                    "actual": str(data.y_train[one.row]),
                    "difference (in units of the score)": number(one.distance, 3),
                }
                for one in near
                if one.row != own
            ][:NEAREST]
        ),
        hide_index=True,
        alt="Most similar",
    )


def headline(
    model: TrainedModel, patients: PatientList, row: int, explanation: RowExplanation
) -> str:
    """Say what the answer is, how sure, and how far from the other one."""
    data, found = patients.data, patients.found
    answer = plain(data.classes[int(found.rows.predicted[row])])
    actual = plain(data.classes[int(found.rows.positive[row])])
    positive = plain(data.classes[1])
    words = (
        f"Answer **{answer}**, actual {actual}; risk of {positive} "
        f"**{percent(float(patients.risks[row]))}**."
    )
    if found.source == "cross-validated":
        risk = float(model.oriented.risks(np.array([explanation.score]))[0])
        words += (
            f" This answer is by a model that has not seen this {found.noun}. What follows is the "
            f"final model, which has: its score is {signed(explanation.score)}, a risk of "
            f"{percent(risk)}."
        )
    else:
        words += f" The score is {signed(explanation.score)}."
    boundary = model.oriented.boundary
    if not np.isfinite(boundary):
        return f"{words} At the cut-off that is kept every {found.noun} gets the same answer."
    distance = number(abs(explanation.distance), 3)
    border = "0" if boundary == 0.0 else f"{signed(boundary)}, the cut-off that is kept"
    return (
        f"{words} The answer is {positive} above {border}; this {found.noun} is {distance} "
        "standard deviations from the boundary."
    )


def contributions_chart(
    explanation: RowExplanation, data: Dataset, noun: str
) -> tuple[go.Figure, str]:
    """Draw what each feature adds to the score of a usual patient."""
    first = explanation.contributions[:MOST_BARS]
    names = [f"{charts.label(data.index.name(one.column))} = {number(one.value)}" for one in first]
    amounts = [one.amount for one in first]
    rest = explanation.contributions[MOST_BARS:]
    if rest:
        names.append(f"{len(rest):,} others")
        amounts.append(sum(one.amount for one in rest))
    positive = plain(data.classes[1], 40)
    chart = _bars(
        "What each feature adds",
        names,
        amounts,
        "added to the score",
    )
    return chart, (
        f"Bars to the right favour {positive}. A {noun} with average values would score "
        f"{signed(explanation.base)}. Adding the bars gives the score of this {noun}, "
        f"{signed(explanation.score)}, exactly."
    )


def blocks_chart(explanation: RowExplanation, data: Dataset) -> tuple[go.Figure, str]:
    """Draw what each block adds."""
    found = sorted(explanation.blocks.items(), key=lambda one: -abs(one[1]))
    shown = [(name, amount) for name, amount in found if amount][:MOST_BARS]
    names = [name if name == NO_BLOCK else charts.label(name) for name, _ in shown]
    chart = _bars(
        "What each block adds", names, [amount for _, amount in shown], "added to the score"
    )
    if not shown:
        return chart, "No block adds anything."
    name, amount = shown[0]
    return chart, f"{plain(name)} adds most: {signed(amount)}."


def _bars(title: str, names: list[str], amounts: list[float], x: str) -> go.Figure:
    chart = charts.figure(title, x=x, y="", height=110 + 24 * max(len(names), 2))
    chart.add_bar(
        x=amounts,
        y=list(range(len(names))),
        orientation="h",
        marker_color=[charts.sign_colour(value) for value in amounts],
        showlegend=False,
    )
    charts.name_rows(chart, names)
    chart.update_layout(margin_t=36)
    chart.update_yaxes(ticktext=names)  # each is a label with its value
    return chart


def contribution_table(explanation: RowExplanation, data: Dataset) -> pd.DataFrame:
    """Return values, usual values, weights and what they add, in the units of the data."""
    columns = np.array([one.column for one in explanation.contributions], dtype=np.intp)
    return pd.DataFrame(
        {
            "feature": [data.index.name(int(j)) for j in columns],
            "block": data.block_of(columns),
            "value": [one.value for one in explanation.contributions],
            "usual (mean)": [one.usual for one in explanation.contributions],
            "weight": [one.weight for one in explanation.contributions],
            "adds": [one.amount for one in explanation.contributions],
        }
    )


def _rules(patients: PatientList, row: int) -> None:
    """Draw the rules that apply, and what they and the model without them say."""
    rules = [rule for rule, on in zip(patients.rules, patients.applies[:, row], strict=True) if on]
    if not patients.rules:
        return
    said = patients.found.rows.predicted[row]
    lines = []
    for rule in rules:
        agrees = "agrees" if (rule.sign > 0) == said else "says the opposite"
        lines.append(
            f"- {plain(rule.label)}: {plain(rule.resolved_text, 200)}. The answer {agrees}."
        )
    st.markdown(f"**Rules that apply: {len(rules)} of {len(patients.rules)}**")
    st.markdown("\n".join(lines))
    if patients.found.without is not None:
        if patients.changed[row]:
            other = plain(patients.data.classes[int(not said)])
            st.markdown(f"**The rules changed the answer**: without them it is {other}.")
        else:
            st.markdown("Without the rules the answer is the same.")


# --------------------------------------------------------------------------------------------------
# What would change the answer.


def _change(model: TrainedModel, data: Dataset, x: Any) -> None:
    st.markdown("**The least that changes the answer**")
    narrow, _ = st.columns([2, 3])
    block = narrow.selectbox(
        "Features that may change", [ALL, *data.blocks], key="sheet_block",
        help="Within the range of the training values; small in standard deviations.",
    )  # fmt: skip
    columns = np.arange(data.n_features) if block == ALL else data.blocks[str(block)]
    boundary = model.oriented.boundary
    if not np.isfinite(boundary):
        st.markdown("No value changes it: at the cut-off that is kept all get the same answer.")
        return
    found = smallest_change(
        model.classifier, x, columns, data.X_train, sign=model.oriented.sign, boundary=boundary
    )
    st.markdown(change_sentence(found, data))


def change_sentence(found: SmallestChange, data: Dataset) -> str:
    """Say which values would have to change, and to what."""
    if not found.changes:
        return "None of these features has a weight, so they cannot change the answer."
    parts = [
        f"{plain(data.index.name(column))} from {number(value)} to {number(new)}"
        for column, value, new in found.changes[:MOST_SLIDERS]
    ]
    more = len(found.changes) - len(parts)
    text = listed(parts, limit=MOST_SLIDERS) + (
        f", and {count(more, 'smaller change')}" if more else ""
    )
    if not found.flips:
        return (
            "No values within the range of the training data flip it: even with "
            f"{text} the score is {signed(found.score)}."
        )
    return f"{text}: {number(found.size, 3)} standard deviations in all."


def _what_if(model: TrainedModel, data: Dataset, explanation: RowExplanation, row: int) -> None:
    st.markdown("**What if**")
    lows, highs = data.summary["min"].to_numpy(), data.summary["max"].to_numpy()
    score = explanation.score
    moving = [one for one in explanation.contributions if highs[one.column] > lows[one.column]]
    shown = moving[:MOST_SLIDERS]
    for column, one in zip(st.columns(max(len(shown), 1)), shown, strict=False):
        low = float(min(lows[one.column], one.value))
        high = float(max(highs[one.column], one.value))
        new = column.slider(
            plain(data.index.name(one.column), 30),
            low,
            high,
            one.value,
            step=(high - low) / STEPS,
            format="%.4g",
            key=f"sheet_what_if_{row}_{one.column}",
        )
        score += one.weight * (float(new) - one.value) if new != one.value else 0.0
    st.markdown(what_if_sentence(model, data, explanation.score, score))


def what_if_sentence(model: TrainedModel, data: Dataset, before: float, after: float) -> str:
    """Say what score, risk and answer become."""
    risks = model.oriented.risks(np.array([before, after]))
    if before == after:
        return f"Move a value: the score is {signed(before)}, the risk {percent(float(risks[0]))}."
    said = model.answers(np.array([before, after]))
    answer = plain(said[1])
    flips = " (another one)" if said[0] != said[1] else ""
    return (
        f"Score {signed(before)} → **{signed(after)}**, risk {percent(float(risks[0]))} → "
        f"**{percent(float(risks[1]))}**, answer **{answer}**{flips}."
    )
