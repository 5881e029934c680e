"""The result of a run, explained: how good, with which features, how sure, and what to take away."""

from __future__ import annotations
from typing import Any, Final
import pandas as pd
from hipad.solvers import Certificate, Status
from hipad.utils import count
import math
import streamlit as st
from hipad.evaluation.comparison import AveragedCandidate, averaged_candidates
from hipad.utils import percent
from ui.models import TrainedModel
from typing import Final
from hipad.data import to_csv
from hipad.evaluation.active_learning import LabelSuggestion, label_next
from ui.dataset import Dataset
from ui.state import AppState
from functools import partial
import plotly.graph_objects as go
from hipad.evaluation.comparison import block_totals
from hipad.evaluation.metrics import ClassificationReport
from hipad.utils import count, number, percent
from ui import charts, exports
from ui.bench import keeping
from ui.dataset import NO_BLOCK, Dataset
from ui.exports import comparable_weights, measure_of, weight_table
from ui.run import averaged, fewness, label_list, rule_lines
from ui.run.certificates import numbers, sentence
from ui.run.replay.run_story import harm_words
from ui.settings import CHOSEN
from ui.words import plain

# --------------------------------------------------------------------------------------------------
# Certificates in words: how far, at most, a result is from the best one there is.


BEGINNINGS: Final = {
    Status.SOLVED: "Solved.",
    Status.INACCURATE: "Solved, but not to full accuracy.",
    Status.STOPPED: "Stopped before the end: this is not the final model.",
    Status.LIMIT: "The limit of steps was reached before the end: this is not the best model.",
}


def sentence(classifier: Any, n_features: int) -> str:
    """What the certificates of a fit say, for a reader who does not know the solver."""
    certificate: Certificate = classifier.certificate_
    selection: Certificate | None = classifier.selection_certificate_
    used = [member for member in classifier.members_ if member.share > 0]
    leading = max(used, key=lambda member: member.share, default=None)
    n_kept = len(classifier.support_) if leading is None else leading.support_size
    kept = count(n_kept, "chosen feature")
    over_all = certificate.covers == "all features"
    where = f"all {n_features:,} features" if over_all else f"the {kept}"
    words = [BEGINNINGS[certificate.status]]
    if len(used) > 1:
        words.append(
            f"The model is an average of {len(used)} candidates, each solved by itself. For the "
            "most probable one:"
        )
    words.append(
        f"Whatever weights are given to {where}, none can lower the objective by more than "
        f"{share(certificate.gap)}."
    )
    if selection is not None:
        words.append(
            f"The choice of features was made within {share(selection.gap)} of the best over all "
            f"{n_features:,} features: {count(selection.certain, 'feature')} certainly in, "
            f"{selection.undecided:,} undecided."
        )
    return " ".join(words)


def share(gap: float) -> str:
    """A relative gap as a share that can be read.

    >>> share(3e-12), share(0.0009), share(0.06)
    ('one part in 100 million', '0.09 %', '6 %')
    """
    if gap <= 1e-8:
        return "one part in 100 million"
    if gap <= 1e-5:
        return f"one part in {round(1 / gap, -3):,.0f}"
    return f"{100 * gap:.2g} %"


def numbers(classifier: Any) -> pd.DataFrame:
    """Both certificates side by side."""
    parts = {
        "result": classifier.certificate_,
        "choice of features": classifier.selection_certificate_,
    }
    tables = {name: part.as_dict() for name, part in parts.items() if part is not None}
    frame = pd.DataFrame(tables).map(lambda v: f"{v:.6g}" if isinstance(v, float) else str(v))
    frame.insert(0, "", [str(name).replace("_", " ") for name in frame.index])
    return frame


# --------------------------------------------------------------------------------------------------
# What a model with learnt trust is an average of, for experts.


def show(model: TrainedModel, *, expert: bool) -> None:
    """The candidates with their figures; nothing where no trust was learnt."""
    if not expert or not model.classifier.members_:
        return
    found = averaged_candidates(model.classifier)
    with st.expander("What was averaged"):
        st.dataframe(pd.DataFrame(list(map(row, found))), hide_index=True, alt="What was averaged")
        st.caption(
            "Each candidate is a model of its own, with its own lambda1 and lambda2, certified by "
            "itself. Its probability comes from how well it predicts training patients that it "
            "did not see; those below 2 % are left out. The model is the average of the others."
        )


def row(one: AveragedCandidate) -> dict[str, str]:
    """A candidate in cells."""
    return {
        "rules": one.rules,
        "held-out log loss": "–" if math.isnan(one.loss) else f"{one.loss:.3f}",
        "before": percent(one.prior, 0),
        "probability": percent(one.posterior, 0),
        "features": "left out" if one.features is None else f"{one.features:,}",
        "certificate": one.certificate or "–",
    }


# --------------------------------------------------------------------------------------------------
# Which patients to label next: both predicted classes, spread over their scores.


MOST: Final = 10


def show(state: AppState, model: TrainedModel, data: Dataset) -> None:
    """The list with a download; nothing where every patient has a label."""
    X = data.X_unlabelled
    if X is None or not data.n_unlabelled:
        return
    found = state.remember("label next", (model, data), lambda: suggestions(model, data))
    with st.expander("Which patients to label next", icon=":material/label:"):
        st.caption(
            f"Of {count(data.n_unlabelled, 'patient')} without a label, these would tell the model "
            "most: both classes in turn, from patients it is sure of to those it doubts, and none "
            "like another. Label them, load the table again, and run."
        )
        st.dataframe(found, hide_index=True, alt="Which patients to label next")
        st.download_button(
            "List (CSV)",
            to_csv({name: found[name].tolist() for name in found.columns}),
            "label_next.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            help="Patients to label next, the first one first.",
        )


def suggestions(model: TrainedModel, data: Dataset, most: int = MOST) -> pd.DataFrame:
    """The patients to label, one per row."""
    found = label_next(model.classifier, data.X_unlabelled, most)
    return pd.DataFrame([_row(one, model, data) for one in found])


def _row(one: LabelSuggestion, model: TrainedModel, data: Dataset) -> dict[str, object]:
    score = model.oriented.sign * one.decision_value
    return {
        "patient": data.unlabelled_names[one.row],
        "doubt (%)": round(100 * one.score),
        f"score of {data.classes[1]}": round(score, 2),
        "why": one.reason,
    }


# --------------------------------------------------------------------------------------------------
# The result of a run, explained: how good, with which features, how the rules fare, how sure.


TOP: Final = 15
DOWNLOADS: Final = (
    (
        "Weights (CSV)",
        exports.weights,
        "weights.csv",
        "text/csv",
        "One row per feature with a weight.",
    ),
    (
        "Answers (CSV)",
        exports.answers,
        "answers.csv",
        "text/csv",
        "One row per test patient: row of the file, score, answer, truth.",
    ),
    (
        "Model (JSON)",
        exports.model_file,
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
        keeping.show(state, model, key="run")
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
