from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.estimator.calibration import Calibration, class_means_at_one, least_loss_offset
from hipad.solvers.losses import LOSSES


@st.composite
def scored(draw):
    n = draw(st.integers(2, 20))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    y = np.r_[-1.0, 1.0, np.where(rng.random(n - 2) < 0.5, 1.0, -1.0)]
    return rng.standard_normal(n) + y, y, rng.uniform(0.1, 3.0, n)


@given(scored())
def test_the_means_of_the_classes_come_to_plus_and_minus_one(case):
    scores, y, weights = case
    low, high = (np.average(scores[y == s], weights=weights[y == s]) for s in (-1.0, 1.0))
    scale = class_means_at_one(scores, y, weights, b=0.25)
    if high <= low:
        assert scale == Calibration(1.0, 0.25)
        return
    calibrated = scale.factor * scores + scale.offset
    for s in (-1.0, 1.0):
        mean = np.average(calibrated[y == s], weights=weights[y == s])
        assert mean == pytest.approx(s, abs=1e-6)


@pytest.mark.parametrize("scores", [np.zeros(4), np.full(4, 1e9), np.array([1.0, 1.0, 0.0, 0.0])])
def test_a_direction_that_does_not_separate_keeps_its_intercept(scores):
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    assert class_means_at_one(scores, y, np.ones(4), b=-0.5) == Calibration(1.0, -0.5)


def test_class_means_that_rounding_alone_keeps_apart_are_not_divided_by():
    scores = 1e-18 * np.array([1.0, -1.0, 1.0, -1.0 + 1e-15])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    assert class_means_at_one(scores, y, np.ones(4), b=0.5) == Calibration(1.0, 0.5)


@pytest.mark.parametrize("power", [1, 2])
@given(scored(), st.floats(0.1, 5.0))
def test_no_other_offset_has_a_smaller_loss(power, case, factor):
    scores, y, p = case
    own = LOSSES[{1: "hinge", 2: "squared_hinge"}[power]]
    found = least_loss_offset(scores, y, p, factor, own)

    def loss(offset):
        return p @ np.maximum(1.0 - y * (factor * scores + offset), 0.0) ** power

    near = found.offset + np.array([-1e-3, 1e-3])
    tried = np.r_[y - factor * scores, np.linspace(-20, 20, 81), near]
    assert loss(found.offset) <= min(map(loss, tried)) + 1e-9
    assert found.factor == factor


def test_between_classes_that_are_apart_the_offset_is_in_the_middle():
    scores, y = np.array([-5.0, -3.0, 3.0, 5.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    assert least_loss_offset(scores, y, np.ones(4), 1.0).offset == pytest.approx(0.0)
