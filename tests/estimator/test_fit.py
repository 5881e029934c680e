"""A run from data and plan to a model in the user's units."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hipad import HIPADClassifier
from hipad.designs import make_design
from hipad.estimator.fit import FitRun
from hipad.estimator.parameters import FitSettings
from hipad.estimator.problem_factory import TrainingData, noise, shares
from hipad.rules.compiler import compile_knowledge
from hipad.solvers import Status, lambda1_max


def training(n=30, m=5, seed=0, standardize=True, class_weight="balanced"):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = 10 + 4 * (rng.standard_normal((n, m)) + np.outer(y, np.r_[1.0, np.zeros(m - 1)]))
    ones = np.ones(n)
    return TrainingData.of(X, y, ones, shares(y, ones, class_weight), standardize)


def run_of(data, text="x0 >= 16 => positive", **parameters):
    """A run of the literal problem, unless trust in the rules is asked for."""
    rules = compile_knowledge(text, n_features=data.X.shape[1])
    usual = {"lambda1": 0.05, "rule_trust": None}
    return FitRun(data, FitSettings.of(HIPADClassifier(**{**usual, **parameters}), rules))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("calibrate", [True, False])
def test_the_model_in_users_units_is_the_solution_in_the_designs(standardize, calibrate):
    data = training(standardize=standardize)
    model = run_of(data, selection={"calibrate": calibrate}).run()
    found = model.solution
    inside = data.design.columns(found.features) @ found.w + found.b
    outside = data.X[:, model.features] @ model.coef + model.intercept
    if calibrate:  # another scale and intercept, the same direction
        factor, offset = np.polyfit(inside, outside, 1)
        assert factor > 0
        inside = factor * inside + offset
    np.testing.assert_allclose(outside, inside, atol=1e-9)


@pytest.mark.parametrize("rule_trust", [None, "auto"])
def test_calibration_puts_the_average_patients_at_plus_and_minus_one(rule_trust):
    data = training()
    model = run_of(data, rule_trust=rule_trust).run()
    scores = data.X[:, model.features] @ model.coef + model.intercept
    for sign in (-1.0, 1.0):
        assert scores[data.y == sign].mean() == pytest.approx(sign)


def test_the_certificate_speaks_of_the_problem_and_not_of_the_calibration():
    plain, calibrated = (
        run_of(training(), selection={"calibrate": flag}).run() for flag in (False, True)
    )
    assert plain.solution.certificate == calibrated.solution.certificate


def test_shares_of_the_rows():
    y, weights = np.array([1.0, -1.0, -1.0, -1.0]), np.array([1.0, 1.0, 2.0, 1.0])
    np.testing.assert_allclose(shares(y, weights, None), weights / 5)
    balanced = shares(y, weights, "balanced")
    assert balanced[y > 0].sum() == pytest.approx(0.5)
    np.testing.assert_allclose(balanced[1:], [0.125, 0.25, 0.125])
    own = shares(y, weights, {-1.0: 1.0, 1.0: 4.0})
    np.testing.assert_allclose(own, [4 / 8, 1 / 8, 2 / 8, 1 / 8])


def test_history_counts_phases_in_order():
    run = run_of(training(), lambda1="auto")
    run.run()
    phases = [record.phase for record in run.history]
    assert set(phases) == {0, 1, 2}
    assert phases == sorted(phases)
    assert len(run.path) == phases.count(0)


def test_history_has_the_paths_of_all_candidates():
    run = run_of(training(), lambda1="auto", rule_trust="auto")
    model = run.run()
    phases = [record.phase for record in run.history]
    assert phases == sorted(phases)
    assert phases.count(0) == sum(len(member.choice.path) for member in run.members)
    assert len(run.members) == len(model.members) == 4
    assert model.path == run.path == run.leading.choice.path


@pytest.mark.parametrize("rule_trust", [None, "auto"])
def test_a_run_that_never_began_is_a_model_that_says_so(rule_trust):
    for lambda1 in ("auto", 0.05):
        model = run_of(training(), lambda1=lambda1, rule_trust=rule_trust).model()
        assert model.solution.certificate.status is Status.STOPPED
        assert np.isfinite(model.intercept)


@pytest.mark.parametrize("rule_trust", [None, "auto"])
def test_a_look_at_the_model_while_lambda1_is_chosen_does_not_end_the_choice(rule_trust):
    looked, plain = (run_of(training(), lambda1="auto", rule_trust=rule_trust) for _ in range(2))
    for _ in range(2):
        next(looked)
    so_far = looked.model().solution.certificate
    assert so_far.status is Status.STOPPED
    assert "while lambda1 was being chosen" in so_far.message
    one, other = looked.run(), plain.run()
    assert one.lambda1 == other.lambda1
    assert len(looked.path) == len(plain.path)
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-9)


def test_rounding_is_told_from_a_pull():
    constant = TrainingData.of(np.full((9, 2), 7.3), np.r_[-np.ones(4), np.ones(5)],
                               np.ones(9), np.full(9, 1 / 9), True)  # fmt: skip
    gradient = np.abs(constant.design.correlate(constant.y * constant.p)).max()
    assert gradient <= noise(constant.design)
    assert noise(training().design) < 1e-9
    assert noise(make_design(sp.csr_array((3, 2)))) == 0.0


def test_more_patients_make_a_rule_stronger():
    slacks = []
    for patients in (0.1, 3, 30):
        model = run_of(training(), rule_weight=patients, rho=5.0).run()
        stack = model.problem.stack
        slacks.append(float(stack.slacks(model.solution.b, model.solution.u)[0]))
    assert slacks[0] >= slacks[1] >= slacks[2]
    assert slacks[0] > slacks[2]


def test_a_feature_that_phase_1_would_leave_later_does_not_survive():
    rng = np.random.default_rng(298)  # a draw on which the ADMM settles with a feature too many
    y = np.arange(16) % 2
    X = rng.standard_normal((16, 3)) + np.outer(2 * y - 1, rng.uniform(0.2, 1, 3))
    same = {"rho": 2.0, "standardize": False, "lambda2": 0.5, "rule_trust": None}
    rules = "x0 >= 1.5 => 1\nx1 >= 2 => 0"
    first = HIPADClassifier(rules, lambda1=0.1, **same).fit(X, y)
    largest = lambda1_max(first._model.problem)
    watch = HIPADClassifier(rules, lambda1=1.001 * largest, **same).fit_iter(X, y)
    assert max(record.support_size for record in watch) > 0
    clf = watch.finish()
    assert clf.support_.size == 0
    assert clf.certificate_.status is Status.SOLVED
    assert clf.certificate_.is_optimal(1e-9)


def test_unweighted_classes_keep_their_prevalence_in_the_intercept():
    """Overlapping classes, one patient in five positive: few predictions are."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [160, 40])
    X = rng.standard_normal((200, 3)) + 0.5 * y[:, None]
    share = {
        weight: HIPADClassifier(lambda1=0.01, class_weight=weight).fit(X, y).predict(X).mean()
        for weight in ("balanced", None)
    }
    assert share["balanced"] > 0.3
    assert share[None] < 0.2


def out_of_fold_data(n=40, m=30, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, m)) + np.outer(y, np.r_[shift, np.zeros(m - 1)]), y


def test_a_chosen_model_keeps_one_honest_score_a_patient():
    X, y = out_of_fold_data()
    clf = HIPADClassifier().fit(X, y)
    scores = clf._model.held_out
    assert scores.shape == (40,)
    honest, flattering = (np.mean(y * s) for s in (scores, clf.decision_function(X)))
    assert 0.3 < honest < 1.05 * flattering


def test_given_values_keep_no_scores_but_have_them_on_demand():
    X, y = out_of_fold_data(shift=1.5)
    model = HIPADClassifier(lambda1=0.05, lambda2=1.0).fit(X, y)._model
    assert model.held_out is None
    assert np.mean((model.out_of_fold() > 0) == (y > 0)) > 0.65


def test_learning_trust_at_given_values_leaves_their_scores():
    X, y = out_of_fold_data(shift=1.5)
    model = HIPADClassifier("x0 >= 1 => positive", lambda1=0.05, lambda2=1.0).fit(X, y)._model
    np.testing.assert_array_equal(model.out_of_fold(), model.held_out)
    assert np.mean((model.held_out > 0) == (y > 0)) > 0.65


def test_patients_without_a_signal_get_scores_without_one():
    X, y = out_of_fold_data(n=60, m=200, shift=0.0)
    clf = HIPADClassifier(lambda1=0.01, lambda2=1.0).fit(X, y)
    scores = clf._model.out_of_fold()
    assert np.mean(np.sign(clf.decision_function(X)) == y) > 0.95, "on its own patients"
    assert np.mean(np.sign(scores) == y) < 0.7, "on others"


def test_the_order_of_rows_moves_the_scores_with_them():
    X, y = out_of_fold_data()
    order = np.random.default_rng(1).permutation(40)
    one, other = (HIPADClassifier(lambda1=0.05).fit(X[o], y[o]) for o in (slice(None), order))
    scores = [clf._model.out_of_fold() for clf in (one, other)]
    np.testing.assert_allclose(scores[0][order], scores[1], atol=1e-6)


def test_too_few_patients_for_folds_get_no_score():
    clf = HIPADClassifier(lambda1=0.05).fit(*out_of_fold_data(n=2))
    assert np.isnan(clf._model.out_of_fold()).all()
