"""How far the model depends on which patients it was fitted to: refits to halves, as a job."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.evaluation.assessment import Assessment, Source
from hipad.evaluation.stability import DECOYS_OF, N_REFITS, Stability, stability_steps
from hipad.exceptions import DataError
from hipad.utils import FloatArray, percent
from ui import charts
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob, JobStatus, poll
from ui.models import Request, TrainedModel
from ui.state import AppState
from ui.text import plain

JOB: Final = "results_stability"
OFTEN: Final = 0.5  # of the refits: a feature that most of them select
MOST_FEATURES: Final = 20  # in the table
HEIGHT: Final = 300


@dataclass(frozen=True, eq=False)
class StabilityPair:
    """Refits with rules and without; `without` is None where there are no rules, or not yet."""

    own: Stability
    without: Stability | None = None

    def at(self, threshold: float | None) -> StabilityPair:
        """Return the same refits, answered by the cut-off that is kept."""
        without = None if self.without is None else self.without.at(threshold)
        return StabilityPair(self.own.at(threshold), without)


def stability_job(
    model: TrainedModel, request: Request, source: Source, n_refits: int = N_REFITS
) -> BackgroundJob[StabilityPair]:
    """Return a job that refits a model, and one without its rules, to halves of the patients.

    Risks are those of the rows that the page shows: of the test set where it is open, else of the
    training set. After a stop the job goes on where it was.
    """
    begun: list[Iterator[None]] = []

    def steps(job: BackgroundJob[StabilityPair]) -> Iterator[None]:
        if not begun:
            begun.append(_work(job, model, request, source, n_refits))
        for _ in begun[0]:
            yield
            SCHEDULER.give_way()

    return BackgroundJob(steps, name="the stability of the model")


def _work(
    job: BackgroundJob[StabilityPair],
    model: TrainedModel,
    request: Request,
    source: Source,
    n_refits: int,
) -> Iterator[None]:
    rows = request.data.X_test if source == "test" else None
    uses_rules = request.settings.use_rules and request.says_anything
    parts = 1 + int(uses_rules)

    all_refits = n_refits * (1 + 1 / DECOYS_OF)

    def refits(fitted: TrainedModel, part: int) -> Generator[None, None, Stability]:
        which = "without rules" if part else "of the model"
        for found in stability_steps(fitted.classifier, n_refits, X_rows=rows):
            seen = found.seen_from(fitted.oriented.sign)
            own = job.outcome.own if part and job.outcome is not None else seen
            job.outcome = StabilityPair(own, seen if part else None)
            job.message = f"Refits {which}: {seen.done:,} of {seen.total:,}"
            job.progress = (part + (seen.done + seen.decoy_refits) / all_refits) / parts
            yield
        return seen

    job.message = "The first refits are made"
    yield from refits(model, 0)
    if uses_rules:
        alone = replace(request, settings=request.settings.changed(use_rules=False))
        run = alone.start(model, quick=True)
        for _ in run:
            yield
        yield from refits(alone.model(run.finish()), 1)
    job.progress = 1.0


# --------------------------------------------------------------------------------------------------
# The part of the page.


def job_of(
    state: AppState, model: TrainedModel, found: Assessment
) -> BackgroundJob[StabilityPair] | None:
    """Return the job of the model that is shown, if it was asked for."""
    key, job = state.memo.get(JOB, (None, None))
    return job if key == (model, found.source) else None


def show(
    state: AppState, model: TrainedModel, request: Request, data: Dataset, found: Assessment
) -> None:
    """Draw the button, how far the refits are, and what they show."""
    job: BackgroundJob[StabilityPair] = state.remember(
        JOB, (model, found.source), lambda: stability_job(model, request, found.source)
    )
    st.subheader("Stability", anchor=False)
    if job.status is JobStatus.FAILED:
        st.error(f"The model could not be refitted: {plain(job.error, 600)}")
        return
    if job.is_active:
        poll(job, lambda: _progress(job))
        return
    pair = job.outcome
    if not job.is_final:
        st.caption(
            f"Would other {found.noun}s of the same kind give the same model? {N_REFITS:,} refits, "
            "each to a random half of the training data, show which features are always selected "
            f"and how far the risk of each {found.noun} moves."
        )
        label = "Refit to random halves" if pair is None else "Go on"
        if st.button(label, icon=":material/repeat:", key="results_refit"):
            job.launch()
            st.rerun()
    if pair is not None:
        threshold = model.oriented.threshold
        told = state.remember("results_stability_at", (pair, threshold), lambda: pair.at(threshold))
        _results(state, told, data, found)


def _progress(job: BackgroundJob[StabilityPair]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.progress or 0.0, text=job.message or "The refits wait for a free place")
        st.button("Stop", icon=":material/stop:", key="results_refit_stop", on_click=job.stop)


def _results(state: AppState, pair: StabilityPair, data: Dataset, found: Assessment) -> None:
    st.markdown(spread_sentence(pair, found.noun))
    st.markdown(features_sentence(pair.own))
    st.dataframe(
        feature_table(pair.own, data), hide_index=True, alt="How often features are chosen"
    )
    with st.expander("Four instability plots"):
        if not pair.own.is_done:
            st.caption(f"So far {pair.own.done:,} of {pair.own.total:,} refits.")
        choices = {"with rules" if pair.without is not None else "model": pair.own}
        if pair.without is not None:
            choices["without rules"] = pair.without

        def plots() -> None:
            which = next(iter(choices))
            if len(choices) > 1:
                which = str(
                    st.segmented_control(
                        "Model",
                        list(choices),
                        default=which,
                        required=True,
                        key="results_instability",
                        label_visibility="collapsed",
                    )
                )
            shown = choices[which]
            positive = found.rows.positive
            drawn = state.remember(
                f"results_instability_{which}", shown, lambda: instability(shown, positive)
            )
            left, right = st.columns(2)
            for k, (chart, text) in enumerate(instability_charts(drawn, found.noun)):
                key = f"results_instability_{k}"
                charts.show(chart, key=key, text=text, where=(left, right)[k % 2])

        st.fragment(plots)()


def spread_sentence(pair: StabilityPair, noun: str) -> str:
    """Say how far risks move and answers change from refit to refit, with rules and without."""
    own = 100 * pair.own.mean_spread
    flips = percent(pair.own.mean_flip_share)
    if pair.without is None:
        return (
            f"From refit to refit a {noun}'s risk moves by **{own:.1f} points** on average, and "
            f"the answer changes in **{flips}** of refits."
        )
    other, others = 100 * pair.without.mean_spread, percent(pair.without.mean_flip_share)
    return (
        f"With the rules a {noun}'s risk moves by **{own:.1f} points** from refit to refit, "
        f"without them by **{other:.1f}**; the answer changes in **{flips}** of refits, without "
        f"them in **{others}**."
    )


def features_sentence(found: Stability) -> str:
    """Say how many features most refits select, and how many of these chance explains."""
    often = int(np.count_nonzero(found.frequency >= OFTEN))
    text = f"**{often:,}** of {found.frequency.size:,} features are selected by at least half"
    if not found.decoy_refits:
        return f"{text} of the refits."
    false = percent(found.false_discovery_share(OFTEN), 0)
    return (
        f"{text} of the refits; by decoys (shuffled copies of the features, fitted beside them) "
        f"about **{false}** of these are selected by chance. Of all features that one refit "
        f"selects, chance explains about {percent(found.false_share, 0)}."
    )


def feature_table(found: Stability, data: Dataset) -> pd.DataFrame:
    """Return the features that are selected most often, and for which class they speak."""
    table = found.table(MOST_FEATURES)
    columns = np.array([one.column for one in table], dtype=np.intp)
    return pd.DataFrame(
        {
            "feature": [data.index.name(one.column) for one in table],
            "block": data.block_of(columns),
            "selected in": [percent(one.frequency, 0) for one in table],
            f"of these, for {data.classes[1]}": [percent(one.positive_share, 0) for one in table],
        }
    )


# --------------------------------------------------------------------------------------------------
# The four instability plots: Riley and Collins, Biometrical Journal 65 (2023) 2200302.


@dataclass(frozen=True, eq=False)
class Instability:
    """What the four plots show; curves are None where there are too few rows for one."""

    risk: tuple[FloatArray, FloatArray, FloatArray]
    classes: tuple[FloatArray, FloatArray]
    calibration: list[tuple[FloatArray, FloatArray]] | None
    decision: tuple[FloatArray, FloatArray] | None


def instability(found: Stability, positive: np.ndarray) -> Instability:
    """Compute what the four plots show."""
    calibration, decision = None, None
    try:
        calibration = found.calibration_instability(positive) or None
        decision = found.decision_instability(positive)
    except (DataError, np.linalg.LinAlgError):  # too few rows, or too few different risks
        pass
    return Instability(
        found.risk_instability(), found.classification_instability(), calibration, decision
    )


def instability_charts(drawn: Instability, noun: str) -> list[tuple[go.Figure, str]]:
    """Return the plots, each with what it shows in a sentence."""
    accent = charts.current_colour()
    risk, low, high = drawn.risk
    first = charts.figure("Risk", x="risk by the model", y="risk by refits", height=HEIGHT)
    middle = (low + high) / 2
    first.add_scatter(
        x=risk,
        y=middle,
        mode="markers",
        marker={"size": 3, "color": accent},
        error_y={"type": "data", "symmetric": False, "array": high - middle, "thickness": 1,
                 "arrayminus": middle - low, "width": 0},
        showlegend=False,
    )  # fmt: skip
    widest = percent(float(np.max(high - low)), 0)
    median = percent(float(np.median(high - low)), 0)
    at, share = drawn.classes
    second = charts.figure(
        "Answer", x="risk by the model", y="refits that change it", height=HEIGHT
    )
    second.add_scatter(
        x=at, y=share, mode="markers", marker={"size": 4, "color": accent}, showlegend=False
    )
    sure = percent(float(np.mean(share < 0.05)), 0)
    found = [
        (first, f"Each line holds 95 % of the refits' risks of a {noun}: half of the lines are "
         f"shorter than {median}, the longest is {widest}."),
        (second, f"The answer of {sure} of the {noun}s changes in fewer than one of 20 refits."),
    ]  # fmt: skip
    for chart in (first, second):
        chart.update_xaxes(range=[-0.01, 1.01], tickformat=".0%")
        chart.update_yaxes(range=[-0.01, 1.02], tickformat=".0%")
    if drawn.calibration is not None:
        chart = charts.figure("Calibration", x="risk stated", y="share observed", height=HEIGHT)
        _bundle(chart, drawn.calibration, accent)
        chart.update_xaxes(range=[-0.01, 1.01], tickformat=".0%")
        chart.update_yaxes(range=[-0.01, 1.02], tickformat=".0%")
        text = f"One line per refit, on {noun}s that it has not learnt from where there are any."
        found.append((chart, f"{text} The wider the bundle, the less the risks can be relied on."))
    if drawn.decision is not None:
        chart = charts.figure(
            "Net benefit", x="risk from which you would act", y="net benefit", height=HEIGHT
        )
        at, benefits = drawn.decision
        _bundle(chart, [(at, one) for one in benefits], accent)
        chart.update_xaxes(range=[0, 1], tickformat=".0%")
        top = max(float(np.nanmax(benefits)), 0.01)
        chart.update_yaxes(range=[-0.25 * top, 1.15 * top])
        found.append((chart, "One line per refit: where they lie apart, so does the benefit."))
    return found


def _bundle(chart: go.Figure, lines: list[tuple[FloatArray, FloatArray]], colour: str) -> None:
    """Draw many lines as one trace: a gap stands between two."""
    gap: list[Any] = [np.nan]
    chart.add_scatter(
        x=np.concatenate([np.r_[x, gap] for x, _ in lines]),
        y=np.concatenate([np.r_[y, gap] for _, y in lines]),
        mode="lines",
        line={"color": colour, "width": 1},
        opacity=0.2,
        showlegend=False,
        hoverinfo="skip",
    )
