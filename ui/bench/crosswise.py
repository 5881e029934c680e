"""Training patients judged crosswise: each by a model that has not seen them or their group.

Whoever tunes by looking at test patients flatters the model: the test patients then are no longer
new to it. These figures do not use them. The fits are made in a thread of its own, for the pinned
model once and for the sliders' model after every move.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np
import streamlit as st
from sklearn.model_selection import StratifiedGroupKFold

from hipad.errors import HipadError
from hipad.evaluation.judging import Judgement, judge
from hipad.rules import Budget
from hipad.wording import percent
from ui.dataset import Dataset
from ui.models import Request, TrainedModel
from ui.rules.check_job import CheckJob
from ui.settings import EXACT
from ui.state import AppState
from ui.words import plain

FOLDS: Final = 5
SECONDS: Final = 300.0
PLACES: Final = threading.BoundedSemaphore(1)  # of all sessions: slider moves come first
PAUSE: Final = 0.8  # seconds before the fits, so that a moved slider is answered first
EVERY: Final = 0.5  # seconds between two looks


@dataclass(frozen=True)
class Crossed:
    """How many folds are done, and the judgement when all are."""

    done: int
    total: int
    judgement: Judgement | None = None


def show(state: AppState, base: TrainedModel, other: TrainedModel) -> None:
    """Both models on the training patients, drawn as the figures come."""
    jobs = [_job(state, role, model) for role, model in (("old", base), ("new", other))]
    was_done = all(job.is_done for job in jobs)

    def look() -> None:
        for job in jobs:
            job.seen()
        _draw(jobs, (base.name, other.name))
        if not was_done and all(job.is_done for job in jobs):
            st.rerun()

    with st.container(key="bench_crosswise"):
        st.fragment(look, run_every=None if was_done else EVERY)()


def _draw(jobs: list[CheckJob[Crossed]], names: tuple[str, str]) -> None:
    told = [f"**{plain(name)}** {words(job)}" for name, job in zip(names, jobs, strict=True)]
    st.markdown(
        f"Training patients, crosswise: {'; '.join(dict.fromkeys(told))}.",
        help="Each training patient judged by a model that has not seen them.",
    )


def words(job: CheckJob[Crossed]) -> str:
    """Right answers and their interval, or how far they are."""
    if job.error is not None:
        return f"cannot be judged ({plain(job.error, 200)})"
    found = job.latest
    if found is None:
        return "waits"
    if found.judgement is None:
        return f"is being fitted ({found.done} of {found.total})"
    right = found.judgement.accuracy
    low, high = right.interval
    of = "" if right.patients is None else f", {right.whom}"
    return f"{percent(right.value)} right ({percent(low)} to {percent(high)}{of})"


def _job(state: AppState, role: str, model: TrainedModel) -> CheckJob[Crossed]:
    """The fits for one of the two models, begun anew when it is another one."""
    assert state.data is not None
    request = request_of(model, state.data)
    key = (
        state.data,
        request.rules,
        dict(request.blocks),
        request.settings,
        request.trust,
    )
    for name in ("crosswise old", "crosswise new"):  # the same model is judged once
        known = state.memo.get(name)
        if known is not None and known[0] == key and not known[1].was_left:
            state.memo[f"crosswise {role}"] = known
            return cast(CheckJob[Crossed], known[1])
    before = state.memo.get(f"crosswise {role}")
    if before is not None and role == "new":
        before[1].stop()
    job = CheckJob(
        lambda budget: _unhurried(request, budget),
        seconds=SECONDS,
        unseen_seconds=20.0,
        places=PLACES,
    )
    state.memo[f"crosswise {role}"] = (key, job)
    job.launch()
    return job


def _unhurried(request: Request, budget: Budget) -> Iterator[Crossed]:
    """The fits, begun when the page that asked for them is drawn."""
    if not budget.stop.wait(PAUSE):
        yield from crossed(request, budget)


def request_of(model: TrainedModel, data: Dataset) -> Request:
    """The fit that made a model, with the sparsity and the trust that it was found to need."""
    used = model.classifier
    settings = model.settings.changed(
        fewness=EXACT, lambda1=float(used.lambda1_), lambda2=float(used.lambda2_)
    )
    return Request(
        data.with_blocks(model.blocks),
        model.rules,
        model.blocks,
        settings,
        model.name,
        trust=used.members_ or model.trust,
    )


def crossed(request: Request, budget: Budget) -> Iterator[Crossed]:
    """Fit without each fold in turn, and judge all training patients at the end."""
    data = request.data
    groups = data.groups_train
    parts = folds(data.y_train, groups)
    if not parts:
        raise HipadError("expected two patients or groups or more of each class")
    scores = np.zeros(len(data.y_train))
    for done, (learnt, held) in enumerate(parts):
        yield Crossed(done, len(parts))
        run = replace(request, data=data.with_training(learnt)).start()
        for _ in run:
            if budget.is_spent:
                return
        fitted = request.model(run.finish())
        scores[held] = fitted.scores(data.X_train[held])
    judgement = judge(
        scores, data.y_train, data.classes, part="training", groups=groups, folds=len(parts)
    )
    yield Crossed(len(parts), len(parts), judgement)


def folds(y: np.ndarray, groups: np.ndarray | None) -> list[tuple[Any, Any]]:
    """Rows to learn from and rows to judge; every part has both classes to learn from.

    A group is never split. Where there is no choice of folds that allows it, there are none.
    """
    own = np.arange(len(y)) if groups is None else groups
    fewest = min((len(np.unique(own[y == name])) for name in np.unique(y)), default=0)
    if len(np.unique(y)) < 2 or fewest < 2:
        return []
    splitter = StratifiedGroupKFold(min(FOLDS, fewest), shuffle=True, random_state=0)
    parts = list(splitter.split(y, y, own))
    whole = all(len(np.unique(y[learnt])) == 2 and len(held) for learnt, held in parts)
    return parts if whole else []
