from __future__ import annotations

import numpy as np
import pytest

from hipad.evaluation.metrics import ScoredRows
from hipad.experiments.methods import (
    COMPARED,
    NEEDS_RULES,
    ExperimentData,
    MethodResult,
    compare_methods,
)
from ui.experiments import comparison_view
from ui.experiments.comparison_view import Comparison, arms_of, line, sentence

RNG = np.random.default_rng(0)
Y = np.where(np.arange(60) % 2, 1.0, -1.0)
X = RNG.normal(size=(60, 5))
X[:, 0] += 1.5 * Y
RULES = "high: a >= 1 => 1\nlow: a <= -1 => -1\noff b >= 3 => 1"
DATA = ExperimentData("small", X, Y, feature_names=tuple("abcde"), rules=RULES)
BARE = ExperimentData("small", X, Y, feature_names=tuple("abcde"))


def result(name, shift):
    positive = Y > 0
    scores = RNG.normal(size=60) + shift * Y
    rows = ScoredRows(positive, scores)
    names = ("accuracy", "balanced_accuracy", "roc_auc")
    figures = {one: rows.measure(one) for one in names}
    return MethodResult(name, figures, 3.0, 0.5, scores, rows)


def test_arms_are_every_method_and_the_model_without_each_rule_that_is_on():
    names = [arm.name for arm in arms_of(DATA)]
    assert names == [*COMPARED, "without high", "without low"]
    assert [arm.name for arm in arms_of(BARE)] == [n for n in COMPARED if n not in NEEDS_RULES]
    left = arms_of(DATA)[-1]
    assert left.method == "HIPAD-ENK"
    assert "off `low`" in left.data.rules


def test_a_single_rule_left_out_leaves_the_method_without_rules():
    one = ExperimentData("small", X, Y, feature_names=tuple("abcde"), rules="a >= 1 => 1")
    assert arms_of(one)[-1].method == "HIPAD"


def test_the_sentence_and_lines_compare_with_the_first_method():
    work = Comparison(DATA, {})
    arms = work.arms
    work.done = [(arms[0], result("HIPAD-ENK", 2.0)), (arms[1], result("HIPAD", 0.0))]
    assert "is the best so far" in sentence(work)
    assert line(work, *work.done[0])["difference"] == "–"
    assert line(work, *work.done[1])["difference"].startswith("-")
    work.done[0], work.done[1] = (arms[0], work.done[1][1]), (arms[1], work.done[0][1])
    assert "clearly better than HIPAD-ENK" in sentence(work)


def test_a_stopped_comparison_goes_on_with_the_next_arm(monkeypatch):
    work = Comparison(BARE, {})
    asked = []

    def compare(data, names, **others):
        asked.append(names[0])
        if len(asked) == 2:
            work.stop()
            return iter(())
        return iter([result(names[0], 1.0)])

    monkeypatch.setattr(comparison_view, "compare_methods", compare)
    work.job.launch()
    work.job.watch(30)
    assert work.job.was_stopped
    assert len(work.done) == 1
    work.job.go_on()
    work.job.watch(30)
    assert work.job.is_final
    assert [arm.name for arm, _ in work.done] == [arm.name for arm in work.arms]
    assert asked[1] == asked[2]


def test_data_with_a_split_are_judged_by_its_test_rows():
    split = np.arange(40), np.arange(40, 60)
    data = ExperimentData("small", X, Y, tuple("abcde"), rules=RULES, split=split)
    (found,) = compare_methods(data, ["rules alone"])
    assert len(found.rows) == 20
    assert np.isnan(found.scores[:40]).all()
    assert found.figures["accuracy"].value == pytest.approx(
        np.mean((found.scores[40:] > 0) == (Y[40:] > 0))
    )
