from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.designs import standardisation
from hipad.evaluation.rule_study import StudyRows, cut_out, scaled_rules
from hipad.rules import compile_rules

X = np.random.default_rng(0).uniform(0, 5, (12, 4))
Y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
P = np.random.default_rng(1).dirichlet(np.ones(12))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("scaled", [True, False])
def test_the_pull_of_the_patients_is_that_of_the_scaled_columns(make, scaled):
    mean, scale = standardisation(X) if scaled else (None, None)
    seen = StudyRows((make(X), Y), None, X.min(0), X.max(0), mean, scale, P)
    Z = (X - mean) / scale if scaled else X
    columns = np.array([1, 3])
    assert seen.gradient(columns) == pytest.approx(Z[:, columns].T @ (P * Y))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_columns_are_cut_out_of_both_parts(make):
    test = (make(X[:5]), Y[:5])
    seen = StudyRows((make(X), Y), test, X.min(0), X.max(0), None, None, P)
    (train, y), cut = seen.on(np.array([0, 2]))
    assert cut is not None
    for part, expected in ((train, X[:, [0, 2]]), (cut[0], X[:5, [0, 2]])):
        dense = part.toarray() if sparse.issparse(part) else part
        assert np.array_equal(dense, expected)
    assert y is Y
    assert seen.on(np.array([1]))[1] is not None


def test_rules_on_the_columns_they_name_fire_for_the_same_patients():
    rules = compile_rules("x1 >= 2 => positive\nx3 + x1 <= 6 => negative", n_features=4)
    seen = StudyRows((X, Y), None, X.min(0), X.max(0), None, None, P)
    few, ((train, _), test) = cut_out(rules, seen)
    assert test is None
    assert train.shape == (12, 2)
    for rule, cut in zip(rules, few, strict=True):
        np.testing.assert_array_equal(cut.fires(train), rule.fires(X))
    assert cut_out([], seen)[1][0][0].shape == (12, 0)


def test_rules_are_told_in_the_scaling_of_the_run_and_heard_by_the_training_patients():
    rules = compile_rules("x1 >= 2 => positive\nx0 >= 9 => negative", n_features=4)
    mean, scale = standardisation(X)
    seen = StudyRows((X, Y), None, X.min(0), X.max(0), mean, scale, P)
    told, evidence = scaled_rules(rules, seen)
    wanted = -scale[1]
    assert told[0].B.toarray()[0] == pytest.approx([0, wanted, 0, 0])
    met = [X[:, 1] >= 2, X[:, 0] >= 9]
    assert [each.fired for each in evidence] == [float(np.sum(rows)) for rows in met]
    assert [each.right for each in evidence] == [
        float(np.sum(rows & (sign == Y))) for rows, sign in zip(met, (1, -1), strict=True)
    ]


def test_a_report_is_that_of_the_rules_on_the_range_and_scaling_of_the_patients():
    rules = compile_rules("x1 >= 2 => positive", n_features=4)
    mean, scale = standardisation(X)
    seen = StudyRows((X, Y), None, X.min(0), X.max(0), mean, scale, P)
    (record,) = seen.report(rules, np.array([0.0, 1.0, 0.0, 0.0]), -1.0)
    assert record.worst.value == pytest.approx(2.0 - 1.0)
    assert record.prototype.margin == pytest.approx(max(2.0, mean[1]) - 1.0)
