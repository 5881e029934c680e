"""Robustness: what a wrong rule does at default worth, as a certainty, and left out.

On ksvm-s-10k the threshold of the first rule goes from 1 to 8 (it is right at 4), and then it is
flipped. On the bundled samples the first rule is tried as written, about features that have nothing
to do with it, and flipped. The goal: at default worth the model never falls more than 2 points of
balanced accuracy below the one without rules, beyond which the app warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.reporting import Options, table
from benchmarks.worth import data_named, fitted
from hipad.datasets import make_ksvm_s
from hipad.experiments.methods import ExperimentData, Synthetic
from hipad.experiments.report import sweep_section
from hipad.experiments.reproduction import KSVM_OPTIONS
from hipad.experiments.sensitivity import (
    PerturbedRule,
    SweepStep,
    strangers_to,
    sweep,
    sweep_tasks,
    threshold_versions,
    wrong_versions,
)

THRESHOLDS = range(1, 9)
DATA = ("ksvm-s-10k", "pima", "all-bcrabl")
OUTCOMES = ("negative", "positive")
LABELLED = 16  # patients of each class; ksvm-s has its own number


def run(options: Options) -> str:
    """One table for all data, the versions that fall, and where each rule starts to harm."""
    rows, fallen = [], []
    for name in DATA:
        if not options.wants(name):
            continue
        steps = measured(name, options)
        rows += [[name, *row] for row in sweep_section(name, "version", steps).rows]
        fallen += [f"{name}, {step.version}" for step in steps if step.falls]
    head = ["data", "version", "with rules, %", "as certainties, %", "without, %"]
    text = table([*head, "gain, points", "features"], rows)
    verdict = "; ".join(fallen) or "none"
    return f"{text}\n\nMore than 2 points below the model without rules: {verdict}"


def measured(name: str, options: Options) -> list[SweepStep]:
    """Every version of the first rule on every draw."""
    data = data_named(name)
    versions = versions_of(data)
    own: dict[str, Any] = {"rows": {"labelled": LABELLED}}
    if isinstance(data, Synthetic):
        own = {"options": KSVM_OPTIONS}
        versions = versions[::3] if options.quick else versions
    tasks = sweep_tasks(data, versions, draws=options.count(10), **own)
    return sweep(fitted(tasks, data, "hipad-doubt.jsonl"), versions)


def versions_of(data: ExperimentData) -> Sequence[PerturbedRule]:
    """The wrong versions of a data set's first rule."""
    if not isinstance(data, Synthetic):
        strangers = strangers_to(data, np.random.default_rng(0))
        return wrong_versions(data.rules, 0, OUTCOMES, strangers, data.blocks)
    rules = make_ksvm_s(data.preset, seed=0, n_train=4, n_test=4).rules
    shifted = threshold_versions(rules, 0, list(THRESHOLDS))
    flipped = wrong_versions(rules, 0, OUTCOMES, ["x1"])[-1]
    return [*shifted, flipped]
