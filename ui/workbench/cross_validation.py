"""Cross-validated figures on training patients, for the reference model and the other.

Test results look too good to whoever tunes by them: the test patients then are no longer new to the
model. These figures do not use them. The whole fit is repeated without each fold: what a model
holds from an earlier one (lambda1, lambda2, trust) was learnt from all training patients, so it is
learnt anew here. The fits are made in a thread of their own, once for each set of rules and
settings, and go on where they were left. Until all are done there is no figure.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.evaluation.cross_validation import CrossValidation, cross_fit
from hipad.evaluation.metrics import ClassificationReport, PositiveClassView
from hipad.rules import Budget
from hipad.utils import FloatArray, IntArray, percent
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob, budgeted_job
from ui.models import Request, TrainedModel
from ui.state import AppState, BackgroundWork
from ui.text import plain

SLOT: Final = "cross-validation"
SECONDS: Final = 3600.0  # for all folds
UNSEEN_SECONDS: Final = 20.0
PLACES: Final = threading.BoundedSemaphore(2)  # of all sessions: slider moves come first
PAUSE: Final = 0.8  # seconds before the fits, so that a moved slider is answered first
EVERY: Final = 0.5  # seconds between two looks
MOST_KNOWN: Final = 200  # judgements that a session remembers


@dataclass(frozen=True)
class FoldsDone:
    """How many folds are done, and the report when all are."""

    done: int
    total: int
    judgement: ClassificationReport | None = None


class FoldFits:
    """The folds of one fit: what is done of them, the job that goes on, whether it should."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.found: CrossValidation | None = None
        self.risks = np.full(len(request.data.y_train), np.nan)  # of rows whose folds are done
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

    def _new_job(self) -> BackgroundJob[FoldsDone]:
        job: BackgroundJob[FoldsDone] = budgeted_job(
            lambda budget: self._unhurried(budget),
            seconds=SECONDS,
            unseen_seconds=UNSEEN_SECONDS,
            slots=PLACES,
        )
        return job

    def _unhurried(self, budget: Budget) -> Iterator[FoldsDone]:
        """The fits, begun when the page that asked for them is drawn."""
        if budget.stop.wait(PAUSE):
            return
        for found in fold_fits(self.request, budget, self.found, self.risks):
            self.found = found
            yield progress(found, self.request.data)


class KnownFolds(dict[Any, FoldFits], BackgroundWork):
    """The fits of folds that a session knows, by what they depend on."""

    def stop(self) -> None:
        for work in self.values():
            work.job.stop()


HELP: Final = (
    "Each training patient is judged by a model that has not seen this patient. Everything that a "
    "fit learns, its sparsity and its trust in rules included, is learnt again without the "
    "patient. Even these figures become too good when you choose by them."
)


def show(state: AppState, base: TrainedModel, other: TrainedModel) -> None:
    """Draw the figures of both models as they come."""
    assert state.data is not None
    rows, said = state.data.row_word(), state.data.said
    works = at_work(state, [base, other])
    was_done = not any(work.is_busy for work in works)

    def look() -> None:
        for work in works:
            work.job.seen()
        named = zip((f"{base.name} (reference)", other.name), works, strict=True)
        parts = [f"**{plain(name)}** {words(work)}" for name, work in named]
        if works[0] is works[1]:
            del parts[1]
        st.markdown(
            f"Cross-validated on training {rows}: {'; '.join(parts)}",
            help=said(HELP),
        )
        if not was_done and not any(work.is_busy for work in works):
            st.rerun()

    with st.container(key="bench_crosswise"):
        st.fragment(look, run_every=None if was_done else EVERY)()
        _stop_or_continue(works)


def at_work(state: AppState, models: Sequence[TrainedModel]) -> list[FoldFits]:
    """Return the folds of models, and go on with them; nobody looks at those of others now."""
    works = [_work(state, model) for model in models]
    _, known = state.memo.get(SLOT, (None, KnownFolds()))
    for work in known.values():
        if work not in works:
            work.job.stop()
    for work in works:
        if work.is_open and not work.is_busy:
            work.go_on()
    return works


def judgement_of(state: AppState, model: TrainedModel) -> ClassificationReport | None:
    """Return how a model is judged: by test rows that are open, else by folds that are done."""
    if model.judgement.part == "test":
        return model.judgement
    found = _work(state, model).job.outcome
    return None if found is None else found.judgement


def _stop_or_continue(works: list[FoldFits]) -> None:
    """One button: stop what is under way, or go on with what was stopped."""
    if any(work.is_halted for work in works):
        if st.button("Continue cross-validation", icon=":material/play_arrow:", key="bench_judge",
                     help="Fit without the folds that are left."):  # fmt: skip
            for work in works:
                if work.is_halted:
                    work.go_on()
            st.rerun()
    elif any(work.is_busy for work in works) and st.button(
        "Stop cross-validation", icon=":material/stop:", key="bench_judge_stop",
        help="Results of the folds that are done are kept.",
    ):  # fmt: skip
        for work in works:
            if work.is_busy:
                work.halt()
        st.rerun()


def words(work: FoldFits) -> str:
    """Say how many answers are right, with the interval, or how far the folds are."""
    if work.job.error is not None:
        return f"cannot be cross-validated ({plain(work.job.error, 200)})"
    found = work.job.outcome
    if found is not None and found.judgement is not None:
        right = found.judgement.accuracy
        low, high = right.interval
        of = "" if right.patients is None else f", {right.whom}"
        return f"{percent(right.value)} right ({percent(low)} to {percent(high)}{of})"
    if work.is_halted:
        return "not started" if found is None else f"stopped at {found.done} of {found.total} folds"
    return "waiting ..." if found is None else f"{found.done} of {found.total} folds done ..."


def _work(state: AppState, model: TrainedModel) -> FoldFits:
    """Return the folds of what made a model, by its rules and settings: none is fitted twice."""
    assert state.data is not None
    return folds_of(state, request_of(model, state.data))


def folds_of(state: AppState, request: Request) -> FoldFits:
    """Return the folds of a fit, whoever asks for them: none is fitted twice."""
    data = request.data
    rows = (id(data.X_train), id(data.y_train), data.classes)  # which blocks do not change
    works = state.remember(SLOT, rows, KnownFolds)
    key = (request.rules, tuple(sorted(request.blocks.items())), request.settings, request.trust)
    if key not in works:
        for old in list(works)[: max(len(works) - MOST_KNOWN + 1, 0)]:
            works.pop(old).job.stop()
        works[key] = FoldFits(request)
    return works[key]


def request_of(model: TrainedModel, data: Dataset) -> Request:
    """Return the fit that makes a model anew, with all that was held learnt again."""
    held = isinstance(model.trust, tuple)
    return Request(
        data.with_blocks(model.blocks),
        model.rules,
        model.blocks,
        model.own_settings,
        model.name,
        trust="auto" if held else model.trust,
    )


def fold_fits(
    request: Request,
    budget: Budget,
    begun: CrossValidation | None = None,
    risks: FloatArray | None = None,
) -> Iterator[CrossValidation]:
    """Fit without each fold in turn, from where it was left, until the budget is spent.

    Risks of rows go into `risks`, if given.
    """
    data = request.data
    if begun is None:
        begun = CrossValidation.of(data.y_train, groups=data.groups_train)

    def start(learnt: IntArray) -> Any:
        return replace(request, data=data.with_training(learnt)).start(quick=True)

    def score(fitted: Any, held: IntArray) -> Any:
        scores = fitted.decision_function(data.X_train[held])
        if risks is not None:
            view = PositiveClassView(fitted, data.classes)
            risks[held] = view.risks(view.sign * scores)
        return scores

    for found in cross_fit(begun, start, score):
        yield found
        if budget.is_spent:
            return
        SCHEDULER.give_way()


def progress(found: CrossValidation, data: Dataset) -> FoldsDone:
    """Return what the page says of folds."""
    judgement = found.judge(data.classes, part="cross-validated") if found.is_done else None
    return FoldsDone(found.done, found.total, judgement)
