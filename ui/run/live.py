"""The stage of the Run page: a run while it works and when it is done, played by the browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import streamlit as st

from ui.dataset import Dataset
from ui.jobs import Job, JobStatus
from ui.looking import keep_looking
from ui.run import duel, player, relaxing
from ui.run.mosaic import Mosaic
from ui.run.story import Story
from ui.run.telling import story_of
from ui.run.truth import relevant_features
from ui.state import AppState
from ui.words import plain

RUN, PATH = "The run", "As sparsity is relaxed"
PATH_SLOT: Final = "relaxed path"


def choose(state: AppState) -> str:
    """What to watch."""
    return str(
        st.segmented_control(
            "Show",
            [RUN, PATH],
            default=RUN,
            required=True,
            key=f"show_what_{state.version}",
            label_visibility="collapsed",
            help="The steps of the run; or the same data fitted again and again with ever more "
            "features allowed.",
        )
    )


def show(state: AppState, chosen: str) -> None:
    """Draw the player; while a job works it is given new steps again and again."""
    data = state.data
    assert data is not None
    jobs = path_jobs(state) if chosen == PATH else run_jobs(state)

    def draw() -> None:
        if [*map(id, path_jobs(state) if chosen == PATH else run_jobs(state))] != [*map(id, jobs)]:
            st.rerun()
        stories = path_stories(state, data) if chosen == PATH else run_stories(state, data)
        has_rules = bool(state.request().rules.strip())
        player.show(
            stories,
            key="run_show",
            label=f"{chosen}: {plain_name(data)}",
            classes=data.classes,
            ask=lambda: duel.launch_other(state),
            can_ask=chosen == RUN and has_rules and not any(job.is_active for job in jobs),
        )
        if chosen == PATH and jobs[0].status is JobStatus.FAILED:
            st.error(plain(jobs[0].error, 400), icon=":material/error:")

    keep_looking(jobs, draw)


def plain_name(data: Dataset) -> str:
    return f"{data.name}, {data.n_features:,} features"


def run_jobs(state: AppState) -> list[Job[Any]]:
    """The present run and the one beside it."""
    return [job for job in (state.job, duel.other_run(state)) if job is not None]


def path_jobs(state: AppState) -> list[Job[Any]]:
    """The fits along the path, begun at the first look."""
    asked = state.request()
    key = (asked.data, asked.rules, tuple(sorted(asked.blocks.items())), asked.settings)
    known = state.memo.get(PATH_SLOT)
    if known is not None and known[0] != key:
        known[1].stop()

    def begin() -> Job[list[relaxing.RelaxPoint]]:
        job = relaxing.relaxing(asked)
        job.launch()
        return job

    job = state.remember(PATH_SLOT, key, begin)
    if job.status is JobStatus.STOPPED:  # it was out of sight for too long
        job.go_on()
    return [job]


def mosaic_of(state: AppState, data: Dataset) -> Mosaic:
    """The image of all features, made once for data and blocks."""
    return state.remember(
        "mosaic", data, lambda: Mosaic.of(data, relevant_features(state.loaded, data))
    )


def run_stories(state: AppState, data: Dataset) -> list[Story]:
    """The present run, and the one beside it, with the rules first."""
    mosaic, jobs = mosaic_of(state, data), run_jobs(state)
    names = duel.titles(state) if len(jobs) > 1 else ("",)
    told = [
        _remembered(state, k, job, mosaic, name)
        for k, (job, name) in enumerate(zip(jobs, names, strict=True))
    ]
    if not told:
        return [story_of(None, mosaic, title="", expert=state.expert)]
    return sorted(told, key=lambda story: story.title != duel.WITH)


def _remembered(state: AppState, k: int, job: Job[Any], mosaic: Mosaic, title: str) -> Story:
    key = (id(job), len(job.history), job.status, title, state.expert, id(mosaic))
    return state.remember(
        f"story {k}", key, lambda: story_of(job, mosaic, title=title, expert=state.expert)
    )


def path_stories(state: AppState, data: Dataset) -> list[Story]:
    """The path, as far as it has come."""
    (job,) = path_jobs(state)
    mosaic, model = mosaic_of(state, data), state.model
    used = None if model is None else float(model.classifier.lambda1_)
    points = job.outcome
    if points is None:
        waiting = story_of(None, mosaic, title=PATH)
        return [replace(waiting, state=relaxing.steps_done(job), live=job.is_active)]
    key = (id(job), used, id(mosaic))
    return [
        state.remember(
            "path story", key, lambda: relaxing.story_of_path(points, mosaic, data, used)
        )
    ]
