from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator.parameters import FitSettings
from hipad.estimator.problem_factory import ProblemFactory, TrainingData, shares
from hipad.rules.compiler import compile_knowledge


def posed(rules="x0 >= 1 => positive", **parameters):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(24) % 3 == 0, 1.0, -1.0)
    X = rng.standard_normal((24, 4)) + 0.8 * y[:, None]
    data = TrainingData.of(X, y, np.ones(24), shares(y, np.ones(24), "balanced"), True)
    return ProblemFactory(
        data, FitSettings.of(HIPADClassifier(**parameters), compile_knowledge(rules, n_features=4))
    )


def test_some_rows_pose_the_problem_with_the_same_rules():
    factory, rows = posed(), np.arange(0, 24, 2)
    part, whole = factory.problem(0.1, 2.0, rows), factory.problem(0.1, 2.0)
    assert part.p.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(part.y, factory.data.y[rows])
    assert part.rules == whole.rules
    assert (part.lambda1, part.lambda2) == (0.1, 2.0)


def test_the_scale_of_lambda1_is_that_of_the_data_alone():
    assert posed().largest_lambda1 == pytest.approx(posed(rules="").largest_lambda1)


def test_only_rules_of_some_worth_that_are_anchored_have_a_say():
    (vote,) = posed().rule_votes()
    assert vote.sign == 1.0
    assert vote.sigma == posed().rule_weights[0].sigma > 0
    assert posed(rule_weight=0).rule_votes() == ()
    assert posed(rule_settings={"centered": False}).rule_votes() == ()
