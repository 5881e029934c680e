"""What the Run page lets one watch: the run, the same without rules, or the path of sparsity."""

from __future__ import annotations
from typing import Final, cast
from ui.jobs import Job
from ui.models import TrainedModel
from ui.state import AppState
from typing import Any, Final
import streamlit as st
from ui.dataset import Dataset
from ui.jobs import Job, JobStatus
from ui.looking import keep_looking
from ui.run import duel
from ui.run.replay import player
from ui.run.replay.mosaic import Mosaic
from ui.run.replay.relaxing import RelaxedPath, story_of_path
from ui.run.replay.run_story import story_of
from ui.run.replay.story import Story
from ui.run.replay.truth import true_signs
from ui.words import plain

# --------------------------------------------------------------------------------------------------
# The same run with the rules and without them, side by side.


SLOT: Final = "other run"
WITH, WITHOUT = "With the rules", "Without the rules"


def other_run(state: AppState) -> Job[TrainedModel] | None:
    """The run that stands beside the present one: the same with the rules turned."""
    beside, kept = state.memo.get(SLOT, (None, None))
    return cast(Job[TrainedModel], kept[0]) if kept and beside is state.job else None


def titles(state: AppState) -> tuple[str, str]:
    """What the present run and the one beside it are called."""
    _, (_, other_has_rules) = state.memo[SLOT]
    return (WITHOUT, WITH) if other_has_rules else (WITH, WITHOUT)


def launch_both(state: AppState, *, speed: float | None = None) -> None:
    """Start the run, and beside it the same with the rules turned."""
    state.launch(speed=speed)
    launch_other(state)


def launch_other(state: AppState) -> None:
    """Start the run with the rules turned, beside the present one."""
    if state.job is None:
        state.launch()
    leave_other(state)
    has_rules = not state.settings.use_rules
    turned = state.settings.changed(use_rules=has_rules)
    job = state.request(settings=turned).job()
    state.memo[SLOT] = (state.job, (job, has_rules))
    job.launch()


def leave_other(state: AppState) -> None:
    """Forget the run beside, and end it if it works."""
    _, kept = state.memo.pop(SLOT, (None, None))
    if kept:
        kept[0].stop()


# --------------------------------------------------------------------------------------------------
# The stage of the Run page: a run while it works and when it is done, played by the browser.


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
    jobs = jobs_of(state, chosen)

    def draw() -> None:
        if [*map(id, jobs_of(state, chosen))] != [*map(id, jobs)]:
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


def jobs_of(state: AppState, chosen: str) -> list[Job[Any]]:
    """The work behind what is watched."""
    return [path_of(state).job] if chosen == PATH else run_jobs(state)


def plain_name(data: Dataset) -> str:
    return f"{data.name}, {data.n_features:,} features"


def run_jobs(state: AppState) -> list[Job[Any]]:
    """The present run and the one beside it."""
    return [job for job in (state.job, duel.other_run(state)) if job is not None]


def path_of(state: AppState) -> RelaxedPath:
    """The fits along the path, begun at the first look."""
    asked = state.request()
    key = (asked.data, asked.rules, tuple(sorted(asked.blocks.items())), asked.settings)
    known = state.memo.get(PATH_SLOT)
    if known is not None and known[0] != key:
        known[1].job.stop()
    path = state.remember(PATH_SLOT, key, lambda: RelaxedPath.of(asked))
    if path.job.status is JobStatus.STOPPED:  # it was out of sight for too long
        path.job.go_on()
    return path


def mosaic_of(state: AppState, data: Dataset) -> Mosaic:
    """The image of all features, made once for data and blocks."""
    return state.remember("mosaic", data, lambda: Mosaic.of(data, true_signs(state.loaded, data)))


def run_stories(state: AppState, data: Dataset) -> list[Story]:
    """The present run, and the one beside it, with the rules first."""
    mosaic, jobs = mosaic_of(state, data), run_jobs(state)
    if not jobs:
        return [story_of(None, mosaic, title="", expert=state.expert)]
    names = duel.titles(state) if len(jobs) > 1 else ("",)
    told = [
        _remembered(state, k, job, mosaic, name)
        for k, (job, name) in enumerate(zip(jobs, names, strict=True))
    ]
    return sorted(told, key=lambda story: story.title != duel.WITH)


def _remembered(state: AppState, k: int, job: Job[Any], mosaic: Mosaic, title: str) -> Story:
    key = (id(job), len(job.history), job.status, title, state.expert, id(mosaic))
    return state.remember(
        f"story {k}", key, lambda: story_of(job, mosaic, title=title, expert=state.expert)
    )


def path_stories(state: AppState, data: Dataset) -> list[Story]:
    """The path, as far as it has come."""
    path, mosaic, model = path_of(state), mosaic_of(state, data), state.model
    key = (id(path), len(path.points), path.job.status, id(model), id(mosaic), state.expert)
    return [
        state.remember(
            "path story",
            key,
            lambda: story_of_path(path, mosaic, data, model, expert=state.expert),
        )
    ]
