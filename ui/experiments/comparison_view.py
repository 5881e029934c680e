"""Other methods on the same data, and the model without each rule: figures, features, seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd
import streamlit as st

from hipad.data import to_csv
from hipad.evaluation.comparison import compare_rows
from hipad.evaluation.intervals import Estimate
from hipad.experiments.methods import (
    COMPARED,
    FOLDS,
    NEEDS_RULES,
    ExperimentData,
    MethodResult,
    compare_methods,
)
from hipad.rules import parse_rules
from hipad.utils import count, number, percent
from ui.experiments import experiment_panel
from ui.jobs import SCHEDULER, BackgroundJob, JobStatus, JobStopped, poll
from ui.state import AppState, BackgroundWork
from ui.text import plain

SLOT: Final = "method comparison"
LEADING: Final = ("HIPAD-ENK", "HIPAD")  # with rules where there are any, else without
FIGURE: Final = "balanced_accuracy"
WORDS: Final = {
    "HIPAD-ENK": "this program, with the rules",
    "HIPAD": "this program, without the rules",
    "ADMM-ENK": "its first phase alone, with the rules",
    "ADMM-ENSVM": "its first phase alone, without the rules",
    "exact elastic net": "elastic-net SVM, exact optimum, without the rules",
    "LIBSVM": "linear SVM, uses every feature, without the rules",
    "l1 logistic regression": "sparse logistic regression, without the rules",
    "elastic-net SGD": "elastic-net SVM by stochastic gradients, without the rules",
    "rules alone": "the rules vote, nothing is learnt",
    "rules as features": "logistic regression with a 0/1 column for each rule",
}


@dataclass(frozen=True)
class Arm:
    """One line of the table: a method, or the model without one rule."""

    name: str
    method: str
    data: ExperimentData


def arms_of(data: ExperimentData) -> list[Arm]:
    """Return every method that the data allow, then the model without each rule."""
    rules = parse_rules(data.rules) if data.rules.strip() else None
    usable = [name for name in COMPARED if rules or name not in NEEDS_RULES]
    found = [Arm(name, name, data) for name in usable]
    for position, label in enumerate(rules.labels if rules else ()):
        if rules is None or not rules[position].enabled:
            continue
        rest = rules.without(position)
        left = replace(data, rules=str(rest))
        method = LEADING[0] if any(rule.enabled for rule in rest) else LEADING[1]
        found.append(Arm(f"without {label}", method, left))
    return found


class Comparison(BackgroundWork):
    """The arms that are done, in their order; a stopped comparison goes on with the next one."""

    def __init__(self, data: ExperimentData, options: dict[str, Any]) -> None:
        self.data, self.options = data, options
        self.arms = arms_of(data)
        self.done: list[tuple[Arm, MethodResult]] = []
        self.share = 0.0
        self.job: BackgroundJob[None] = BackgroundJob(self.steps, name="the comparison")

    def stop(self) -> None:
        """End after the present fit."""
        self.job.stop()

    def steps(self, job: BackgroundJob[None]) -> Iterator[None]:
        """Do one arm after the other."""
        for arm in self.arms[len(self.done) :]:

            def progressed(done: int, total: int) -> None:
                self.share = (len(self.done) + done / total) / len(self.arms)
                SCHEDULER.give_way()

            found = list(
                compare_methods(
                    arm.data,
                    [arm.method],
                    options=self.options,
                    on_progress=progressed,
                    should_stop=job.must_stop,
                )
            )
            if not found:
                raise JobStopped
            self.done.append((arm, found[0]))
            yield


def show(state: AppState) -> None:
    """Draw the buttons, how far the fits are, and the table as it grows."""
    assert state.data is not None
    data, options = experiment_panel.with_judges(state), experiment_panel.options_of(state)
    judges = (
        f"{FOLDS}-fold cross-validation of the training {state.data.row_word()}"
        if data.split is None
        else f"the test {state.data.row_word()}, which are open in this sample"
    )
    st.caption(
        "Every method chooses its own settings by the same folds of the training data and is "
        f"judged by {judges}. The last lines leave out one rule each."
    )
    asked = (data.fingerprint, str(options))
    before, work = state.memo.get(SLOT, (None, None))
    if work is not None and before != asked:
        st.caption("These results were computed before your last change. Start again.")
    with st.container(horizontal=True):
        if work is not None and work.job.is_active:
            st.button("Stop", icon=":material/stop:", key="compare_stop", on_click=work.stop,
                      help="Stops after the present model. Finished lines are kept.")  # fmt: skip
        elif work is not None and before == asked and work.job.was_stopped:
            st.button("Continue", type="primary", icon=":material/play_arrow:", key="compare_go_on",
                      on_click=work.job.go_on, help="Finished lines are kept.")  # fmt: skip
        else:
            st.button("Start" if work is None else "Start again", icon=":material/play_arrow:",
                      type="primary" if work is None else "secondary", key="compare_start",
                      on_click=_begin, args=(state, asked, data, options),
                      help="Fits all methods; lines appear as they finish.")  # fmt: skip
    if work is not None:
        _follow(work)


def _follow(work: Comparison) -> None:
    """Draw how far it is, again and again while it works."""

    def look() -> None:
        if work.job.status is JobStatus.FAILED:
            st.error(plain(work.job.error, 600), icon=":material/error:")
        if work.job.is_active:
            following = work.arms[min(len(work.done), len(work.arms) - 1)].name
            st.progress(work.share, text=f"Now: {plain(following)}")
        if work.done:
            _draw(work)

    poll(work.job, look)


def _begin(state: AppState, asked: object, data: ExperimentData, options: dict[str, Any]) -> None:
    work = Comparison(data, options)
    state.memo[SLOT] = (asked, work)
    work.job.launch()


def _draw(work: Comparison) -> None:
    """Draw the sentence, the table and its download."""
    st.markdown(sentence(work))
    table = pd.DataFrame([line(work, arm, found) for arm, found in work.done])
    widths = {"method": 150, "difference": 150, "features": 70, "seconds": 70}
    columns = {name: st.column_config.Column(width=wide) for name, wide in widths.items()}
    st.dataframe(table, hide_index=True, alt="Methods compared", column_config=columns)
    lead = work.done[0][0].name
    st.caption(
        f"In brackets: 95 % intervals. Difference: balanced accuracy against {lead}, in percentage "
        f"points, on the same {count(len(work.done[0][1].rows), 'row')}; where the interval "
        "contains 0 it may be chance. Seconds: processor time of all fits, the choice of settings "
        "included."
    )
    st.download_button("Comparison (CSV)", to_csv(table.to_dict("list")), "comparison.csv",
                       "text/csv", icon=":material/download:", key="compare_csv",
                       on_click="ignore")  # fmt: skip


def sentence(work: Comparison) -> str:
    """Say which method has the best figure, and whether that is clear."""
    lead_arm, lead = work.done[0]
    methods = [(arm, found) for arm, found in work.done if arm.name in COMPARED]
    arm, best = max(methods, key=lambda one: one[1].figures[FIGURE].value)
    text = f"balanced accuracy {percent(best.figures[FIGURE].value)}"
    if arm is lead_arm:
        return f"**{plain(arm.name)}** ({WORDS[arm.name]}) is the best so far: {text}."
    change = difference(lead, best)
    clear = not change.low <= 0 <= change.high
    words = "clearly better" if clear else "within chance of"
    return f"**{plain(arm.name)}** ({WORDS[arm.name]}) has the best figure, {text}: {words}" + (
        f" than {lead_arm.name}." if clear else f" {lead_arm.name}."
    )


def difference(base: MethodResult, other: MethodResult) -> Estimate:
    """Return by how much the other one is better, on the same rows."""
    (change,) = compare_rows(base.rows, other.rows, (FIGURE,))
    return change.difference


def line(work: Comparison, arm: Arm, found: MethodResult) -> dict[str, str]:
    """Return one line of the table."""
    figures = found.figures
    values = {
        "method": arm.name,
        "right answers": _interval(figures["accuracy"]),
        "balanced accuracy": _interval(figures["balanced_accuracy"]),
        "ROC AUC": _interval(figures["roc_auc"]),
        "difference": "–",
        "features": f"{found.support:,.0f}",
        "seconds": number(found.seconds, 2),
        "what it is": WORDS.get(arm.name, "this program, with the other rules"),
    }
    if found is not work.done[0][1]:
        change = difference(work.done[0][1], found)
        points = (100 * value for value in (change.value, change.low, change.high))
        values["difference"] = "{:+.1f} ({:+.1f} to {:+.1f})".format(*points)
    return values


def _interval(one: Estimate) -> str:
    if one.value != one.value:
        return "–"
    return f"{percent(one.value)} ({100 * one.low:.1f} to {100 * one.high:.1f})"
