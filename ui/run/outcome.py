"""The result of a run, explained: how good, with which features, how the rules fare, how sure."""

from __future__ import annotations

from functools import partial
from typing import Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.evaluation.comparison import block_totals
from hipad.evaluation.metrics import ClassificationReport
from hipad.utils import count, number, percent
from ui import charts, models
from ui.dataset import NO_BLOCK, Dataset
from ui.models import TrainedModel, comparable_weights, measure_of, weight_table
from ui.run import averaged, fewness, label_list, rule_lines
from ui.run.certificates import numbers, sentence
from ui.run.replay.run_story import harm_words
from ui.settings import CHOSEN
from ui.state import AppState
from ui.text import plain
from ui.workbench import kept_models

TOP: Final = 15
DOWNLOADS: Final = (
    (
        "Weights (CSV)",
        models.weights,
        "weights.csv",
        "text/csv",
        "One row per feature with a weight.",
    ),
    (
        "Answers (CSV)",
        models.answers,
        "answers.csv",
        "text/csv",
        "One row per test patient: row of the file, score, answer, truth.",
    ),
    (
        "Model (JSON)",
        models.model_file,
        "model.json",
        "application/json",
        "The model for `hipad.load_model` and `python -m hipad predict`.",
    ),
)


def show(state: AppState) -> None:
    """Draw the model of the present job, if there is one, and never as final when it is not."""
    model, job, data = state.model, state.job, state.data
    if model is None or job is None or data is None or job.is_active:
        return
    st.header("Result" if job.is_final else "Result so far (not final)", anchor=False)
    _headline(model)
    _figures(model, data, expert=state.expert)
    left, right = st.columns([2, 3])
    with left:
        _confusion(model.judgement)
        _certainty(model, data, expert=state.expert)
    with right:
        if data.blocks:
            chart, text = block_weights(model, data)
            charts.show(chart, key="result_blocks", text=text)
        chart, text = top_features(model, data)
        charts.show(chart, key="result_features", text=text)
    rule_lines.show(model, expert=state.expert)
    averaged.show(model, expert=state.expert)
    label_list.show(state, model, data)
    _search(model, expert=state.expert)
    _take_away(state, model, data)


def alarm(state: AppState) -> None:
    """What the user must know before anything else: rules that do clear harm, and which one."""
    model, job = state.model, state.job
    if model is None or model.harm is None or job is None or job.is_active:
        return
    low, high = (100 * abs(bound) for bound in reversed(model.harm.interval))
    st.error(
        f"**{plain(harm_words(model.harm), 600)}** On the same test patients the rules cost "
        f"{low:.0f} to {high:.0f} points (95 % interval).",
        icon=":material/dangerous:",
    )


def _headline(model: TrainedModel) -> None:
    words = model.judgement.sentence
    alone, gain = model.without_rules, 0
    if alone is not None:
        gain = model.judgement.accuracy.k - alone.accuracy.k
        effect = f"the rules {'add' if gain > 0 else 'cost'} {count(abs(gain), 'right answer')}"
        low, high = model.gain or (0.0, 0.0)
        tuned = model.settings.fewness in CHOSEN
        other = "a model tuned for itself is" if tuned else "the same settings are"
        chance = ", within what chance explains" if low <= 0 <= high else ""
        words += (
            f" Without the rules, {other} right in {percent(alone.accuracy.value)}: "
            f"{effect + chance + '.' if gain else 'no difference here.'}"
        )
    box = st.success if gain >= 0 else st.info if model.harm is None else st.error
    box(words, icon=":material/fact_check:")
    if model.harm is not None:
        st.page_link(
            "pages/experiments.py", label="What if a rule is wrong?", icon=":material/science:"
        )
    if model.judgement.part == "training":
        st.caption("These patients were used for training, so the figures flatter the model.")


def _figures(model: TrainedModel, data: Dataset, *, expert: bool) -> None:
    judged, (negative, positive) = model.judgement, data.classes
    first, second, third, fourth = st.columns(4)
    for column, label, share, text in (
        (first, "Right answers", judged.accuracy, "Share of patients put in their own class."),
        (second, f"{plain(positive, 20)} found", judged.sensitivity, "Sensitivity."),
        (third, f"{plain(negative, 20)} recognised", judged.specificity, "Specificity."),
    ):
        low, high = share.interval
        column.metric(label, percent(share.value), help=f"{text} Below: Wilson's 95 % interval.")
        of = f"{share.n:,}" if share.patients is None else share.whom
        column.caption(f"{percent(low)} to {percent(high)}, {share.k:,} of {of}")
    fourth.metric("Features used", f"{len(model.support):,}", help="Features that have a weight.")
    solver = f", lambda1 {model.classifier.lambda1_:.3g}" if expert else ""
    fourth.caption(f"of {count(data.n_features, 'feature')}{solver}")


def _search(model: TrainedModel, *, expert: bool) -> None:
    """How the number of features was chosen, where the program chose it."""
    path = model.classifier.path_
    if sum(point.support_size > 0 for point in path) > 1:
        with st.expander("How the number of features was chosen"):
            chart, text = fewness.chart(path, expert=expert)
            charts.show(chart, key="run_path", text=text)


def _confusion(judged: ClassificationReport) -> None:
    whom = "patients" if judged.accuracy.patients is None else "rows"
    st.markdown(f"**Truth and answer** ({whom})")
    rows = [f"truly {name}" for name in judged.classes]
    columns = [f"said {name}" for name in judged.classes]
    st.dataframe(pd.DataFrame(judged.confusion, rows, columns), alt="Truth and answer")


def _certainty(model: TrainedModel, data: Dataset, *, expert: bool) -> None:
    st.markdown("**How sure is the computation?**")
    st.markdown(sentence(model.classifier, data.n_features))
    if expert:
        with st.expander("The certificate in numbers"):
            st.dataframe(numbers(model.classifier), hide_index=True)


def top_features(model: TrainedModel, data: Dataset) -> tuple[go.Figure, str]:
    """The features with the largest weights, coloured by block."""
    table, measure = weight_table(model, data).head(TOP), measure_of(model)
    positive = data.classes[1]
    chart = charts.figure(
        f"The {len(table)} strongest features",
        x=f"weight ({'per standard deviation' if measure != 'weight' else 'in your units'}); "
        f"right: speaks for {charts.label(positive)}",
        y="",
        height=360,
    )
    colours = charts.block_colours([*data.blocks])
    for block in dict.fromkeys(table["block"]):
        part = table[table["block"] == block]
        chart.add_bar(
            x=part[measure],
            y=list(part.index),
            orientation="h",
            name=charts.label(block, 20),
            marker_color=colours.get(block, charts.colour(-1)),
        )
    charts.name_rows(chart, list(table["feature"]))
    if table.empty:
        return chart, "No feature has a weight: the answer is the same for every patient."
    strongest = table.iloc[0]
    text = (
        f"Strongest is {plain(strongest['feature'])} ({plain(strongest['block'])}), "
        f"{number(strongest[measure], 3)}. {_block_words(model, data)}"
    )
    return chart, text


def block_weights(model: TrainedModel, data: Dataset) -> tuple[go.Figure, str]:
    """The sum of the weights of each block's features, and of those in no block."""
    positive = data.classes[1]
    sums = block_totals(comparable_weights(model, data), data.blocks, NO_BLOCK)
    blocks = [block for block, total in sums.items() if total][:30]
    chart = charts.figure(
        "Weights by block",
        x=f"sum of weights; right: speaks for {charts.label(positive)}",
        y="",
        height=110 + 24 * len(blocks),
    )
    colours = charts.block_colours([*data.blocks])
    chart.add_bar(
        x=[sums[block] for block in blocks],
        y=list(range(len(blocks))),
        orientation="h",
        marker_color=[colours.get(block, charts.colour(-1)) for block in blocks],
        showlegend=False,
    )
    charts.name_rows(chart, blocks)
    words = ", ".join(f"{plain(block)} {number(sums[block], 3)}" for block in blocks[:8])
    return chart, f"Sum of the weights by block: {words or 'no weights'}."


def _block_words(model: TrainedModel, data: Dataset) -> str:
    blocks = pd.Series(data.block_of(model.support)).value_counts()
    named = [f"{plain(block)} {n}" for block, n in blocks.items() if block != NO_BLOCK]
    return "Features by block: " + ", ".join(
        [*named[:6], f"{blocks.get(NO_BLOCK, 0)} in no block."]
    )


def _take_away(state: AppState, model: TrainedModel, data: Dataset) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kept_models.offer_to_keep(state, model, key="run")
        for label, content, file, mime, text in DOWNLOADS:
            st.download_button(
                label,
                partial(content, model, data),
                file,
                mime,
                icon=":material/download:",
                on_click="ignore",
                help=text,
            )
