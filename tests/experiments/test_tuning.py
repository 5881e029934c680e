from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import DataError
from hipad.experiments.runner import Mean, ResultsCache, mean_of, perform
from hipad.experiments.tuning import (
    SettingPoint,
    choose,
    honest_estimate,
    settings_of,
    tune_tasks,
    tuned,
    with_values,
)
from tests.experiments.small import table

# --------------------------------------------------------------------------------------------------
# Tuned.


GRID = {"lambda1": 3, "lambda2": [1.0], "rule_weight": ["auto", 5.0]}


@pytest.fixture(scope="module")
def found():
    data = table()
    return list(perform(tune_tasks(data, GRID, folds=3), {data.name: data}, ResultsCache()))


def test_every_fold_is_a_task_and_one_more_for_the_honest_estimate(found):
    assert [done.error for done in found] == [""] * 6
    assert [done.task.kind for done in found] == ["tune"] * 3 + ["nested"] * 3


def test_every_setting_has_a_point_with_score_support_and_rules(found):
    points = tuned(found)
    assert len(points) == 3 * 1 * 2
    assert [point.score.n for point in points] == [3] * 6
    assert all(0 <= point.agrees.value <= 1 for point in points)
    by_lambda1 = sorted(points, key=lambda point: point.lambda1)
    assert by_lambda1[0].support.value > by_lambda1[-1].support.value


def test_the_figures_are_those_of_plain_fits(found):
    from hipad import HIPADClassifier

    data, one = table(), found[0]
    learnt, held = data.folds(0, 3)[0]
    grid = one.setting("grid")
    for k, params in enumerate(settings_of(grid)):
        clf = HIPADClassifier(data.rules, rule_trust=None, **params)
        run = clf.fit_iter(data.X[learnt], data.y[learnt], feature_names=data.feature_names)
        fitted = run.to_end().finish()
        right = fitted.predict(data.X[held]) == data.y[held]
        assert one.figures["accuracy"][k] == pytest.approx(right.mean())
        assert one.figures["support"][k] == fitted.support_.size
        typical = [record.prototype.margin for record in fitted.rule_report_]
        assert one.figures["margin"][k] == pytest.approx(np.mean(typical), abs=1e-3)


def test_the_honest_estimate_is_of_rows_that_had_no_part(found):
    honest = honest_estimate(found)
    assert honest.n == 3
    assert 0.5 < honest.value <= 1
    assert all("lambda1" in done.figures for done in found if done.task.kind == "nested")


def test_groups_are_never_split():
    data = replace(table(), groups=np.repeat(np.arange(30), 2))
    for learnt, held in data.folds(0, 3):
        assert not set(data.groups[learnt]) & set(data.groups[held])
    tasks = tune_tasks(data, GRID, folds=3, repeats=2, honest=False)
    assert len(tasks) == 6
    one = data.folds(0, 3)[0][1], data.folds(1, 3)[0][1]
    assert set(one[0]) != set(one[1])


def test_more_folds_than_groups_are_refused():
    data = replace(table(), groups=np.arange(60) % 3)
    with pytest.raises(DataError, match="groups of the rarer class: choose fewer folds"):
        data.folds(0, 5)


def test_lambda1_is_spread_over_the_rows_to_learn_from():
    values = with_values(table(), {"lambda1": 4})["lambda1"]
    assert len(values) == 4
    assert values == sorted(values, reverse=True)
    with pytest.raises(DataError, match="at least 1 value"):
        with_values(table(), {"lambda1": 0})


def test_an_unknown_score_is_refused():
    with pytest.raises(DataError, match="expected a score of balanced"):
        tune_tasks(table(), GRID, score="luck")


def test_kept_results_may_have_names_of_earlier_versions():
    grid = {"lambda1": [0.1], "lambda2": [1.0], "patients": ["auto", 5.0], "stiffness": ["auto"]}
    now = {"lambda1": [0.1], "lambda2": [1.0], "rule_weight": ["auto", 5.0], "rho": ["auto"]}
    assert settings_of(grid) == settings_of(now)


# --------------------------------------------------------------------------------------------------
# Grid points.


def point(score: float, agrees: float, holds: float, support: float) -> SettingPoint:
    known = mean_of([score - 0.02, score, score + 0.02])
    others = [Mean(value, value, value, 3) for value in (support, agrees, holds, 0.0)]
    return SettingPoint({"lambda1": support}, known, *others)


def test_among_equals_the_rules_decide_and_then_the_features():
    near, best = point(0.895, 1.0, 0.5, 9), point(0.9, 0.5, 0.5, 3)
    far = point(0.7, 1.0, 1.0, 1)
    assert choose([best, near, far]) is near
    assert choose([best, near, far], rules_count=False) is best
    assert choose([near, fewer := point(0.893, 1.0, 0.5, 2)]) is fewer


shares = st.floats(0, 1)


@given(st.lists(st.tuples(shares, shares, shares, st.integers(0, 50)), min_size=1, max_size=8))
def test_the_choice_is_within_one_standard_error_of_the_best(drawn):
    points = [point(*each) for each in drawn]
    best = max(p.score.value for p in points)
    error = 0.02 / math.sqrt(3)
    assert choose(points).score.value >= best - error - 1e-9


def test_nothing_judged_is_a_sentence():
    with pytest.raises(DataError, match="no setting could be judged"):
        choose([])
    assert tuned([]) == []
