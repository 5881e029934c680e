from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit

from hipad.estimator.calibration import CalibrationMap, check_prevalence
from hipad.estimator.settings import SELECTION
from hipad.exceptions import HipadError


def population(n, slope=2.0, intercept=-1.5, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal(n)
    y = np.where(rng.random(n) < expit(slope * scores + intercept), 1.0, -1.0)
    return scores, y, np.ones(n)


def isotonic_from(rows):
    """Settings with an isotonic curve from so many rows of the rarer class."""
    return replace(SELECTION, isotonic_rows=rows)


def test_a_known_logistic_curve_is_found_again():
    x = np.linspace(-2.0, 2.0, 9)
    found = CalibrationMap.fit(*population(20_000), isotonic_from(10**9)).risks(x)
    np.testing.assert_allclose(logit(found), 2.0 * x - 1.5, atol=0.15)


def averaged_by_hand(scores, y, x):
    """The mean over a fine grid of slopes: the definition, without any shortcut."""
    z = (scores - scores.mean()) / scores.std()
    slopes = np.r_[0.0, np.geomspace(1e-2, 60.0, 500)]
    cauchy = 2 / (np.pi * SELECTION.usual_slope * (1 + (slopes / SELECTION.usual_slope) ** 2))
    prior = np.r_[0.5, 0.5 * (cauchy * np.gradient(slopes))[1:]]
    share, at = (y > 0).mean(), (x - scores.mean()) / scores.std()
    own = [brentq(lambda a, b=b: expit(a + b * z).mean() - share, -2e3, 2e3) for b in slopes]
    odds = np.array(own)[:, None] + np.outer(slopes, z)
    gap = scores[y > 0].mean() - scores[y < 0].mean()
    power = 1 / (1 + (1 - np.clip(gap, 0, 2) / 2))
    fit = power * ((y > 0) * odds - np.logaddexp(0.0, odds)).sum(axis=1)
    chance = prior * np.exp(fit - fit.max())
    return chance @ expit(np.array(own)[:, None] + np.outer(slopes, at)) / chance.sum()


@pytest.mark.parametrize(("n", "slope"), [(12, 0.0), (30, 1.0), (60, 3.0)])
def test_the_risk_is_the_average_over_all_slopes(n, slope):
    scores, y, w = population(n, slope, intercept=-0.5, seed=n)
    x = np.quantile(scores, [0.0, 0.3, 0.7, 1.0])
    found = CalibrationMap.fit(scores, y, w).risks(x)
    np.testing.assert_allclose(found, averaged_by_hand(scores, y, x), atol=0.01)


def test_few_rows_leave_the_prevalence_and_many_do_not():
    reach = []
    for n in (6, 24, 96, 384):
        scores = np.tile([-1.0, -0.2, 0.2, 1.0, -0.5, 0.5], n // 6)
        y = np.tile([-1.0, -1.0, 1.0, 1.0, 1.0, -1.0], n // 6)
        reach.append(float(np.ptp(CalibrationMap.fit(scores, y, np.ones(n)).risks(scores))))
    assert reach == sorted(reach)
    assert reach[0] < 0.15 < 0.45 < reach[-1]


def test_scores_beyond_those_of_the_rows_make_nobody_more_certain():
    scores, y, w = population(200)
    curve = CalibrationMap.fit(scores, y, w)
    ends = curve.risks(np.array([scores.min(), scores.max()]))
    np.testing.assert_array_equal(curve.risks(np.array([-1e9, 1e9])), ends)


def test_rows_that_were_scored_several_times_count_once():
    scores, y, w = population(50)
    once = CalibrationMap.fit(scores, y, w)
    again = CalibrationMap.fit(np.vstack([scores, scores, np.full(50, np.nan)]), y, w)
    np.testing.assert_allclose(again.log_odds, once.log_odds, atol=1e-9)


def test_isotonic_follows_a_curve_that_no_sigmoid_is():
    rng = np.random.default_rng(0)
    scores = rng.uniform(-1, 1, 20_000)
    truth = np.where(scores < 0, 0.1, 0.4)
    y = np.where(rng.random(scores.size) < truth, 1.0, -1.0)
    curve = CalibrationMap.fit(scores, y, np.ones(y.size), isotonic_from(10))
    found = curve.risks(np.array([-0.8, -0.3, 0.3, 0.8]))
    np.testing.assert_allclose(found, [0.1, 0.1, 0.4, 0.4], atol=0.05)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-50, 50), st.booleans(), st.floats(0.1, 5)), min_size=2, max_size=40
    ),
    st.booleans(),
    st.floats(1e-4, 1 - 1e-4),
)
def test_risks_rise_stay_inside_and_have_the_prevalence_as_mean(rows, isotonic, other):
    scores, labels, w = map(np.array, zip(*rows, strict=True))
    labels[:2] = [True, False]
    y = np.where(labels, 1.0, -1.0)
    curve = CalibrationMap.fit(scores, y, w, isotonic_from(0 if isotonic else 10**9))
    x = np.linspace(-1e3, 1e3, 401)
    for prevalence in (None, other):
        risks = curve.risks(x, prevalence)
        assert np.all(np.diff(risks) >= -1e-15)
        assert np.all((risks > 0) & (risks < 1))
    share = w[labels].sum() / w.sum()
    assert np.average(curve.risks(scores), weights=w) == pytest.approx(share, rel=1e-6)


@pytest.mark.parametrize("large", [0, 10**9])
def test_a_weight_of_two_is_two_rows(large):
    own = isotonic_from(large)
    scores, y, _ = population(60)
    w = np.random.default_rng(1).integers(1, 4, 60)
    one = CalibrationMap.fit(scores, y, w.astype(float), own)
    other = CalibrationMap.fit(np.repeat(scores, w), np.repeat(y, w), np.ones(w.sum()), own)
    x = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(one.risks(x), other.risks(x), rtol=1e-6)


def test_another_prevalence_moves_the_odds_by_bayes():
    scores, y, w = population(400)
    curve = CalibrationMap.fit(scores, y, w)
    here, there = curve.risks(scores), curve.risks(scores, 0.01)
    ratio = (there / (1 - there)) / (here / (1 - here))
    expected = (0.01 / 0.99) / (curve.prevalence / (1 - curve.prevalence))
    np.testing.assert_allclose(ratio, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("scores", "near"),
    [
        (np.zeros(20), 1e-12),
        (np.full(20, np.nan), 1e-12),
        (np.r_[[np.nan] * 19, 1], 1e-12),
        (np.tile([2.0, 1.0], 10), 0.01),  # they point the wrong way, perhaps by chance
    ],
)
def test_scores_that_do_not_tell_the_classes_apart_leave_the_prevalence(scores, near):
    y = np.tile([-1.0, 1.0], 10)
    curve = CalibrationMap.fit(scores, y, np.r_[np.full(19, 1.0), 3.0])
    np.testing.assert_allclose(curve.risks(np.array([-9.0, 0.0, 9.0])), 12 / 22, atol=near)


@pytest.mark.parametrize("positives", [1, 2])
def test_a_class_of_one_or_two_patients_makes_nobody_certain(positives):
    scores = np.r_[np.full(10, -1.0) + np.arange(10) / 100, np.full(positives, 1.0)]
    y = np.r_[-np.ones(10), np.ones(positives)]
    low, high = CalibrationMap.fit(scores, y, np.ones(y.size)).risks(np.array([-1.0, 1.0]))
    assert 0.01 < low < positives / y.size < high < 0.9


def test_rows_without_a_score_count_in_the_prevalence():
    scores, y, w = population(200)
    known = CalibrationMap.fit(scores, y, w)
    more = CalibrationMap.fit(np.r_[scores, [np.nan] * 50], np.r_[y, np.ones(50)], np.ones(250))
    assert more.prevalence == pytest.approx(((y > 0).sum() + 50) / 250)
    shift = logit(more.prevalence) - logit(known.prevalence)
    np.testing.assert_allclose(more.log_odds - known.log_odds, shift)


@pytest.mark.parametrize("large", [0, 10**9])
def test_the_curve_over_another_scale_gives_the_same_risks(large):
    curve = CalibrationMap.fit(*population(200), isotonic_from(large))
    x = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(curve.of_scaled(2.0, 0.5).risks(x), curve.risks(2 * x + 0.5))


def test_a_decision_that_asks_the_same_question_gives_the_same_answer():
    scores, y, w = population(200, intercept=0.05)
    free = CalibrationMap.fit(scores, y, w)
    even = free.even_at(0.0, scores, y, w)
    assert even.risks(np.zeros(1))[0] == pytest.approx(0.5)
    np.testing.assert_allclose(np.diff(even.log_odds), np.diff(free.log_odds), atol=1e-9)


@pytest.mark.parametrize("zero", [-9.0, 0.0, 9.0])
def test_where_rows_contradict_a_decision_nobody_is_told_the_contrary(zero):
    rows = population(200, intercept=1.0)
    free = CalibrationMap.fit(*rows)
    bent = free.even_at(zero, *rows)
    x = np.r_[np.linspace(-10.0, 10.0, 400), zero - 1e-3, zero + 1e-3]
    np.testing.assert_array_equal(bent.risks(x) > 0.5, x > zero)
    assert np.all(np.diff(bent.log_odds) >= 0)
    if zero == 0:
        assert bent.risks(rows[0]).mean() == pytest.approx(np.mean(rows[1] > 0), rel=1e-4)


@pytest.mark.parametrize("wrong", [0, 1, 0.0, 1.0, -0.1, 2, "0.1", True, float("nan")])
def test_an_impossible_prevalence_is_told(wrong):
    with pytest.raises(HipadError, match="prevalence"):
        check_prevalence(wrong)


def test_a_possible_prevalence_is_taken():
    for right in (None, 0.5, np.float64(0.01)):
        check_prevalence(right)
