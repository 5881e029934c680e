"""The Run page where several classes are told apart: a model of each class against all others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from hipad import HIPADClassifier
from hipad.data import learning_rows, to_csv
from hipad.estimator.model_io import Origin, save_model
from hipad.evaluation.cross_validation import CrossValidation, cross_fit
from hipad.evaluation.metrics import Proportion, right_answers
from hipad.exceptions import DataError
from hipad.rules import RuleSet
from hipad.utils import FloatArray, IntArray, count, number, percent
from ui import charts
from ui.dataset import Dataset
from ui.jobs import SCHEDULER, BackgroundJob, JobStatus, fit_steps, poll
from ui.models import Request
from ui.results import seal
from ui.run import rule_outcomes
from ui.run.result import BEGINNINGS, optimality
from ui.state import AppState
from ui.text import plain

SLOT: Final = "all classes"
BY_FOLDS: Final = "Cross-validated: each training row is answered by a model fitted without it."
OF_TEST: Final = "These are the test rows, which the model has not seen."
UNJUDGED: Final = "the run was stopped before cross-validation, or a class has too few rows for it."
TOP: Final = 12
WORDS: Final = {
    "": False, "positive": False, "+": False, "not negative": False,
    "negative": True, "-": True, "not positive": True,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class AllClasses:
    """A classifier of all classes, and how it does on rows that it has not seen.

    `part` says which: "test", "cross-validated", where each training row is answered by a model
    that was fitted without it, or "training", where that is not known. `groups` tells which rows
    belong together, `folds` and `fitted` are as in `right_answers`.
    """

    classifier: HIPADClassifier
    part: str
    truth: np.ndarray
    answers: np.ndarray
    risks: FloatArray
    groups: IntArray | None = None
    folds: int = 1
    fitted: float = math.inf

    @property
    def classes(self) -> list[str]:
        return list(map(str, self.classifier.classes_.tolist()))

    @property
    def right(self) -> Proportion:
        """Patients who got the class that is theirs."""
        return self._right(np.ones(len(self.truth), dtype=bool))

    def found(self, label: str) -> Proportion:
        """Patients of a class who got it."""
        return self._right(self.truth == label)

    def _right(self, rows: np.ndarray) -> Proportion:
        groups = None if self.groups is None else self.groups[rows]
        right = self.truth[rows] == self.answers[rows]
        return right_answers(right, groups, folds=self.folds, fitted=self.fitted)

    @property
    def confusion(self) -> pd.DataFrame:
        """Patients by truth and answer."""
        cells = [
            [int(((self.truth == a) & (self.answers == b)).sum()) for b in self.classes]
            for a in self.classes
        ]
        return pd.DataFrame(
            cells, [f"actual {a}" for a in self.classes], [f"predicted {b}" for b in self.classes]
        )


def named_classes(rules: RuleSet, labels: tuple[str, ...], positive: str) -> RuleSet:
    """The rules with class names as outcomes, also where the user wrote positive or negative.

    >>> from hipad.rules import parse_rules
    >>> print(named_classes(parse_rules("x0 >= 2 => negative"), ("a", "b", "c"), "b"))
    x0 >= 2 => "not b"
    """
    own = {label.lower() for label in labels}

    def name(outcome: str) -> str:
        word = " ".join(outcome.lower().split())
        if word in own or word not in WORDS:
            return outcome
        return f"not {positive}" if WORDS[word] else positive

    found = tuple(replace(rule, outcome=name(rule.outcome)) for rule in rules.rules)
    stated = tuple(
        replace(each, outcome=name(each.outcome)) if each.kind in ("raised", "lowered") else each
        for each in rules.statements
    )
    return replace(rules, rules=found, statements=stated)


def fit_of(asked: Request) -> Any:
    """Begin the fit of all classes that a request asks for."""
    data, settings = asked.data, asked.settings
    assert data.every_label is not None
    rules = named_classes(data.parse(asked.rules), data.class_names, data.classes[1])
    classifier = HIPADClassifier(
        rules if settings.use_rules else None,
        blocks=data.blocks,
        lambda1=asked.lambda1_value,
        **settings.parameters,
    )
    X, y = data.X_train, data.every_label[0]
    if data.X_all is not None:
        X, y = learning_rows(X, y, data.X_unlabelled)
    known: dict[str, Any] = {"groups": data.groups, "gaps": data.gaps_seen}
    return classifier.fit_iter(X, y, feature_names=data.index, interactive=False, **known)


def judged(data: Dataset, classifier: HIPADClassifier) -> AllClasses:
    """The fitted classifier with its answers for those who judge it, and its reports made."""
    assert data.every_label is not None
    part, X, truth, groups = "training", data.X_train, data.every_label[0], data.groups_train
    if data.judged.part == "test" and data.every_label[1] is not None:
        part, X, truth, groups = "test", data.X_test, data.every_label[1], data.groups_test
    assert classifier.rule_report_ is not None  # made here, where nobody waits for a page
    assert classifier.knowledge_report_ is not None
    answers, risks = classifier.predict(X).astype(str), classifier.predict_proba(X)
    return AllClasses(classifier, part, truth, answers, risks, groups)


def fit_and_judge(asked: Request, job: BackgroundJob[AllClasses]) -> Iterator[None]:
    """Fit all classes; where no test row may be looked at, repeat the whole fit in folds."""
    fit = fit_steps(lambda: fit_of(asked), lambda found: judged(asked.data, found))
    for _ in fit(job):
        yield
    found = job.outcome
    if found is None or found.part == "test":
        return
    try:
        begun = CrossValidation.of(found.truth, groups=found.groups)
    except DataError:
        return  # a class of one patient: nobody can be held out
    answers, risks = found.answers.copy(), found.risks.copy()

    def start(learnt: IntArray) -> Any:
        return fit_of(replace(asked, data=asked.data.with_training(learnt)))

    def score(model: HIPADClassifier, held: IntArray) -> Any:
        X = asked.data.X_train[held]
        answers[held], risks[held] = model.predict(X).astype(str), model.predict_proba(X)
        return model.decision_function(X)

    for crossed in cross_fit(begun, start, score):
        job.message = (
            f"cross-validation, fold {min(crossed.done + 1, crossed.total)} of {crossed.total}"
        )
        SCHEDULER.give_way()
        yield
    job.outcome = replace(
        found,
        part="cross-validated",
        answers=answers,
        risks=risks,
        folds=crossed.total,
        fitted=float(np.mean(crossed.fitted)),
    )


def _key(asked: Request) -> tuple[object, ...]:
    return asked.data, asked.rules, tuple(sorted(asked.blocks.items())), asked.settings


def job_of(state: AppState) -> BackgroundJob[AllClasses] | None:
    """The run of all classes, if there was one on these data."""
    known = state.memo.get(SLOT)
    return None if known is None else known[1]


def launch(state: AppState) -> None:
    """Run with the present choices, in place of the run before."""
    before = job_of(state)
    if before is not None:
        before.stop()
    asked = state.request()
    job: BackgroundJob[AllClasses] = BackgroundJob(partial(fit_and_judge, asked))
    state.edits += before is None or state.memo[SLOT][0] != _key(asked)
    state.memo[SLOT] = (_key(asked), job)
    job.launch()


def steer(state: AppState) -> None:
    """Run and stop."""
    job = job_of(state)
    if job is not None and job.is_active:
        if st.button("Stop", icon=":material/stop:", key="all_stop", help="End the run."):
            job.stop()
            job.wait(0.2)
            st.rerun()
        return
    if st.button(
        "Run" if job is None else "Run again",
        type="primary",
        icon=":material/play_arrow:",
        help="Train a model of each class with the data, rules and settings as they are now.",
        key="all_run",
    ):
        launch(state)
        st.rerun()


def show(state: AppState) -> None:
    """What will be run, how far it is, or the result."""
    data, job = state.data, job_of(state)
    assert data is not None
    if job is None:
        rows = count(data.X_train.shape[0], data.row_word(1))
        st.caption(
            f"Ready: {rows} of {len(data.class_names)} classes "
            f"({', '.join(plain(name, 40) for name in data.class_names[:8])}"
            f"{', ...' if len(data.class_names) > 8 else ''}). Press **Run**."
        )
        return

    def draw() -> None:
        if job.is_active:
            steps = count(len(job.history), "step")
            doing = job.message or f"fitting one class after the other, {steps} so far"
            st.info(f"{doing[0].upper()}{doing[1:]}.", icon=":material/sync:")

    poll(job, draw)
    if job.is_active:
        return
    if job.status is JobStatus.FAILED:
        st.error(f"The run could not be done: {plain(job.error, 600)}", icon=":material/error:")
        return
    if job.status is JobStatus.STOPPED:
        st.warning("Stopped before the end: what is shown is not final.")
    elif state.memo[SLOT][0] != _key(state.request()):
        st.info("Rules, blocks or settings have changed since this run: **Run again**.")
    found = job.outcome
    if found is None:
        return
    if data.is_sealed:
        seal.show(state)
        if seal.is_open(state):
            classifier, data = found.classifier, replace(data, is_sealed=False)
            found = state.remember("all classes opened", found, lambda: judged(data, classifier))
    result(state, data, found)


def result(state: AppState, data: Dataset, found: AllClasses) -> None:
    """Right answers of all classes, each class in a line, and one of them in full."""
    st.header("Result", anchor=False)
    right = found.right
    rows = data.row_word()
    if found.part == "training":
        st.info(f"How good the model is on {rows} that it has not seen is not known: {UNJUDGED}")
    else:
        st.success(
            f"Of {data.said(right.whom)} the model got {percent(right.value)} right "
            f"({percent(right.interval[0])} to {percent(right.interval[1])}, 95 % interval). "
            f"{BY_FOLDS if found.part == 'cross-validated' else OF_TEST}",
            icon=":material/fact_check:",
        )
    left, middle = st.columns([3, 2])
    with left:
        st.markdown("**Each class against all others**")
        table = pd.DataFrame([_row(found, label) for label in found.classes])
        st.dataframe(table, hide_index=True, alt="Classes")
    with middle:
        st.markdown(f"**Actual and predicted class** ({data.row_word()})")
        st.dataframe(found.confusion, alt="Actual and predicted class")
    label = st.selectbox(
        "Class to look at", found.classes, key=f"all_class_{state.version}", help="Its own model."
    )
    _one(data, found, str(label), expert=state.expert)
    _take_away(data, found)


def _model(found: AllClasses, label: str) -> HIPADClassifier:
    by_name: Mapping[str, HIPADClassifier] = {
        str(name): one for name, one in found.classifier.class_models_.items()
    }
    return by_name[label]


def _row(found: AllClasses, label: str) -> dict[str, str]:
    one, own = _model(found, label), found.found(label)
    return {
        "class": label,
        "found": f"{percent(own.value)} ({own.k:,} of {own.n:,})" if own.n else "–",
        "features": f"{one.support_.size:,}",
        "rules": f"{len(_own_rules(found, label)):,}",
        "computation": BEGINNINGS[one.certificate_.status].rstrip(":"),
    }


def _own_rules(found: AllClasses, label: str) -> list[Any]:
    """The records of the rules that tell the model of a class something."""
    return _model(found, label).rule_report_


def _one(data: Dataset, found: AllClasses, label: str, *, expert: bool) -> None:
    """One class's model: its strongest features, its rules with their trust, its certificate."""
    one = _model(found, label)
    weights = one.coef_[0] * data.summary["sd"].to_numpy()
    kept = one.support_[np.argsort(-np.abs(weights[one.support_]), kind="stable")][:TOP]
    chart = charts.figure(
        f"The {len(kept)} strongest features",
        x=f"weight per standard deviation; bars to the right favour {charts.label(label)}",
        y="",
        height=140 + 22 * len(kept),
    )
    names = [data.index.name(int(j)) for j in kept]
    chart.add_bar(
        x=weights[kept], y=list(range(len(kept))), orientation="h", marker_color=charts.colour(0)
    )
    charts.name_rows(chart, names)
    text = ", ".join(
        f"{plain(n)} {number(weights[j], 3)}" for n, j in zip(names, kept, strict=True)
    )
    charts.show(chart, key=f"all_features_{label}", text=f"Weights: {text or 'none'}.")
    if records := _own_rules(found, label):
        rule_outcomes.rules(records, expert=expert, data=data)
    else:
        st.caption("No rules took part in this model.")
    gap, message = one.certificate_.gap, one.certificate_.message
    st.markdown(
        optimality(one.certificate_.status, "the chosen features", gap)
        + (f" {plain(message, 300)}" if message else "")
    )


def _take_away(data: Dataset, found: AllClasses) -> None:
    with st.container(horizontal=True):
        for name, content, file, mime in (
            ("Weights (CSV)", _weights, "weights.csv", "text/csv"),
            ("Answers (CSV)", _answers, "answers.csv", "text/csv"),
            ("Model (JSON)", _model_file, "model.json", "application/json"),
        ):
            st.download_button(
                name,
                partial(content, data, found),
                file,
                mime,
                icon=":material/download:",
                on_click="ignore",
            )


def _weights(data: Dataset, found: AllClasses) -> str:
    """One row per feature with a weight in any class, a column a class, on the common scale."""
    kept = found.classifier.support_
    columns: dict[str, list[Any]] = {
        "feature": [*(data.index.name(int(j)) for j in kept), "(intercept)"]
    }
    for k, label in enumerate(found.classes):
        own = found.classifier.coef_[k, kept].tolist()
        columns[label] = [*own, float(found.classifier.intercept_[k])]
    return to_csv(columns)


def _answers(data: Dataset, found: AllClasses) -> str:
    """The answer and the risk of each class for the patients that were asked."""
    test = found.part == "test"
    columns: dict[str, list[Any]] = {
        "patient" if data.ids[int(test)] else "row": data.called(int(test)).tolist(),
        "answer": found.answers.tolist(),
        "truth": found.truth.tolist(),
    }
    columns |= {
        f"risk of {name}": found.risks[:, k].tolist() for k, name in enumerate(found.classes)
    }
    return to_csv(columns)


def _model_file(data: Dataset, found: AllClasses) -> str:
    """The model as JSON, with what a later table needs to be prepared in the same way."""
    origin = Origin(
        data.label,
        tuple(found.classes),
        data.recipe,
        group=data.group,
        file_format=data.file_format,
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(found.classifier, path, origin=origin)
        return path.read_text("utf-8")
