"""The study of the present rules, made anew after each edit by a thread of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import cast

import numpy as np

from hipad.estimator.problem_factory import rule_weights
from hipad.estimator.training_data import shares
from hipad.evaluation.rule_study import Study, StudyRows, first_look, study_rules
from hipad.exceptions import DataError, RuleError
from hipad.rules import Budget, CompiledRule, RuleSet, compile_each
from ui.dataset import Dataset
from ui.models import largest_useful, signs
from ui.rules.check_job import CheckJob
from ui.settings import CHOSEN, FEWNESS, RunSettings
from ui.state import AppState


def checked_rules(state: AppState, patience: float | None = None) -> Study:
    """The check of the present rules, kept until they, the data or the settings change.

    After `patience` seconds it is given as far as it has come; `is_final` says whether it is all.
    """
    job = checking(state)
    job.wait(patience)
    if job.error is not None:
        raise DataError(job.error)
    return job.latest or look(*_key(state)[:2])[0]


def checking(state: AppState) -> CheckJob[Study]:
    """The check of the present rules, at work or done; one of an earlier text is stopped."""
    key = _key(state)
    known, job = state.memo.get("checked rules", (None, None))
    if job is None or known != key or job.was_left:
        if job is not None:
            job.stop()
        job = CheckJob(lambda budget: check(*key, budget))
        state.memo["checked rules"] = (key, job)
        job.launch()
    job.seen()
    return cast(CheckJob[Study], job)


def _key(state: AppState) -> tuple[Dataset, str, RunSettings, float | None]:
    assert state.data is not None
    return state.data, state.rules.text, state.settings, known_lambda1(state)


def known_lambda1(state: AppState) -> float | None:
    """The sparsity of the next run: as set, or that of the last run; None when it is open."""
    settings, data = state.settings, state.data
    if settings.fewness in CHOSEN:
        model = state.model or state.pinned_model
        return None if model is None else float(model.classifier.lambda1_)
    if settings.fewness not in FEWNESS or data is None:
        return settings.lambda1
    key = (data, settings.standardize, settings.balanced)
    largest = state.remember("largest lambda1", key, lambda: largest_useful(data, settings))
    return FEWNESS[settings.fewness] * largest


def broken_rules(state: AppState) -> tuple[RuleError, ...]:
    """What is wrong with the rules that the next run would take; read once for each text."""
    data, text = state.data, state.rules.text
    if data is None or not state.settings.use_rules:
        return ()
    return state.remember("broken rules", (data, text), lambda: look(data, text)[0].errors)


def look(data: Dataset, text: str) -> tuple[Study, dict[int, CompiledRule]]:
    """The rules and what is wrong with them, before anything is tried."""
    return first_look(
        data.read(text),
        data.index,
        data.blocks,
        data.classes,
        values=data.values,
        positive_chosen=True,
    )


def check(
    data: Dataset, text: str, settings: RunSettings, lambda1: float | None, budget: Budget
) -> Iterator[Study]:
    """Read, compile and try the rules; each study says more than the one before."""
    first, compiled = look(data, text)
    yield first
    patients, stiffness = settings.patients, settings.stiffness
    knobs = partial(rule_weights, total=data.n_patients, rule_weight=patients, rho=stiffness)
    yield from study_rules(
        first, compiled, as_seen(data, settings), lambda1=lambda1, knobs=knobs, budget=budget
    )


def fitting_rules(rules: RuleSet, data: Dataset) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Each rule that fits the data by its position, and what is wrong with the others."""
    return compile_each(
        rules,
        feature_names=data.index,
        blocks=data.blocks,
        classes=data.classes,
        positive_chosen=True,
        values=data.values,
    )


def as_seen(data: Dataset, settings: RunSettings) -> StudyRows:
    """The patients as a run with these settings sees them."""
    y = signs(data.y_train, data)
    test = None
    if data.X_test is not None and data.y_test is not None:
        test = data.X_test, signs(data.y_test, data)
    low, high = (data.summary[k].to_numpy() for k in ("min", "max"))
    mean, scale = data.standardisation if settings.standardize else (None, None)
    return StudyRows(
        train=(data.X_train, y),
        test=test,
        lo=low,
        hi=high,
        mean=mean,
        scale=scale,
        p=shares(y, np.ones(len(y)), settings.class_weight),
        gaps=data.gaps_train,
        test_gaps=data.gaps_test,
    )
