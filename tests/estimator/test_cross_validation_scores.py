from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from hipad.estimator.cross_validation import (
    CVResult,
    PlattFit,
    ScoredSamples,
    logistic_fit,
    platt_targets,
)


def evidence(seed=0, n=40, shift=1.0, middle=0.0, factor=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    scores = factor * (rng.standard_normal(n) + shift * y + middle)
    ones = np.ones(n)
    return ScoredSamples(scores, ones, platt_targets(y, ones), ones / n, ones)


@given(seed=st.integers(0, 200), shift=st.floats(0.1, 4.0), middle=st.floats(-3, 3))
def test_the_fit_is_the_least_logistic_loss(seed, shift, middle):
    given = evidence(seed, shift=shift, middle=middle)

    def loss(at):
        z = at[0] * given.scores + at[1]
        return given.weight @ (np.logaddexp(0, z) - given.target * z)

    found = logistic_fit(given)
    least = minimize(loss, [0.5, 0.0], bounds=[(0, None), (None, None)]).fun
    assert given.weight @ found.losses == pytest.approx(least, abs=1e-6)


@given(factor=st.floats(1e-3, 1e3), middle=st.floats(-3, 3))
def test_neither_scale_nor_offset_has_a_say(factor, middle):
    plain, moved = logistic_fit(evidence()), logistic_fit(evidence(factor=factor, middle=middle))
    np.testing.assert_allclose(plain.losses, moved.losses, atol=1e-5)


def test_scores_that_point_the_wrong_way_are_worth_as_much_as_none():
    found = logistic_fit(evidence(shift=-2.0))
    assert found.scale == 0.0
    np.testing.assert_allclose(found.losses, np.log(2), atol=1e-9)


def test_the_cut_lies_between_the_classes_and_an_unsure_one_at_zero():
    assert logistic_fit(evidence(middle=2.0, n=400)).cut == pytest.approx(2.0, abs=0.2)
    assert logistic_fit(evidence(middle=0.0, n=400)).cut == pytest.approx(0.0, abs=0.15)
    few = logistic_fit(evidence(middle=0.3, n=6))
    assert abs(few.cut) < abs(few.offset / few.scale)


def result(losses, counts=None):
    losses = np.array(losses, dtype=float)
    n = losses.size
    counts = np.ones(n) if counts is None else np.array(counts, dtype=float)
    return CVResult(0.1, 1.0, losses, counts / counts.sum(), counts, losses, 0.0, 3)


def test_what_is_hard_for_both_does_not_count():
    hard = np.array([0.0, 3.0, 0.5, 2.0])
    mean, error = result(hard + 0.1).excess_loss(result(hard))
    assert mean == pytest.approx(0.1)
    assert error == pytest.approx(0.0, abs=1e-12)


def test_two_equal_patients_are_one_of_weight_two():
    a, b = [0.3, 0.9, 0.1], [0.2, 0.4, 0.3]
    twice = result([*a, a[2]]).excess_loss(result([*b, b[2]]))
    assert result(a, [1, 1, 2]).excess_loss(result(b, [1, 1, 2])) == pytest.approx(twice)


@pytest.mark.parametrize(("offset", "cut"), [(0.0, 0.0), (1e-200, 0.0), (0.5, 0.0), (2.0, -1.5)])
def test_an_offset_within_its_error_is_no_cut(offset, cut):
    assert PlattFit(1.0, offset, 1.0, np.zeros(0)).cut == pytest.approx(cut)
