import numpy as np
import pytest

from hipad.experiments.perturbed_rules import (
    SweepStep,
    harm_marks,
    starts_to_harm,
    sweep,
    sweep_tasks,
    threshold_versions,
)
from hipad.experiments.tasks import Done, Mean
from tests.experiments.small import table

RULES = "f0 >= 1 => 1\nf1 <= -1 => -1"


def test_without_rules_there_is_one_fit_for_each_draw():
    versions = threshold_versions(RULES, 0, [0.5, 1, 2])
    tasks = sweep_tasks(table(), versions, draws=4, rows={"labelled": 8})
    assert len(tasks) == 4 * (3 + 3 + 1)


def test_harm_begins_where_the_whole_interval_is_below_zero():
    versions = threshold_versions(RULES, 0, [1, 2, 3])
    rng = np.random.default_rng(0)
    gains = {versions[0].rules: 0.05, versions[1].rules: 0.01, versions[2].rules: -0.1}
    found = []
    for k, task in enumerate(sweep_tasks(table(), versions, draws=8)):
        gain = gains.get(task.settings["rules"], 0.0)
        value = 0.7 + 0.01 * task.seed + gain + 0.002 * rng.standard_normal()
        found.append(Done(task, str(k), {"balanced": value, "support": 3}))
    steps = sweep(found, versions)
    assert starts_to_harm(steps) is steps[2]
    assert steps[0].gain.value == pytest.approx(0.05, abs=0.01)
    assert starts_to_harm(steps[:1]) is None


@pytest.mark.parametrize(
    ("bad", "marks"),
    [
        ([0, 0, 0], []),
        ([0, 0, 1], [(2, "harms from here")]),
        ([0, 1, 1], [(1, "harms from here")]),
        ([1, 1, 0], [(1, "harms up to here")]),
        ([1, 0, 1], [(0, "harms"), (2, "harms")]),
        ([1, 1, 1], [(0, "harms from here")]),
    ],
)
def test_harm_is_marked_on_the_side_where_it_lies(bad, marks):
    zero = Mean(0.0, 0.0, 0.0, 3)
    steps = [
        SweepStep(str(k), k, zero, zero, zero, Mean(-0.1, -0.2, -0.05, 3) if one else zero, zero)
        for k, one in enumerate(bad)
    ]
    assert [(step.place, words) for step, words in harm_marks(steps)] == marks
