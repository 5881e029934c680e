"""The result of a run, explained: how good, with which features, how sure; and downloads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.data import to_csv
from hipad.evaluation.active_learning import LabelSuggestion, label_next
from hipad.evaluation.comparison import (
    AveragedCandidate,
    averaged_candidates,
    block_totals,
    flips,
)
from hipad.evaluation.metrics import ClassificationReport, Proportion
from hipad.solvers import Certificate, Status
from hipad.utils import count, number, percent
from ui import charts, feature_sheet, models
from ui.dataset import NO_BLOCK, Dataset
from ui.models import TrainedModel, TrainingJob, comparable_weights, measure_of, weight_table
from ui.recording import seconds_of
from ui.results import seal
from ui.run import rule_outcomes, sparsity_chart
from ui.settings import CHOSEN
from ui.state import AppState
from ui.text import plain
from ui.workbench import cross_validation, kept_models

TOP: Final = 15
OPENED: Final = "features opened"
MOST_SUGGESTED: Final = 10  # patients to label next
DOWNLOADS: Final = (
    (
        "Weights (CSV)",
        models.weights,
        "weights",
        "csv",
        "text/csv",
        "One row per feature with a weight.",
    ),
    (
        "Answers (CSV)",
        models.answers,
        "answers",
        "csv",
        "text/csv",
        "One row per test patient, or per training patient while the test set is sealed: row of "
        "the file, score, risk, answer, truth.",
    ),
    (
        "Model (JSON)",
        models.model_file,
        "model",
        "json",
        "application/json",
        "The model for `hipad.load_model` and `python -m hipad predict`.",
    ),
)


def headline(state: AppState) -> None:
    """Draw the sentence and the estimates with rules and without, the first thing to be read."""
    model, job = state.model, state.job
    if model is None or job is None or job.is_active:
        return
    if not job.is_final:
        st.header("Result so far (not final)", anchor=False)
    if model.judgement.part == "training":
        held_out(state, model, job)
        return
    data = job.request.data
    st.markdown(f":material/fact_check: **{data.said(sentence(model))}**")
    judged, alone, text = model.judgement, model.without_rules, data.said(ESTIMATE)
    compares = job.is_final and model.settings.use_rules and job.request.says_anything
    columns = st.columns([3, 3, 2, 5] if compares else [3, 2, 5])
    label = "Right answers with the rules" if compares else RIGHT
    _estimate(columns[0], label, judged.accuracy, text)
    if compares and alone is not None:
        _estimate(columns[1], "Right answers without the rules", alone.accuracy, text)
    elif compares:
        _figure(columns[1], "Right answers without the rules", "...", "being computed", text)
    _size_and_time(state, model, columns[-2:])


def _size_and_time(state: AppState, model: TrainedModel, columns: Sequence[Any]) -> None:
    assert state.job is not None
    data = state.job.request.data
    solver = f", lambda1 {model.classifier.lambda1_:.3g}" if state.expert else ""
    of = f"of {count(data.n_features, 'feature')}{solver}"
    _figure(columns[0], "Features used", f"{len(model.support):,}", of, "Features with a weight.")
    phases, total = _times(state)
    _figure(columns[1], "Computing time", f"{duration(total)} s", phases, f"{TIME} {phases}.")


def held_out(state: AppState, model: TrainedModel, job: TrainingJob) -> None:
    """Draw cross-validated figures as their folds come: the test set may not be looked at yet."""
    compares = job.is_final and model.settings.use_rules and job.request.says_anything
    models = [model] if job.alone is None else [model, job.alone]
    works = cross_validation.at_work(state, models) if job.is_final else []
    was_done = not any(work.is_busy for work in works)
    data, text = job.request.data, job.request.data.said(HELD_OUT)

    def look() -> None:
        for work in works:
            work.job.seen()
        words = data.said(held_out_sentence(works, job))
        st.markdown(f":material/fact_check: **{words}**")
        columns = st.columns([3, 3, 2, 5] if compares else [3, 2, 5])
        labels = ["Right answers with the rules", "Right answers without the rules"]
        for k, label in enumerate(labels if compares else [RIGHT]):
            own = works[k] if k < len(works) else None
            report = own.job.outcome.judgement if own and own.job.outcome else None
            if report is not None:
                _estimate(columns[k], label, report.accuracy, text)
            else:
                words = "being computed" if own is None else cross_validation.words(own)
                _figure(columns[k], label, "...", words, text)
        _size_and_time(state, model, columns[-2:])
        if not was_done and not any(work.is_busy for work in works):
            st.rerun()

    with st.container(key="run_held_out"):
        st.fragment(look, run_every=None if was_done else cross_validation.EVERY)()
    st.caption(data.said(SEALED if data.y_test is not None else NO_TEST))


def held_out_sentence(works: Sequence[cross_validation.FoldFits], job: TrainingJob) -> str:
    """Return how many held-out training rows are right, and what the rules add there."""
    found = [work.job.outcome.judgement if work.job.outcome else None for work in works]
    if not job.is_final:
        return "The run is not finished, so the model is not judged."
    if not found or found[0] is None:
        text = "" if not works else f" ({cross_validation.words(works[0])})"
        return f"The model is ready. How good it is on held-out patients is being computed{text}."
    words = f"Cross-validated: {found[0].sentence}"
    if len(found) < 2 or found[1] is None:
        return words
    gain = found[0].accuracy.k - found[1].accuracy.k
    if not gain:
        return f"{words} Without the rules it is the same number."
    pair = [work.found for work in works]
    assert pair[0] is not None
    assert pair[1] is not None
    data = job.request.data
    sign = 1.0 if np.unique(pair[0].y)[1] == data.classes[1] else -1.0
    scores = sign * pair[1].scores, sign * pair[0].scores
    low, high = flips(*scores, data.y_train == data.classes[1], data.groups_train).interval
    effect = f"the rules {'add' if gain > 0 else 'cost'} {count(abs(gain), 'right answer')}"
    chance = ", which may be chance" if low <= 0 <= high else ""
    return f"{words} Compared with a model without rules, {effect}{chance}."


RIGHT: Final = "Right answers"
HELD_OUT: Final = (
    "Each training patient is judged by a model that has not seen this patient (cross-validated). "
    "Below: the 95 % interval, which allows for the folds having most patients in common."
)
SEALED: Final = (
    "The test set is sealed: it is opened on the Results page, when the rules are final. Until "
    "then every figure is of training patients."
)
NO_TEST: Final = "There is no test set: every figure is of training patients."
ESTIMATE: Final = "Share of patients put in their own class. Below: Wilson's 95 % interval."
TIME: Final = "Seconds of the fit and of the fit without rules; recording them is not counted."


def sentence(model: TrainedModel) -> str:
    """Return how good the model is, and what the rules are worth as soon as that is known."""
    words, alone = model.judgement.sentence, model.without_rules
    if alone is None:
        return words
    gain = model.judgement.accuracy.k - alone.accuracy.k
    if not gain:
        return f"{words} Without the rules it is the same number."
    effect = f"the rules {'add' if gain > 0 else 'cost'} {count(abs(gain), 'right answer')}"
    low, high = model.gain or (0.0, 0.0)
    chance = ", which may be chance" if low <= 0 <= high else ""
    tuned = model.settings.fewness in CHOSEN
    how = "a model that chose its own settings" if tuned else "the same settings"
    return f"{words} Compared with {how} without rules, {effect}{chance}."


def _estimate(column: Any, label: str, share: Proportion, text: str = ESTIMATE) -> None:
    low, high = share.interval
    of = f"{share.n:,}" if share.patients is None else share.whom
    words = f"{percent(low)} to {percent(high)}, {share.k:,} of {of}"
    _figure(column, label, percent(share.value), words, text)


def _figure(column: Any, label: str, value: str, words: str, text: str) -> None:
    """Draw a figure with a line below it."""
    column.metric(label, value, words, delta_color="off", delta_arrow="off", help=text)


def _times(state: AppState) -> tuple[str, float]:
    """Return the seconds of each phase in words, and of all."""
    job = state.job
    assert job is not None
    own, other = seconds_of(job.history), sum(seconds_of(job.comparison.history).values())
    names = {0: "choice", 1: "phase 1", 2: "phase 2"}
    parts = [f"{names[phase]} {duration(seconds)}" for phase, seconds in sorted(own.items())]
    parts += [f"no rules {duration(other)}"] if other else []
    return ", ".join(parts), sum(own.values()) + other


def duration(seconds: float) -> str:
    """Return seconds with two digits, or whole.

    >>> duration(0.0512), duration(9.44), duration(118.3)
    ('0.051', '9.4', '118')
    """
    return f"{seconds:,.0f}" if seconds >= 10 else number(seconds, 2)


def details(state: AppState) -> None:
    """Draw what explains the model: its features, its rules, its optimality, and downloads."""
    model, job, data = state.model, state.job, state.data
    if model is None or job is None or data is None or job.is_active:
        return
    if job.is_final:
        st.header("Result", anchor=False)
    left, right = st.columns([2, 3])
    with left:
        judged = cross_validation.judgement_of(state, model)
        if judged is not None:
            _classes(judged, data)
            _confusion(judged, data)
        _optimality(model, data, expert=state.expert)
    with right:
        if data.blocks:
            chart, text = block_weights(model, data)
            charts.show(chart, key="result_blocks", text=text)
        _top_features(state, model, data)
    if model.is_explained or not job.is_final:
        rule_outcomes.show(model, expert=state.expert, data=data)
    else:
        st.caption("What each rule did is being computed ...")
    _candidates(model, data, expert=state.expert)
    _label_next(state, model, data)
    _search(model, expert=state.expert)
    _take_away(state, model, data)


# --------------------------------------------------------------------------------------------------
# Certificates in words: how far, at most, a result is from the best one there is.

BEGINNINGS: Final = {
    Status.SOLVED: "Certified optimal:",
    Status.INACCURATE: "Nearly optimal:",
    Status.STOPPED: "Stopped before the end, this is not the final model:",
    Status.LIMIT: "The limit of steps was reached, this is not the best model:",
}
OPTIMALITY: Final = "Solved to optimality? (This says nothing about new patients.)"


def optimality(status: Status, where: str, gap: float) -> str:
    """Return how much better, at most, other weights could be.

    >>> optimality(Status.SOLVED, "9 features", 3e-12)
    'Certified optimal: no other weights on 9 features can be better by more than 0.000001 %.'
    """
    return (
        f"{BEGINNINGS[status]} no other weights on {where} can be better by more than {share(gap)}."
    )


def share(gap: float) -> str:
    """Return a relative gap as a share that can be read.

    >>> share(3e-12), share(0.0009), share(0.06)
    ('0.000001 %', '0.09 %', '6 %')
    """
    shown = np.format_float_positional(
        100 * max(gap, 1e-8), precision=2, fractional=False, trim="-"
    )
    return f"{shown} %" if math.isfinite(gap) else "any amount"


def certificate_words(classifier: Any, n_features: int) -> str:
    """Return what the certificates of a fit say, for a reader who does not know the solver."""
    certificate: Certificate = classifier.certificate_
    selection: Certificate | None = classifier.selection_certificate_
    used = [member for member in classifier.members_ if member.share > 0]
    leading = max(used, key=lambda member: member.share, default=None)
    n_kept = len(classifier.support_) if leading is None else leading.support_size
    over_all = certificate.covers == "all features"
    where = f"all {n_features:,} features" if over_all else f"these {count(n_kept, 'feature')}"
    words = [optimality(certificate.status, where, certificate.gap)]
    if len(used) > 1:
        words.insert(
            0,
            f"The model is an average of {len(used)} candidates, each solved by itself. The most "
            "probable one:",
        )
    if selection is not None:
        words.append(_choice_words(selection, n_kept, n_features))
    return " ".join(words)


def _choice_words(selection: Certificate, n_kept: int, n_features: int) -> str:
    if selection.certain == n_kept and not selection.undecided:
        return f"All {count(n_kept, 'feature')} are certain." if n_kept else ""
    return (
        f"{selection.certain:,} of the {count(n_kept, 'chosen feature')} are certain, and "
        f"{selection.undecided:,} of all {n_features:,} could not be decided (the choice is within "
        f"{share(selection.gap)} of the best)."
    )


def certificate_numbers(classifier: Any) -> pd.DataFrame:
    """Return both certificates side by side."""
    parts = {
        "result": classifier.certificate_,
        "choice of features": classifier.selection_certificate_,
    }
    tables = {name: part.as_dict() for name, part in parts.items() if part is not None}
    frame = pd.DataFrame(tables).map(lambda v: f"{v:.6g}" if isinstance(v, float) else str(v))
    frame.insert(0, "", [str(name).replace("_", " ") for name in frame.index])
    return frame


def _optimality(model: TrainedModel, data: Dataset, *, expert: bool) -> None:
    st.markdown(f"**{data.said(OPTIMALITY)}**")
    st.markdown(certificate_words(model.classifier, data.n_features))
    if expert:
        with st.expander("The certificate in numbers"):
            st.dataframe(certificate_numbers(model.classifier), hide_index=True)


# --------------------------------------------------------------------------------------------------
# The parts of the explanation.


def _classes(judged: ClassificationReport, data: Dataset) -> None:
    """Sensitivity and specificity, with what they are shares of."""
    negative, positive = data.classes
    for column, label, found in zip(
        st.columns(2),
        (f"{plain(positive, 20)} found (sensitivity)",
         f"{plain(negative, 20)} found (specificity)"),
        (judged.sensitivity, judged.specificity),
        strict=True,
    ):  # fmt: skip
        _estimate(column, label, found, data.said(ESTIMATE))


def _confusion(judged: ClassificationReport, data: Dataset) -> None:
    whom = data.row_word() if judged.accuracy.patients is None else "rows"
    st.markdown(f"**Actual and predicted class** ({whom})")
    rows = [f"actual {name}" for name in judged.classes]
    columns = [f"predicted {name}" for name in judged.classes]
    st.dataframe(pd.DataFrame(judged.confusion, rows, columns), alt="Actual and predicted class")


def _top_features(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """Draw the strongest features; a click on a bar opens its feature."""
    chart, text = top_features(model, data)
    opened = state.memo.get(OPENED, (None, 0))[1]  # a chart of its own for the next click
    chosen = charts.show_to_choose(chart, key=f"result_features_{opened}", text=text)
    if chosen is not None:
        state.memo[OPENED] = (None, opened + 1)
        feature_sheet.ask(state, chosen)


def top_features(model: TrainedModel, data: Dataset) -> tuple[go.Figure, str]:
    """Return the features with the largest weights, and the same in words."""
    table, measure = weight_table(model, data).head(TOP), measure_of(model)
    chart = charts.figure(
        f"The {len(table)} strongest features",
        x=f"weight ({'per standard deviation' if measure != 'weight' else 'in your units'}); "
        f"{favours(data)}",
        y="",
        height=360,
    )
    chart.add_bar(
        x=table[measure],
        y=list(table.index),
        orientation="h",
        customdata=[[data.index.position(name)] for name in table["feature"]],
        marker_color=[charts.sign_colour(value) for value in table[measure]],
        showlegend=False,
    )
    in_block = zip(table["feature"], table["block"], strict=True)
    charts.name_rows(
        chart, [name if block == NO_BLOCK else f"{name} ({block})" for name, block in in_block]
    )
    if table.empty:
        same = "No feature has a weight: the answer is the same for every patient."
        return chart, data.said(same)
    strongest = table.iloc[0]
    text = (
        f"Strongest is {plain(strongest['feature'])} ({plain(strongest['block'])}), "
        f"{number(strongest[measure], 3)}. {_block_words(model, data)}"
    )
    return chart, text


def favours(data: Dataset) -> str:
    """Return which way a bar counts."""
    return f"bars to the right favour {charts.label(data.classes[1])}"


def block_weights(model: TrainedModel, data: Dataset) -> tuple[go.Figure, str]:
    """Return the sum of the weights of each block's features, and of those in no block."""
    sums = block_totals(comparable_weights(model, data), data.blocks, NO_BLOCK)
    blocks = [block for block, total in sums.items() if total][:30]
    chart = charts.figure(
        "Weights by block",
        x=f"sum of weights; {favours(data)}",
        y="",
        height=110 + 24 * len(blocks),
    )
    chart.add_bar(
        x=[sums[block] for block in blocks],
        y=list(range(len(blocks))),
        orientation="h",
        marker_color=[charts.sign_colour(sums[block]) for block in blocks],
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


def _search(model: TrainedModel, *, expert: bool) -> None:
    """How the number of features was chosen, where the program chose it."""
    path = model.classifier.path_
    if sum(point.support_size > 0 for point in path) > 1:
        with st.expander("How the number of features was chosen"):
            chart, text = sparsity_chart.chart(path, expert=expert)
            charts.show(chart, key="run_path", text=text)


def _candidates(model: TrainedModel, data: Dataset, *, expert: bool) -> None:
    """What a model with learnt trust is an average of, for experts."""
    if not expert or not model.classifier.members_:
        return
    found = averaged_candidates(model.classifier)
    with st.expander("What was averaged"):
        rows = pd.DataFrame(list(map(candidate_row, found)))
        st.dataframe(rows, hide_index=True, alt="What was averaged")
        st.caption(
            "Each candidate is a model of its own, with its own lambda1 and lambda2, certified by "
            "itself. Its probability comes from how well it predicts training "
            f"{data.row_word()} that it did not see; those below 2 % are left out. The model is "
            "the average of the others."
        )


def candidate_row(one: AveragedCandidate) -> dict[str, str]:
    """Return a candidate in cells."""
    return {
        "rules": one.rules,
        "held-out log loss": "–" if math.isnan(one.loss) else f"{one.loss:.3f}",
        "before": percent(one.prior, 0),
        "probability": percent(one.posterior, 0),
        "features": "left out" if one.features is None else f"{one.features:,}",
        "certificate": one.certificate or "–",
    }


def _label_next(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """Which patients to label next, with a download; nothing where every patient has a label."""
    X = data.X_unlabelled
    if X is None or not data.n_unlabelled:
        return
    found = state.remember("label next", (model, data), lambda: suggestions(model, data))
    title = data.said("Which patients to label next")
    with st.expander(title, icon=":material/label:"):
        st.caption(
            f"Of {count(data.n_unlabelled, data.row_word(1))} without a label, these would tell "
            f"the model most: both classes in turn, from {data.row_word()} it is sure of to those "
            "it doubts, no two "
            "alike. Label them, load the table again, and run."
        )
        st.dataframe(found, hide_index=True, alt=title)
        st.download_button(
            "List (CSV)",
            to_csv({name: found[name].tolist() for name in found.columns}),
            file_name(state, "label_next", "csv"),
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            help=data.said("Patients to label next, the first one first."),
        )


def suggestions(model: TrainedModel, data: Dataset, most: int = MOST_SUGGESTED) -> pd.DataFrame:
    """Return the patients to label, one per row."""
    found = label_next(model.classifier, data.X_unlabelled, most)
    return pd.DataFrame([_suggestion(one, model, data) for one in found])


def _suggestion(one: LabelSuggestion, model: TrainedModel, data: Dataset) -> dict[str, object]:
    score = model.oriented.sign * one.decision_value
    return {
        data.row_word(1): data.unlabelled_names[one.row],
        "doubt (%)": round(100 * one.score),
        f"score of {data.classes[1]}": round(score, 2),
        "why": one.reason,
    }


def file_name(state: AppState, stem: str, ending: str) -> str:
    """Return the name of a download; of a synthetic draw it tells its data and seed."""
    recipe = {} if state.loaded is None else state.loaded.recipe
    if state.loaded is None or "preset" not in recipe:
        return f"{stem}.{ending}"
    return f"{stem}_{state.loaded.name}_seed{recipe.get('seed', 0)}.{ending}"


def _take_away(state: AppState, model: TrainedModel, data: Dataset) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kept_models.offer_to_keep(state, model, key="run")
        sealed = {"seal": seal.seal_of(state)}
        shown = replace(data, is_sealed=False) if seal.is_open(state) else data
        for label, content, stem, ending, mime, text in DOWNLOADS:
            st.download_button(
                label,
                partial(content, model, shown, **(sealed if content is not models.weights else {})),
                file_name(state, stem, ending),
                mime,
                icon=":material/download:",
                on_click="ignore",
                help=text,
            )
