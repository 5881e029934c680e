from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.runner import Done, Mean
from hipad.experiments.sensitivity import (
    SweepStep,
    harm_marks,
    starts_to_harm,
    strangers_to,
    sweep,
    sweep_tasks,
    threshold_versions,
    thresholds_of,
    thresholds_seen,
    worth_versions,
    wrong_versions,
)
from hipad.rules import parse_rules
from tests.experiments.small import table

# --------------------------------------------------------------------------------------------------
# Versions.


RULES = "f0 >= 1 => 1\nf1 <= -1 => -1"
STATED = "f3 is raised in 1\nf0 >= 1 => 1  # a note\nf4 does not matter\nf1 <= -1 => -1"


def test_thresholds_change_one_rule_only():
    versions = threshold_versions(RULES, 0, [0.5, 2])
    assert [version.rules for version in versions] == [
        "f0 >= 0.5 => 1\nf1 <= -1 => -1",
        "f0 >= 2 => 1\nf1 <= -1 => -1",
    ]


def test_a_rule_without_one_threshold_is_refused():
    with pytest.raises(RuleError, match="no single threshold"):
        threshold_versions("f0 >= 1 and f1 >= 2 => 1", 0, [1])


def test_worths_are_written_into_the_rule():
    (version,) = worth_versions(RULES, 1, [30])
    assert version.rules.endswith("f1 <= -1 => -1 worth 30 patients")


def test_wrong_advice_is_graded():
    strangers = strangers_to(table(), np.random.default_rng(0))
    assert set(strangers) == {f"f{j}" for j in range(2, 8)}
    written, irrelevant, flipped = wrong_versions(RULES, 0, ("-1", "1"), strangers)
    assert written.rules == RULES
    assert irrelevant.rules.splitlines()[0] == f"{strangers[0]} >= 1 => 1"
    assert flipped.rules.splitlines()[0] == "f0 >= 1 => -1"


def test_statements_and_notes_survive_the_change_of_a_rule():
    (other,) = threshold_versions(STATED, 1, [-3])
    assert other.rules.splitlines() == [*STATED.splitlines()[:3], "f1 <= -3 => -1"]
    for version in wrong_versions(STATED, 0, ("-1", "1"), ["f5"]):
        assert len(parse_rules(version.rules).statements) == 2


def test_one_condition_of_several_can_be_swept():
    text = "f0 >= 1 and f1 >= 2 => 1"
    assert thresholds_of(text, 0) == [0, 1]
    (version,) = threshold_versions(text, 0, [5], condition=1)
    assert version.rules == "f0 >= 1 and f1 >= 5 => 1"


@pytest.mark.parametrize(
    "rule",
    [
        "f0 between 1 and 2 => 1",
        "f0 >= f1 => 1",
        "at least 2 of (f0, f1, f2) => 1",
        "f0 in {a, b} => 1",
        "f0 >= p90(f0) => 1",
    ],
)
def test_other_forms_are_refused_in_a_sentence_or_left_as_they_are(rule):
    with pytest.raises(RuleError, match="no single threshold"):
        threshold_versions(rule, 0, [1])
    versions = wrong_versions(rule, 0, ("-1", "1"), ["f5", "f6"])
    assert versions[-1].rules == rule.replace("=> 1", "=> -1")
    assert all(parse_rules(version.rules) for version in versions)


def test_a_block_becomes_as_many_strangers():
    strangers = ["f2", "f3", "f4", "f5"]
    versions = wrong_versions(
        "mean(K) >= 1 => 1", 0, ("-1", "1"), strangers, {"K": np.array([0, 1, 7])}
    )
    assert versions[1].rules == "mean(f2, f3, f4) >= 1 => 1"


def test_a_rule_that_is_off_is_doubted_as_if_it_were_on():
    (version,) = worth_versions("off f0 >= 1 => 1", 0, [3])
    assert version.rules == "f0 >= 1 => 1 worth 3 patients"


def test_thresholds_are_swept_over_what_the_rows_show():
    data = table()
    values = thresholds_seen(data, 0)
    low, high = np.quantile(data.X[:, 0], [0.02, 0.98])
    assert values == sorted(values)
    assert 1 in values
    assert min(values) == pytest.approx(low, rel=0.01)
    assert max(values) == pytest.approx(high, rel=0.01)


def test_a_sum_is_swept_in_its_own_units():
    own = table()
    data = ExperimentData("m", own.X, own.y, own.feature_names, rules="3 <= f0 + 2*f1 => 1")
    seen = own.X[:, 0] + 2 * own.X[:, 1]
    assert max(thresholds_seen(data, 0)) == pytest.approx(np.quantile(seen, 0.98), rel=0.01)


def test_a_rule_that_is_not_there_is_a_sentence():
    with pytest.raises(RuleError, match="from 1 to 2, got 3"):
        worth_versions(RULES, 2, [1])


def test_wrong_advice_about_a_range_has_as_many_features():
    text, names = "mean(a:c) >= 1 => 1", ["a", "b", "c", *"uvwxy"]
    for strangers, told in ((["u", "v", "w", "x"], "mean(u, v, w)"), (["u"], "u")):
        _, irrelevant, _ = wrong_versions(text, 0, ("-1", "1"), strangers, {}, names)
        assert irrelevant.rules == f"{told} >= 1 => 1"


def test_thresholds_seen_refuses_a_ratio():
    data = table()
    with pytest.raises(RuleError, match="no range to sweep"):
        thresholds_seen(replace(data, X=np.abs(data.X) + 1, rules="f0 / f1 >= 2 => 1"), 0)


# --------------------------------------------------------------------------------------------------
# Wrong rules.


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
