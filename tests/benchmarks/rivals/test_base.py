import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.rivals.base import LinearModel, linear_model

MODEL = LinearModel(np.array([1.0, 0, -2]), 0.5, np.array(["no", "yes"]))
X = np.array([[1.0, 9, 0], [0, 9, 1]])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_scores_classes_and_accuracy(kind):
    np.testing.assert_allclose(MODEL.scores(kind(X)), [1.5, -1.5])
    assert MODEL.predict(kind(X)).tolist() == ["yes", "no"]
    assert MODEL.accuracy(kind(X), np.array(["yes", "yes"])) == 0.5
    assert MODEL.support_size == 2


def test_the_objective_is_hinge_plus_elastic_net():
    value = MODEL.objective(X, np.array(["yes", "yes"]), 0.1, 0.2)
    assert value == pytest.approx((0 + 2.5) / 2 + 0.1 * 3 + 0.1 * 5)


def test_a_fitted_classifier_may_hold_sparse_weights():
    class Fitted:
        coef_, intercept_, classes_ = sp.csr_array([[1.0, 0]]), [2.0], np.array([0, 1])

    model = linear_model(Fitted())
    assert (model.w.tolist(), model.b) == ([1.0, 0.0], 2.0)
