"""The race: the same task for HIPAD-ENK, for its phase 1 alone, and for LIBSVM, in three lanes.

All learn from the same rows; HIPAD-ENK and ADMM-ENK solve the same problem, at the lambda1 and
lambda2 of the present model. A lane's seconds are those that its thread computed, measured here and
now, one lane after the other. The browser shows them with one factor for all lanes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import streamlit as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from hipad.solvers import Progress
from hipad.solvers.solution import single_thread
from hipad.utils import count, number, percent
from ui import charts
from ui.jobs import BackgroundJob, JobStatus, fit_job
from ui.models import FITTED, Request, TrainedModel
from ui.state import AppState
from ui.text import plain

SLOT: Final = "race"
SHOWN_SECONDS: Final = 8.0  # that the slowest lane takes on the screen
LANES: Final = ("HIPAD-ENK", "ADMM-ENK", "LIBSVM")
FOLDER: Final = Path(__file__).parent / "replay" / "browser"
TRACK: Final = st.components.v2.component(
    "hipad_race",
    js=(FOLDER / "race.js").read_text("utf-8"),
    css=(FOLDER / "race.css").read_text("utf-8"),
)


@dataclass(frozen=True)
class Lane:
    """How long a method took, and what came out; `judged` is 0 where no row may judge."""

    name: str
    seconds: float
    right: int
    judged: int
    features: int

    @property
    def words(self) -> str:
        """What stands at the finish."""
        features = count(self.features, "feature")
        if not self.judged:
            return f"{number(self.seconds, 2)} s, {features}"
        share = percent(self.right / self.judged)
        return f"{number(self.seconds, 2)} s, {share} right, {features}"


class Race:
    """A run in the sense of a job: one lane after the other."""

    def __init__(self, request: Request, model: TrainedModel) -> None:
        """Of what the model was asked for; `lanes` grow as it goes, for other threads."""
        classifier = model.classifier
        settings = request.settings.changed(
            fewness="exact", lambda1=classifier.lambda1_, lambda2=classifier.lambda2_
        )
        self._request = replace(request, settings=settings, trust=None)
        self.lanes: list[Lane] = []
        self._steps = self._generate()

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        return next(self._steps)

    def stop(self) -> None:
        """Nothing to do: it rests between two lanes."""

    def resume(self) -> None:
        """Nothing to do: the next lane goes on."""

    def finish(self) -> list[Lane]:
        """Return the lanes."""
        return self.lanes

    def _generate(self) -> Iterator[Progress]:
        for name, method in zip(LANES[:2], ("auto", "admm"), strict=True):
            settings = self._request.settings.changed(method=method)
            self.lanes.append(enk_lane(name, replace(self._request, settings=settings)))
            yield FITTED
        self.lanes.append(libsvm_lane(self._request))
        yield FITTED


def enk_lane(name: str, request: Request) -> Lane:
    """Return how long a fit takes that begins with the rows as they are."""
    with single_thread():
        begun = time.thread_time()
        run = request.start(quick=True)
        for _ in run:
            pass
        classifier = run.finish()
        seconds = time.thread_time() - begun
    model = request.model(classifier)
    report = model.judgement
    right, n = (report.accuracy.k, report.accuracy.n) if report.part == "test" else (0, 0)
    return Lane(name, seconds, right, n, model.support.size)


def libsvm_lane(request: Request) -> Lane:
    """Return how long LIBSVM takes with C = 1, on features that are scaled where HIPAD's are."""
    data, settings = request.data, request.settings
    X, judged = _short_indices(data.X_train), data.judged
    scaler: Any = FunctionTransformer()
    if settings.standardize:
        scaler = StandardScaler(with_mean=not sparse.issparse(X))
    svc = make_pipeline(scaler, SVC(kernel="linear", class_weight=settings.class_weight))
    with single_thread():
        begun = time.thread_time()
        svc.fit(X, data.y_train)
        seconds = time.thread_time() - begun
    if judged.part != "test":
        return Lane(LANES[2], seconds, 0, 0, data.n_features)
    right = int(np.sum(svc.predict(_short_indices(judged.X)) == judged.y))
    return Lane(LANES[2], seconds, right, len(judged.y), data.n_features)


def _short_indices(X: Any) -> Any:
    """Return the same matrix; a sparse one with indices of 32 bits, as LIBSVM takes no others."""
    if not sparse.issparse(X):
        return X
    rows = sparse.csr_array(X)
    parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=rows.shape)


def factor_of(lanes: list[Lane]) -> float:
    """Return how many times slower the lanes are shown, a round number.

    >>> factor_of([Lane("a", 0.2, 1, 1, 1), Lane("b", 0.01, 1, 1, 1)])
    40.0
    """
    wished = SHOWN_SECONDS / max(max(lane.seconds for lane in lanes), 1e-6)
    return float(f"{wished:.2g}")


def factor_words(factor: float) -> str:
    """Return the factor in words.

    >>> factor_words(40.0), factor_words(0.5)
    ('Shown 40 times slower than measured.', 'Shown 2 times faster than measured.')
    >>> factor_words(1900.0)
    'Shown 1,900 times slower than measured.'
    """
    times, how = (factor, "slower") if factor >= 1 else (float(f"{1 / factor:.2g}"), "faster")
    shown = f"{times:,.0f}" if times >= 10 else number(times, 2)
    return f"Shown {shown} times {how} than measured."


def race_of(state: AppState) -> tuple[BackgroundJob[list[Lane]], list[Lane]] | None:
    """Return the race of the present model, begun at the first look; None without a model."""
    job, model = state.job, state.model
    if job is None or model is None or not job.is_final:
        return None

    def begin() -> tuple[BackgroundJob[list[Lane]], list[Lane]]:
        race = Race(job.request, model)
        own: BackgroundJob[list[Lane]] = fit_job(lambda: race, list)
        own.launch()
        return own, race.lanes

    found = state.remember(SLOT, id(job), begin)
    if found[0].status is JobStatus.STOPPED:  # it was out of sight for too long
        found[0].go_on()
    return found


def show(state: AppState) -> None:
    """Draw the lanes as soon as all have been measured."""
    found = race_of(state)
    if found is None:
        st.caption("The race begins after a run. Press **Run**.")
        return
    job, lanes = found
    if job.status is JobStatus.FAILED:
        st.error(plain(job.error, 400), icon=":material/error:")
    elif job.is_active:
        measured = ", ".join(lane.name for lane in lanes) or "none yet"
        st.caption(f"Measuring one method after the other. Done: {measured}.")
    else:
        members = 0 if state.model is None else len(state.model.classifier.members_)
        draw(lanes, f"race {id(job)}", averaged=members > 1)


def draw(lanes: list[Lane], plays: str, *, averaged: bool = False) -> None:
    """Draw the lanes; a new race is run once by itself."""
    factor = factor_of(lanes)
    data = {
        "lanes": [[lane.name, lane.seconds, lane.words] for lane in lanes],
        "factor": factor,
        "words": factor_words(factor),
        "colours": [charts.current_colour(), *[charts.rest_colour()] * (len(lanes) - 1)],
        "ground": charts.theme_option("backgroundColor") or "",
        "plays": plays,
    }
    TRACK(key="race_track", data=data)
    st.caption(
        "HIPAD-ENK and ADMM-ENK choose the features by the same problem, with the rules; HIPAD "
        "then fits the chosen ones once more without the penalty on their number (phase 2). "
        "LIBSVM (C = 1) learns from the data alone. Seconds of computing, measured one after the "
        "other on this machine, with lambda1 and lambda2 given: choosing them is not part of the "
        "race."
        + (" The result above is an average of several models, so its figures differ." * averaged)
    )
