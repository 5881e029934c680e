import numpy as np
import pytest

from hipad.designs import make_design
from hipad.estimator.empty import noise
from tests.small import data, fit


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


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_noise_grows_with_the_columns(size):
    assert noise(make_design(size * np.eye(3))) == pytest.approx(1e-12 * size)
