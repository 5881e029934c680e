"""The Run page where several classes are told apart: a model of each class against all others."""

from __future__ import annotations

from collections.abc import Mapping
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
from hipad.evaluation.metrics import Proportion
from hipad.rules import RuleSet
from hipad.utils import count, number, percent
from ui import charts
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, JobStatus, fit_job, poll
from ui.models import Request
from ui.results import seal
from ui.run import rule_outcomes
from ui.run.result import BEGINNINGS, optimality
from ui.state import AppState
from ui.text import plain

SLOT: Final = "all classes"
TOP: Final = 12
WORDS: Final = {
    "": False, "positive": False, "+": False, "not negative": False,
    "negative": True, "-": True, "not positive": True,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class AllClasses:
    """A classifier of all classes, and how it does on the test patients (or the training ones)."""

    classifier: HIPADClassifier
    part: str
    truth: np.ndarray
    answers: np.ndarray

    @property
    def classes(self) -> list[str]:
        return list(map(str, self.classifier.classes_.tolist()))

    @property
    def right(self) -> Proportion:
        """Patients who got the class that is theirs."""
        return Proportion(int((self.truth == self.answers).sum()), len(self.truth))

    def found(self, label: str) -> Proportion:
        """Patients of a class who got it."""
        own = self.truth == label
        return Proportion(int((self.answers[own] == label).sum()), int(own.sum()))

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
    part, X, truth = "training", data.X_train, data.every_label[0]
    if data.judged.part == "test" and data.every_label[1] is not None:
        part, X, truth = "test", data.X_test, data.every_label[1]
    assert classifier.rule_report_ is not None  # made here, where nobody waits for a page
    assert classifier.knowledge_report_ is not None
    assert classifier.predict_proba(X[:1]) is not None
    return AllClasses(classifier, part, truth, classifier.predict(X).astype(str))


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
    job = fit_job(lambda: fit_of(asked), lambda found: judged(asked.data, found))
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
            st.info(f"Fitting one class after the other: {steps} so far.", icon=":material/sync:")

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
    st.success(
        f"Of {count(right.n, f'{found.part} {data.row_word(1)}')} the model got "
        f"{percent(right.value)} right "
        f"({percent(right.interval[0])} to {percent(right.interval[1])}, 95 % interval).",
        icon=":material/fact_check:",
    )
    if found.part == "training":
        rows = data.row_word()
        st.caption(f"These {rows} were used for training, so on new {rows} it will do worse.")
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
    risks = found.classifier.predict_proba(data.X_test if test else data.X_train)
    columns: dict[str, list[Any]] = {
        "patient" if data.ids[int(test)] else "row": data.called(int(test)).tolist(),
        "answer": found.answers.tolist(),
        "truth": found.truth.tolist(),
    }
    columns |= {f"risk of {name}": risks[:, k].tolist() for k, name in enumerate(found.classes)}
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
