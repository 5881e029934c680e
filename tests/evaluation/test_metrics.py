from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from hipad.evaluation.intervals import paired_interval, paired_p_value, wilson_interval
from hipad.evaluation.metrics import roc_area


@given(st.integers(0, 60), st.integers(1, 60))
def test_wilson_solves_its_own_equation(right, more):
    total = right + more
    share = right / total
    low, high = wilson_interval(right, total)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):  # |share - end| = z sd(end)
        if 0 < end < 1:
            spread = 1.959964**2 * end * (1 - end) / total
            assert (share - end) ** 2 == pytest.approx(spread, rel=1e-4, abs=1e-9)


def test_nobody_to_ask_excludes_nothing():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert np.isnan(roc_area([True, True], [1.0, 2.0]).value)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
        lambda rows: len({sick for sick, _ in rows}) == 2
    )
)
def test_area_agrees_with_scikit_learn(rows):
    positive, scores = (np.array(part) for part in zip(*rows, strict=True))
    area = roc_area(positive, scores)
    assert area.value == pytest.approx(roc_auc_score(positive, scores))
    assert 0 <= area.low <= area.value <= area.high <= 1
    mirrored = roc_area(positive, -scores)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - area.high, 1 - area.low), abs=1e-6)


def test_a_perfect_area_of_few_patients_stays_uncertain():
    few = roc_area([False] * 4 + [True] * 4, range(8))
    many = roc_area([False] * 400 + [True] * 400, range(800))
    assert few.value == many.value == few.high == 1
    assert few.low < 0.8 < 0.99 < many.low


def test_newcombes_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    truth = 0.7602  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt 2)
    positive = np.arange(40) < 15
    areas = [roc_area(positive, rng.standard_normal(40) + positive) for _ in range(400)]
    assert 0.91 <= np.mean([area.low <= truth <= area.high for area in areas]) <= 0.99


def test_paired_p_value_is_the_sign_test():
    assert paired_p_value(0, 0) == 1
    assert paired_p_value(6, 0) == pytest.approx(2 / 64)
    assert paired_p_value(1, 9) == paired_p_value(9, 1) == pytest.approx(2 * 11 / 1024)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60))
def test_paired_interval_agrees_with_the_test(better, worse, same):
    total = better + worse + same
    low, high = paired_interval(better, worse, total)
    if total:
        assert low <= (better - worse) / total <= high
    assert (high < 0) == (worse > better and paired_p_value(better, worse) < 0.05)
    assert paired_interval(worse, better, total) == pytest.approx((-high, -low))
