import numpy as np
import pytest

from hipad.designs import make_design
from hipad.estimator.problem_factory import noise
from tests.small import METHODS, data, fit


def test_a_large_lambda1_is_told_with_one_that_works():
    model = fit(rules=None, lambda1=50.0)
    message = model.certificate_.message
    assert model.support_.size == 0
    assert message.startswith("no feature survives lambda1 = 50: choose one below ")
    advised = float(message.split("below ")[1].split(";")[0])
    assert fit(rules=None, lambda1=0.9 * advised).support_.size > 0


def test_features_that_tell_nothing_are_called_so():
    X, y = data()
    model = fit(np.zeros_like(X), y, rules=None)
    assert model.certificate_.message.startswith("no feature tells the classes apart")
    assert len(set(model.predict(X))) == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("rules", [None, "x0 is certain"])
@pytest.mark.parametrize("class_weight", ["balanced", None, {0: 3.0}])
def test_the_same_rows_in_both_classes_are_a_constant_model_that_says_so(
    method, standardize, rules, class_weight
):
    rows = 100.0 * np.random.default_rng(3).standard_normal((40, 5))
    X, y = np.vstack([rows, rows[::-1]]), np.repeat([0, 1], 40)
    settings = {"rules": rules, "method": method, "class_weight": class_weight}
    model = fit(X, y, lambda1=0.0, standardize=standardize, **settings)
    assert model.support_.size == 0
    assert np.ptp(model.decision_function(X)) == 0
    assert np.abs(model.decision_function(X)).max() <= 1
    assert model.certificate_.message.startswith("no feature tells the classes apart")
    assert model.certificate_.undecided == 0
    assert np.ptp(model.predict_proba(X)[:, 1]) == 0


def test_a_strong_ridge_leaves_weights_that_are_small_but_no_rounding():
    X, y = data()
    model = fit(X, y, rules=None, lambda1=0.0, lambda2=1e12)
    assert model.support_.size == X.shape[1]
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_noise_grows_with_the_columns(size):
    assert noise(make_design(size * np.eye(3))) == pytest.approx(1e-12 * size)
