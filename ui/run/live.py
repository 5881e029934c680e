"""The live view of a run: figures and charts that follow the job while it works."""

from __future__ import annotations

import streamlit as st

from hipad.wording import count, number
from ui import charts
from ui.dataset import Dataset
from ui.jobs import Job, JobStatus
from ui.looking import keep_looking
from ui.models import TrainedModel
from ui.run import tracks
from ui.run.raster import raster
from ui.run.tracks import Track
from ui.state import AppState
from ui.words import listing


def show(state: AppState) -> None:
    """Draw the live view; while the job works it draws itself again and again."""
    job, data = state.job, state.data
    if job is not None and data is not None:
        keep_looking(job, lambda: _draw(job, data))


def _draw(job: Job[TrainedModel], data: Dataset) -> None:
    history = job.history[:]
    track = Track.of(history)
    figures = st.container()
    if any(record.phase == 0 for record in history) and len(history) > 1:
        chart, text = tracks.path(history)
        charts.show(chart, key="run_path", text=text)
    if not track.records:
        with figures:
            _figures(job, track)
        st.caption("Next comes phase 1." if history else "The first step is on its way.")
        return
    at = None if job.status is JobStatus.RUNNING else _scrubber(track, job, data)
    with figures:
        _figures(job, track.until(at))
    left, right = st.columns(2)
    with left:
        _chart("run_objective", tracks.objective(track, at))
        _chart("run_residuals", tracks.residuals(track, at))
    with right:
        _chart("run_support", tracks.support(track, history, at))
        if len(track.records[-1].rule_slacks):
            _chart("run_slacks", tracks.slacks(track, job.rule_names, at))
    _chart("run_raster", raster(history, data, at))


def _chart(key: str, drawn: tuple) -> None:
    chart, text = drawn
    charts.show(chart, key=key, text=text)


def _figures(job: Job[TrainedModel], track: Track) -> None:
    """The figures of the last step, or of the one that the reader looks at."""
    last = track.records[-1] if track.records else None
    status, phase, features, objective, time = st.columns(5)
    status.metric("Run", str(job.status), help="What the run is doing now.")
    phase.metric(
        "Step",
        f"{track.steps[-1] if track.steps else 0:,}",
        help="Steps of phase 1, which finds the features, and of phase 2, which fits them.",
    )
    features.metric(
        "Features in",
        "–" if last is None else f"{last.support_size:,}",
        help="Features that have a weight at this step.",
    )
    objective.metric(
        "Objective",
        "–" if last is None else number(tracks.shared(last), 5),
        help="What the run makes as small as it can: errors, broken rules and size of the weights.",
    )
    time.metric(
        "Computing time",
        "–" if last is None else f"{last.seconds:.2f} s",
        help="Time spent computing, without pauses and slow motion.",
    )


def _scrubber(track: Track, job: Job[TrainedModel], data: Dataset) -> int | None:
    """A slider through the steps of a run that rests, and what happened at the chosen one."""
    n = track.steps[-1]
    if n < 2:
        return None
    step = st.slider(
        "Look at step",
        1,
        n,
        n,
        key=f"scrub_{id(job)}_{n}",
        help="Go back through the run: the figures and the line in the charts follow.",
    )
    records = [record for record in job.history if record.phase > 0]
    record = records[step - 1]
    came, went = ([data.index.name(int(j)) for j in idx] for idx in (record.entered, record.left))
    words = [
        f"Step {step}, {tracks.PHASES[record.phase]}: {count(record.support_size, 'feature')} in, "
        f"objective {number(tracks.shared(record), 5)}"
    ]
    words += [f"entered: {listing(came)}"] if came else []
    words += [f"left: {listing(went)}"] if went else []
    st.markdown("; ".join(words) + ".")
    return step if step < n else None
