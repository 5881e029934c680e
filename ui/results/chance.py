"""Where chance lies: the same versions of rules and settings, judged on shuffled outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.cross_validation import (
    ChanceFigures,
    CrossValidation,
    corrected_figure,
    cross_fit,
    shuffled_outcomes,
)
from hipad.utils import FloatArray, IntArray, count, percent
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob, JobStatus, poll
from ui.models import Request
from ui.results.assessment import RequestFits
from ui.state import AppState
from ui.text import plain

JOB: Final = "results_chance_job"
SHUFFLES: Final = 20
METRIC: Final = "balanced_accuracy"


def chance_job(requests: Sequence[Request], shuffles: int = SHUFFLES) -> BackgroundJob[Any]:
    """Return a job that repeats some fits, each with all its choices, on shuffled outcomes.

    Its outcome grows with each shuffle. After a stop the job goes on where it was.
    """
    begun: list[Iterator[None]] = []

    def steps(job: BackgroundJob[ChanceFigures]) -> Iterator[None]:
        if not begun:
            begun.append(_work(job, requests, shuffles))
        for _ in begun[0]:
            yield
            SCHEDULER.give_way()

    return BackgroundJob(steps, name="the figures of chance")


def _work(
    job: BackgroundJob[ChanceFigures], requests: Sequence[Request], shuffles: int
) -> Iterator[None]:
    data = requests[0].data
    groups = data.groups_train
    corrected: list[float] = []
    uncorrected: list[float] = []
    for k in range(shuffles):
        outcomes = shuffled_outcomes(data.y_train, groups, random_state=k)
        shuffled = replace(data, y_train=outcomes, key=f"{data.key}, shuffled {k}")
        scores: list[FloatArray] = []
        for number, request in enumerate(requests):
            asked = replace(request, data=shuffled.with_blocks(request.blocks))
            for own in out_of_fold(asked, shuffled):
                share = (number + own.done / own.total) / len(requests)
                job.progress = (k + share) / shuffles
                job.message = f"Shuffle {k + 1} of {shuffles}"
                yield
            sign = 1.0 if str(np.unique(own.y)[1]) == data.classes[1] else -1.0
            scores.append(sign * own.scores)
        positive = outcomes == data.classes[1]
        found = corrected_figure(np.column_stack(scores), positive, METRIC, groups=groups)
        corrected.append(found.corrected.value)
        uncorrected.append(found.uncorrected)
        job.outcome = ChanceFigures(tuple(corrected), tuple(uncorrected))
        yield
    job.progress = 1.0


def out_of_fold(request: Request, data: Dataset) -> Iterator[CrossValidation]:
    """Yield the cross-validation of a fit as it grows."""
    fits = RequestFits(request)

    def start(learnt: IntArray) -> Any:
        return fits.start(learnt, rules=True)

    def score(fitted: Any, held: IntArray) -> Any:
        return fitted.decision_function(data.X_train[held])

    yield from cross_fit(CrossValidation.of(data.y_train, groups=data.groups_train), start, score)


def show(
    state: AppState, requests: Sequence[Request], found: Assessment, shown: float | None
) -> None:
    """Draw the button, how far the work is, and what chance gives.

    `shown` is the corrected figure of the versions that were tried, where it is known.
    """
    job: BackgroundJob[Any] = state.remember(
        JOB, (found.names.size, len(requests), requests[0].data), lambda: chance_job(requests)
    )
    if job.status is JobStatus.FAILED:
        st.error(f"The fits to shuffled outcomes failed: {plain(job.error, 600)}")
        return
    if job.is_active:
        poll(job, lambda: _progress(job))
        return
    if job.outcome is not None:
        st.markdown(sentence(job.outcome, len(requests), shown))
    if not job.is_final:
        label = "Go on with shuffled outcomes" if job.was_stopped else "Where does chance lie?"
        if st.button(
            label,
            icon=":material/shuffle:",
            key="results_chance",
            help=f"Fits {count(len(requests), 'version')} of rules and settings again to outcomes "
            f"in random order, {SHUFFLES} times with all folds: what they then reach is chance.",
        ):
            job.launch()
            st.rerun()


def _progress(job: BackgroundJob[Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.progress or 0.0, text=job.message or "The fits wait for a free place")
        st.button("Stop", icon=":material/stop:", key="results_chance_stop", on_click=job.stop)


def sentence(found: ChanceFigures, versions: int, shown: float | None) -> str:
    """Say what the same versions reach when outcomes are shuffled.

    >>> sentence(ChanceFigures((0.5, 0.48, 0.54), (0.56, 0.5, 0.6)), 1, 0.7)
    'On outcomes in random order (3 shuffles) this version reaches a balanced accuracy of **50.7 %** on average, at most 54.0 %. A figure as good as yours came up in none of them.'
    """  # noqa: E501
    n = len(found.corrected)
    whose = (
        "this version reaches" if versions == 1 else f"the best of {versions:,} versions reaches"
    )
    told = "" if versions == 1 else ", corrected for the choice"
    words = (
        f"On outcomes in random order ({count(n, 'shuffle')}) {whose} a balanced accuracy "
        f"of **{percent(float(np.mean(found.corrected)))}** on average{told}, at most "
        f"{percent(max(found.corrected))}"
    )
    if versions > 1:
        words += f"; uncorrected it would be {percent(float(np.mean(found.uncorrected)))}"
    if shown is None:
        return f"{words}."
    as_good = sum(one >= shown for one in found.corrected)
    times = "none" if not as_good else f"{as_good:,}"
    return f"{words}. A figure as good as yours came up in {times} of them."
