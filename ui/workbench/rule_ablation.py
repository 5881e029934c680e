"""What each rule adds: the sliders' rules are fitted without each in turn, each fit tuned anew.

The fits are made one after another by a thread of its own, and the table grows as they come.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import pandas as pd
import streamlit as st

from hipad.rules import Budget, RuleAblation, RuleSet, leave_each_out
from hipad.utils import count, percent
from ui.jobs import BackgroundJob, budgeted_job
from ui.models import Request, TrainedModel
from ui.state import AppState
from ui.text import plain
from ui.workbench.cross_validation import fold_fits
from ui.workbench.refit import reselected_request
from ui.workbench.sliders import fit_key

SLOT: Final = "rule ablation"
SECONDS: Final = 600.0  # for all fits
UNSEEN_SECONDS: Final = 60.0
PLACES: Final = threading.BoundedSemaphore(2)  # of all sessions; checks of rules have their own
EVERY: Final = 0.5  # seconds between two looks


@dataclass(frozen=True)
class Ablation:
    """Rules that were left out so far, of how many, and how many patients judge them."""

    done: tuple[RuleAblation, ...]
    total: int
    n_patients: int = 0


def show(state: AppState, base: TrainedModel) -> None:
    """Draw the button, how far the fits are, and the table."""
    request = reselected_request(state, base)
    known, job = state.memo.get(SLOT, (None, None))
    key = (*fit_key(request), base)
    if job is not None and known != key:
        job.stop()
        state.memo.pop(SLOT)
        job = None
    st.subheader("What each rule adds", anchor=False)
    if st.button(
        "Leave each rule out",
        icon=":material/rule:",
        key="bench_adds",
        disabled=job is not None and not job.was_stopped,
        help="Fits the model again without each rule in turn, and counts the right answers.",
    ):
        job = budgeted_job(
            lambda budget: ablations(request, base, budget),
            seconds=SECONDS,
            unseen_seconds=UNSEEN_SECONDS,
            slots=PLACES,
        )
        state.memo[SLOT] = (key, job)
        job.launch()
    if job is None:
        st.caption("How many more answers would be wrong without a rule?")
        return
    word = "patient" if state.data is None else state.data.row_word(1)
    watched, was_done = cast(BackgroundJob[Ablation], job), not job.is_active

    def look() -> None:
        watched.seen()
        if not watched.is_active and not was_done:
            st.rerun()
        draw(watched, word)

    st.fragment(look, run_every=None if was_done else EVERY)()


def draw(job: BackgroundJob[Ablation], word: str = "patient") -> None:
    """Draw the table as far as it has come, or say why there is none; `word` is for a row."""
    found = job.outcome
    if job.error is not None:
        st.error(f"This cannot be computed: {plain(job.error, 400)}", icon=":material/error:")
        return
    if found is None or not found.total:
        st.caption("No rule is on." if not job.is_active else "The first model is being fitted ...")
        return
    done = len(found.done)
    if job.is_active:
        st.progress(done / found.total, f"{done} of {count(found.total, 'rule')}")
    elif done < found.total:
        st.caption(f"There was time for {done} of {count(found.total, 'rule')}.")
    if found.done:
        st.dataframe(
            pd.DataFrame([row(left, found.n_patients, word) for left in found.done]),
            hide_index=True,
            key="bench_added",
            alt="What each rule adds",
        )
        st.caption(words(found, word))


def ablations(request: Request, base: TrainedModel, budget: Budget) -> Iterator[Ablation]:
    """Fit without each rule in turn, for as long as the budget lasts."""
    rules = request.data.read(request.rules).rules
    total, n_patients = sum(rule.enabled for rule in rules), base.judgement.accuracy.n

    def score(some: RuleSet) -> float:
        asked = replace(request, rules=str(some))
        if base.judgement.part == "test":
            return float(asked.fit(like=base).judgement.accuracy.value)
        *_, found = fold_fits(asked, budget)
        return found.judge(request.data.classes).accuracy.value if found.is_done else math.nan

    done: tuple[RuleAblation, ...] = ()
    yield Ablation(done, total, n_patients)
    for left in leave_each_out(rules, score):
        if math.isnan(left.gain):  # the time was over before all folds were done
            return
        done = (*done, left)
        yield Ablation(done, total, n_patients)
        if budget.is_spent:
            return


def row(left: RuleAblation, n_patients: int, word: str = "patient") -> dict[str, Any]:
    """Return right answers with and without one rule, and the difference in patients."""
    n = gained(left, n_patients)
    return {
        "rule": left.label,
        "right answers with it": percent(left.with_rule),
        "without it": percent(left.without_rule),
        "it adds": f"{n:+,d} {word if abs(n) == 1 else f'{word}s'}" if n else "nothing",
    }


def gained(left: RuleAblation, n_patients: int) -> int:
    """Return by how many patients more are right with the rule; below zero it does harm."""
    return round(left.gain * n_patients)


def words(found: Ablation, word: str = "patient") -> str:
    """Say which rule matters most."""
    best = max(found.done, key=lambda left: left.gain)
    n = gained(best, found.n_patients)
    of = f"of {count(found.n_patients, word)}"
    if n <= 0:
        return f"No rule adds right answers by itself, {of}."
    return f"{plain(best.label)} adds most: without it {n} more {of} would be wrong."
