"""Training patients judged crosswise: each by a model that has not seen them or their group.

Whoever tunes by looking at test patients flatters the model: the test patients then are no longer
new to it. These figures do not use them. The whole fit is repeated without each fold: what a model
holds from an earlier one (lambda1, lambda2, trust) was learnt from all training patients, so it is
learnt anew here. The fits are made in a thread of its own, once for each set of rules and settings,
and go on where they were left. Until all are done there is no figure.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from hipad.evaluation.cross_validation import CrossValidation, cross_fit
from hipad.evaluation.metrics import ClassificationReport
from hipad.rules import Budget
from hipad.utils import IntArray, percent
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob, budgeted_job
from ui.models import Request, TrainedModel
from ui.state import AppState, BackgroundWork
from ui.text import plain

SLOT: Final = "crosswise"
SECONDS: Final = 3600.0  # for all folds
UNSEEN_SECONDS: Final = 20.0
PLACES: Final = threading.BoundedSemaphore(2)  # of all sessions: slider moves come first
PAUSE: Final = 0.8  # seconds before the fits, so that a moved slider is answered first
EVERY: Final = 0.5  # seconds between two looks
MOST_KNOWN: Final = 200  # judgements that a session remembers


@dataclass(frozen=True)
class Crossed:
    """How many folds are done, and the judgement when all are."""

    done: int
    total: int
    judgement: ClassificationReport | None = None


class Crosswise:
    """The folds of one fit: what is done of them, the job that goes on, whether it should."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.found: CrossValidation | None = None
        self.is_halted = False  # by the user, until the user goes on
        self.job = self._new_job()

    @property
    def is_busy(self) -> bool:
        return self.job.is_active

    @property
    def is_open(self) -> bool:
        """Whether there is more to do, and nothing forbids it."""
        whole = self.job.outcome is not None and self.job.outcome.judgement is not None
        return not (whole or self.is_halted or self.job.error is not None)

    def go_on(self) -> None:
        """Work at the folds that are left, unless that is under way."""
        self.is_halted = False
        if not self.job.is_active or self.job.stop_requested.is_set():
            latest, self.job = self.job.outcome, self._new_job()
            self.job.outcome = latest
            self.job.launch()

    def halt(self) -> None:
        """Stop, as the user asks; folds that are done are kept."""
        self.is_halted = True
        self.job.stop()

    def _new_job(self) -> BackgroundJob[Crossed]:
        job: BackgroundJob[Crossed] = budgeted_job(
            lambda budget: self._unhurried(budget),
            seconds=SECONDS,
            unseen_seconds=UNSEEN_SECONDS,
            slots=PLACES,
        )
        return job

    def _unhurried(self, budget: Budget) -> Iterator[Crossed]:
        """The fits, begun when the page that asked for them is drawn."""
        if budget.stop.wait(PAUSE):
            return
        for found in crossed(self.request, budget, self.found):
            self.found = found
            yield told(found, self.request.data)


class Works(dict[Any, Crosswise], BackgroundWork):
    """What is judged crosswise, by what it depends on."""

    def stop(self) -> None:
        for work in self.values():
            work.job.stop()


def show(state: AppState, base: TrainedModel, other: TrainedModel) -> None:
    """Both models on the training patients, drawn as the figures come."""
    works = [_work(state, model) for model in (base, other)]
    for work in _others(state, works):
        work.job.stop()
    for work in works:
        if work.is_open and not work.is_busy:
            work.go_on()
    was_done = not any(work.is_busy for work in works)

    def look() -> None:
        for work in works:
            work.job.seen()
        _draw(works, (base.name, other.name))
        if not was_done and not any(work.is_busy for work in works):
            st.rerun()

    with st.container(key="bench_crosswise"):
        st.fragment(look, run_every=None if was_done else EVERY)()
        _steer(works)


def _draw(works: list[Crosswise], names: tuple[str, str]) -> None:
    said = [f"**{plain(name)}** {words(work)}" for name, work in zip(names, works, strict=True)]
    st.markdown(
        f"Training patients, crosswise: {'; '.join(dict.fromkeys(said))}.",
        help="Each training patient judged by a model that has not seen them. Everything that a "
        "fit learns, its sparsity and its trust in rules included, is learnt anew without them.",
    )


def _steer(works: list[Crosswise]) -> None:
    """One button: stop what is under way, or go on with what was stopped."""
    if any(work.is_halted for work in works):
        if st.button("Go on judging", icon=":material/play_arrow:", key="bench_judge",
                     help="Fit without the folds that are left."):  # fmt: skip
            for work in works:
                if work.is_halted:
                    work.go_on()
            st.rerun()
    elif any(work.is_busy for work in works) and st.button(
        "Stop judging", icon=":material/stop:", key="bench_judge_stop",
        help="The folds that are done are kept.",
    ):  # fmt: skip
        for work in works:
            if work.is_busy:
                work.halt()
        st.rerun()


def words(work: Crosswise) -> str:
    """Right answers and their interval, or how far they are."""
    if work.job.error is not None:
        return f"cannot be judged ({plain(work.job.error, 200)})"
    found = work.job.outcome
    if found is not None and found.judgement is not None:
        right = found.judgement.accuracy
        low, high = right.interval
        of = "" if right.patients is None else f", {right.whom}"
        return f"{percent(right.value)} right ({percent(low)} to {percent(high)}{of})"
    if work.is_halted:
        return "is not judged" if found is None else f"stopped at {found.done} of {found.total}"
    return "waits" if found is None else f"is being judged ({found.done} of {found.total} done)"


def _work(state: AppState, model: TrainedModel) -> Crosswise:
    """The folds of what made a model, known by its rules and settings: none is judged twice."""
    assert state.data is not None
    request = request_of(model, state.data)
    works = _known(state, request.data)
    key = (request.rules, tuple(sorted(request.blocks.items())), request.settings, request.trust)
    if key not in works:
        for old in list(works)[: max(len(works) - MOST_KNOWN + 1, 0)]:
            works.pop(old).job.stop()
        works[key] = Crosswise(request)
    return works[key]


def _known(state: AppState, data: Dataset) -> Works:
    """The folds that this session knows of, for the training patients there are now."""
    rows = (id(data.X_train), id(data.y_train), data.classes)  # which blocks do not change
    return state.remember(SLOT, rows, Works)


def _others(state: AppState, works: list[Crosswise]) -> list[Crosswise]:
    """Those that nobody looks at now."""
    _, known = state.memo.get(SLOT, (None, Works()))
    return [work for work in known.values() if work not in works]


def request_of(model: TrainedModel, data: Dataset) -> Request:
    """The fit that makes a model anew, with all that was held from an earlier one learnt again."""
    held = isinstance(model.trust, tuple)
    return Request(
        data.with_blocks(model.blocks),
        model.rules,
        model.blocks,
        model.own_settings,
        model.name,
        trust="auto" if held else model.trust,
    )


def crossed(
    request: Request, budget: Budget, begun: CrossValidation | None = None
) -> Iterator[CrossValidation]:
    """Fit without each fold in turn, from where it was left, until the budget is spent."""
    data = request.data
    if begun is None:
        begun = CrossValidation.of(data.y_train, groups=data.groups_train)

    def start(learnt: IntArray) -> Any:
        return replace(request, data=data.with_training(learnt)).start(quick=True)

    def score(fitted: Any, held: IntArray) -> Any:
        return fitted.decision_function(data.X_train[held])

    for found in cross_fit(begun, start, score):
        yield found
        if budget.is_spent:
            return
        SCHEDULER.give_way()


def told(found: CrossValidation, data: Dataset) -> Crossed:
    """What the page says of folds."""
    judgement = found.judge(data.classes) if found.is_done else None
    return Crossed(found.done, found.total, judgement)
