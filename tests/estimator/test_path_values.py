"""The values that are tried."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator.parameters import FitSettings
from hipad.estimator.path import (
    LambdaGrid,
    approach,
    rounded,
    widening,
)
from hipad.estimator.problem_factory import ProblemFactory, TrainingData, shares
from hipad.estimator.settings import SELECTION
from hipad.rules.compiler import compile_knowledge


def values_of(standardize=True, factor=1.0, **parameters):
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    X = factor * (np.random.default_rng(0).standard_normal((40, 5)) + y[:, None])
    data = TrainingData.of(X, y, np.ones(40), shares(y, np.ones(40), "balanced"), standardize)
    plan = FitSettings.of(HIPADClassifier(**parameters), compile_knowledge("", n_features=5))
    return LambdaGrid(ProblemFactory(data, plan))


def test_the_path_goes_down_to_a_hundredth_of_the_largest_value():
    tried = values_of()
    grid, judged = tried.lambda1()
    largest = tried.factory.largest_lambda1
    assert len(grid) == SELECTION.n_lambda1
    assert grid[0] == rounded(SELECTION.largest * largest)
    assert grid[-1] == rounded(SELECTION.smallest * largest)
    assert (grid < judged).all(), "all of them are judged"
    assert values_of(lambda1=0.05).lambda1()[1] == 0.05


def test_steps_grow_towards_large_models():
    factors = -np.diff(np.log(widening(1.0, 0.01, 9, SELECTION.widening)))
    assert (np.diff(factors) > 0).all()
    assert factors[0] < np.log(1.5), "between sparse models little is missed"
    assert factors[-1] < np.log(2.5)


def test_lambda2_is_counted_in_variances_of_columns():
    assert values_of().ridges == list(SELECTION.ridges)
    assert values_of(lambda2=3.0).ridges == [3.0]
    plain, tenfold = (values_of(standardize=False, factor=factor) for factor in (1.0, 10.0))
    np.testing.assert_allclose(tenfold.factory.data.unit, 100 * plain.factory.data.unit)
    np.testing.assert_allclose(tenfold.ridges, 100 * np.array(plain.ridges), rtol=0.02)


def test_neighbours_lie_one_spacing_apart():
    tried = values_of()
    grid = np.log(tried.lambda1()[0])
    assert tried.spacing[0] == pytest.approx(-np.diff(grid).mean(), rel=0.2)
    assert tried.spacing[1] == pytest.approx(np.log(SELECTION.ridges[1] / SELECTION.ridges[2]))


def test_the_way_to_a_value_ends_there():
    np.testing.assert_allclose(approach(1.0, 0.1)[-1], 0.1)
    assert (np.diff(approach(1.0, 0.001)) < 0).all()
    assert approach(1.0, 2.0).tolist() == [2.0]
    assert approach(1.0, 0.0)[-1] == 0.0
