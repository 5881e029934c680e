"""What the Run page plays: the run, the same without rules beside it, or the path of sparsity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from hipad.solvers import Progress
from ui import feature_sheet, tour
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, JobStatus, poll
from ui.models import TrainedModel, TrainingJob
from ui.run import lie_detector, race, run_controls
from ui.run.replay import player
from ui.run.replay.feature_grid import FeatureGrid, true_signs
from ui.run.replay.path_animation import SparsityPath, path_story, steps_done
from ui.run.replay.run_animation import counted_rules, run_story, state_of
from ui.run.replay.story import Story, with_shared_axes
from ui.state import AppState
from ui.text import plain

RUN, PATH, RACE, WORTH = "The run", "Many to few", "The race", "Worth"
WITH, WITHOUT = "With the rules", "Without the rules"
PATH_SLOT: Final = "sparsity path"
KEY: Final = "run_show"


def choose(state: AppState) -> str:
    """Return what to watch."""
    return str(
        st.segmented_control(
            "Show",
            [RUN, PATH, RACE, WORTH],
            default=RUN,
            required=True,
            key=f"show_what_{state.version}",
            label_visibility="collapsed",
            help="The steps of the run; the same data fitted again and again with ever fewer "
            "features allowed, with the rules and without them; a race against other methods; or "
            "how many labelled patients the rules are worth.",
        )
    )


def jobs_of(state: AppState, chosen: str) -> list[BackgroundJob[Any]]:
    """Return the work behind what is watched."""
    jobs: list[BackgroundJob[Any]] = [] if state.job is None else [*state.job.work]
    if chosen == RACE and (found := race.race_of(state)) is not None:
        return [*jobs, found[0]]
    return [*jobs, path_of(state).job] if chosen == PATH else jobs


def watch(state: AppState, chosen: str, draw: Callable[[], None]) -> None:
    """Draw now and, while there is work, again; the whole page anew when there is more to say."""
    jobs, model = jobs_of(state, chosen), state.model

    def look() -> None:
        is_new = state.model is not model and model is not None
        if jobs_of(state, chosen) != jobs or is_new or feature_sheet.is_asked(state):
            st.rerun()
        draw()

    poll(jobs, look)


def show(state: AppState, chosen: str) -> None:
    """Draw the player; while a job works it is given new steps again and again."""
    data = state.data
    assert data is not None
    if chosen == RACE:
        race.show(state)
        return
    stories = path_stories(state, data) if chosen == PATH else run_stories(state, data)
    live = any(story.live for story in stories)
    apart = tour.at() == tour.APART and len(stories) > 1
    player.show(
        with_shared_axes(stories),
        key=KEY,
        label=f"{chosen}: {plain_name(state, data)}{', side by side' if apart else ''}",
        classes=data.classes,
        plays="" if live else played_once(state, f"{chosen}{' apart' * apart}", stories),
        both=chosen == PATH or apart,
        algorithm=state.expert,
        actions=actions(state),
        act=lambda what: act(state, what),
    )
    if chosen == PATH and path_of(state).job.status is JobStatus.FAILED:
        st.error(plain(path_of(state).job.error, 400), icon=":material/error:")


def played_once(state: AppState, chosen: str, stories: Sequence[Story]) -> str:
    """Return a name of what is played by itself, once; empty where there is nothing to play."""
    job = path_of(state).job if chosen.startswith(PATH) else state.job
    if job is None or not job.is_final or not len(stories[0].places):
        return ""
    return f"{chosen} {id(job)} {len(job.history)}"


def actions(state: AppState) -> list[tuple[str, str]]:
    """Return what a presenter can do now: names of actions, and the words on their buttons."""
    return [*run_controls.actions(state), *lie_detector.actions(state)]


def act(state: AppState, what: str) -> None:
    """Do what the presenter asked for, if it can still be done."""
    if what.startswith("feature ") and state.data is not None:
        cells = grid_of(state, state.data).cell_of
        feature_sheet.ask_cell(state, what.removeprefix("feature "), cells)
    elif what in dict(run_controls.actions(state)):
        run_controls.act(state, what)
    elif what in dict(lie_detector.actions(state)):
        lie_detector.act(state, what)


def plain_name(state: AppState, data: Dataset) -> str:
    """Return the data's name, size and, of a draw, its seed."""
    recipe = {} if state.loaded is None else state.loaded.recipe
    seed = f", seed {recipe['seed']}" if "seed" in recipe else ""
    return f"{data.name}, {data.n_features:,} features{seed}"


def path_of(state: AppState) -> SparsityPath:
    """Return the fits along the path, begun at the first look and again after each run."""
    asked, model = state.request(), state.model
    made = model is not None and asked.made(model)
    key = (asked.data, asked.rules, tuple(sorted(asked.blocks.items())), asked.settings, made)
    known = state.memo.get(PATH_SLOT)
    if known is not None and known[0] != key:
        known[1].job.stop()

    def begin() -> SparsityPath:
        sides = [asked]
        if asked.settings.use_rules and asked.rules.strip():
            sides.append(state.request(settings=asked.settings.changed(use_rules=False)))
        return SparsityPath.of(sides, model.classifier.lambda1_ if made and model else None)

    path = state.remember(PATH_SLOT, key, begin)
    if path.job.status is JobStatus.STOPPED:  # it was out of sight for too long
        path.job.go_on()
    return path


def grid_of(state: AppState, data: Dataset) -> FeatureGrid:
    """Return the image of all features, made once for data and blocks."""
    return state.remember(
        "feature grid", data, lambda: FeatureGrid.of(data, true_signs(state.loaded, data))
    )


def run_stories(state: AppState, data: Dataset) -> list[Story]:
    """Return the present run, and the one without rules as soon as it is over."""
    grid, job = grid_of(state, data), state.job
    if job is None:
        return [run_story((), None, grid, data, state=state_of(None), expert=state.expert)]
    model = None if job.is_active else job.outcome
    if job.alone is None:
        return [_remembered(state, job, job.history, model, grid, "")]
    return [
        _remembered(state, job, job.history, model, grid, WITH),
        _remembered(state, job, job.comparison.history, job.alone, grid, WITHOUT),
    ]


def _remembered(
    state: AppState,
    job: TrainingJob,
    history: Sequence[Progress],
    model: TrainedModel | None,
    grid: FeatureGrid,
    title: str,
) -> Story:
    key = (id(job), len(history), job.status, id(model), title, state.expert, id(grid))
    data = job.request.data
    return state.remember(
        f"story {title == WITHOUT}",
        key,
        lambda: run_story(
            history[:],
            model,
            grid,
            data,
            title=title,
            rule_names=() if title == WITHOUT else counted_rules(job, model),
            live=job.is_active,
            state=state_of(job),
            expert=state.expert,
        ),
    )


def path_stories(state: AppState, data: Dataset) -> list[Story]:
    """Return the path, as far as it has come, with the rules first."""
    path, grid, job = path_of(state), grid_of(state, data), state.job
    made = state.model is not None and state.request().made(state.model)
    models: list[TrainedModel | None] = [None, None]
    if made and job is not None:
        models = [state.model, job.alone]
    titles = (WITH, WITHOUT) if len(path.points) > 1 else ("",)
    sizes = tuple(map(len, path.points))
    key = (id(path), sizes, path.job.status, *map(id, models), id(grid), state.expert)
    return state.remember(
        "path story",
        key,
        lambda: [
            path_story(
                points[:],
                model,
                grid,
                data,
                title=title,
                live=path.job.is_active,
                state=steps_done(path.job),
                expert=state.expert,
            )
            for points, model, title in zip(path.points, models, titles, strict=False)
        ],
    )
