"""What must hold of any fit: symmetries, units, weights, and what a rule may and may not do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.solvers import Status, lambda1_max

METHODS = ["hipad", "exact", "admm"]
CLOSE = {"rtol": 1e-5, "atol": 1e-6}
some_examples = settings(max_examples=10)


class Case(NamedTuple):
    """A small problem with two rules; `rules` writes them for any order and unit of columns."""

    X: np.ndarray
    y: np.ndarray
    thresholds: tuple[float, float]
    lambda1: float
    rule_trust: str | None

    def rules(self, first="x0", second="x1", flip=False, units=(1.0, 1.0)):
        positive, negative = ("negative", "positive") if flip else ("positive", "negative")
        high, low = (float(t * u) for t, u in zip(self.thresholds, units, strict=True))
        return (
            f"{first} >= {high!r} => {positive}\n{second} >= {low!r} => {negative} worth 3 patients"
        )

    def fit(self, X=None, y=None, rules=None, weights=None, **parameters):
        X, y = self.X if X is None else X, self.y if y is None else y
        usual = {"lambda1": self.lambda1, "lambda2": 0.5, "rule_trust": self.rule_trust, "cv": 2}
        given = {**usual, **parameters}
        clf = HIPADClassifier(self.rules() if rules is None else rules, **given)
        return clf.fit(X, y, sample_weight=weights)


@st.composite
def cases(draw, smallest=2):
    seed = draw(st.integers(0, 10_000))
    n, m = draw(st.integers(6, 24)), draw(st.integers(smallest, 7))
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2, 1, -1)
    X = rng.standard_normal((n, m)) + np.outer(y, rng.uniform(0.2, 1.0, m))
    thresholds = (float(rng.uniform(1, 3)), float(rng.uniform(1, 3)))
    lambda1 = draw(st.sampled_from([0.02, 0.05, 0.15]))
    return Case(X, y, thresholds, lambda1, draw(st.sampled_from([None, None, None, "auto"])))


methods = st.sampled_from(METHODS)


@given(case=cases(), method=methods)
@some_examples
def test_flipped_labels_and_outcomes_negate_the_model(case, method):
    plain = case.fit(method=method, solver={"tol": 1e-9})
    flipped = case.fit(y=-case.y, rules=case.rules(flip=True), method=method, solver={"tol": 1e-9})
    np.testing.assert_allclose(flipped.coef_, -plain.coef_, **CLOSE)
    np.testing.assert_allclose(flipped.intercept_, -plain.intercept_, **CLOSE)


@given(case=cases(), method=methods, seed=st.integers(0, 99))
@some_examples
def test_the_order_of_rows_does_not_matter(case, method, seed):
    order = np.random.default_rng(seed).permutation(len(case.y))
    plain = case.fit(method=method, solver={"tol": 1e-9})
    mixed = case.fit(X=case.X[order], y=case.y[order], method=method, solver={"tol": 1e-9})
    np.testing.assert_allclose(mixed.coef_, plain.coef_, **CLOSE)
    np.testing.assert_allclose(mixed.intercept_, plain.intercept_, **CLOSE)


@given(case=cases(), method=methods, seed=st.integers(0, 99))
@some_examples
def test_the_order_of_columns_does_not_matter(case, method, seed):
    order = np.random.default_rng(seed).permutation(case.X.shape[1])
    place = np.argsort(order)
    plain = case.fit(method=method, solver={"tol": 1e-9})
    rules = case.rules(f"x{place[0]}", f"x{place[1]}")
    mixed = case.fit(X=case.X[:, order], rules=rules, method=method, solver={"tol": 1e-9})
    np.testing.assert_allclose(mixed.coef_[0, place], plain.coef_[0], **CLOSE)
    np.testing.assert_allclose(mixed.intercept_, plain.intercept_, **CLOSE)


@given(case=cases(), standardize=st.booleans())
@some_examples
def test_a_repeated_row_is_a_row_of_weight_two(case, standardize):
    rows = np.r_[np.arange(len(case.y)), 0, 1, 1]
    weights = np.bincount(rows).astype(float)
    same = {"method": "exact", "standardize": standardize}
    repeated = case.fit(X=case.X[rows], y=case.y[rows], **same)
    weighted = case.fit(weights=weights, **same)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, **CLOSE)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, **CLOSE)


@given(case=cases(), exponents=st.tuples(st.integers(-6, 6), st.integers(-6, 6)), method=methods)
@some_examples
def test_a_feature_rescaled_with_its_rule_gives_the_same_answers(case, exponents, method):
    units = tuple(10.0**k for k in exponents)
    factors = np.r_[units, np.ones(case.X.shape[1] - 2)]
    plain = case.fit(method=method, solver={"tol": 1e-9})
    other = case.fit(
        X=case.X * factors, rules=case.rules(units=units), method=method, solver={"tol": 1e-9}
    )
    scores = other.decision_function(case.X * factors)
    np.testing.assert_allclose(scores, plain.decision_function(case.X), **CLOSE)


@given(case=cases(), method=methods)
@some_examples
def test_rules_are_in_the_users_units_whatever_the_scaling(case, method):
    """Scaling inside, or by hand with the rules rewritten for the scaled columns, is the same.

    Of one optimum: folds, which learn the trust in rules, scale by their own rows only inside.
    """
    mean, std = case.X.mean(axis=0), case.X.std(axis=0)
    Z = (case.X - mean) / std
    high, low = (np.array(case.thresholds) - mean[:2]) / std[:2]
    literal = {"method": method, "rule_trust": None, "solver": {"tol": 1e-9}}
    by_hand = case._replace(thresholds=(high, low)).fit(X=Z, standardize=False, **literal)
    inside = case.fit(standardize=True, **literal)
    np.testing.assert_allclose(
        inside.decision_function(case.X), by_hand.decision_function(Z), **CLOSE
    )


@given(case=cases(), method=methods, standardize=st.booleans())
@some_examples
def test_at_the_largest_lambda1_no_feature_survives_and_below_it_one_does(
    case, method, standardize
):
    same = {"method": method, "standardize": standardize, "rho": 2.0, "rule_trust": None}
    largest = lambda1_max(case.fit(**same)._model.problem)
    empty = case.fit(lambda1=1.001 * largest, **same)
    assert empty.support_.size == 0
    assert not empty.coef_.any()
    assert empty.certificate_.status is Status.SOLVED
    assert "no feature survives" in empty.certificate_.message
    assert f"{largest:.4g}" in empty.certificate_.message
    assert len(np.unique(empty.predict(case.X))) == 1
    assert case.fit(lambda1=0.9 * largest, **same).support_.size > 0


@given(case=cases(), method=methods, scope=st.sampled_from(["population", "typical"]))
@some_examples
def test_a_rule_worth_nothing_is_no_rule(case, method, scope):
    same = {"method": method, "rule_settings": {"scope": scope}}
    none = case.fit(rules="", **same)
    worthless = case.fit(rules="x0 >= 1 => positive worth 0 patients", **same)
    by_parameter = case.fit(rules="x0 >= 1 => positive", rule_weight=0, **same)
    for other in (worthless, by_parameter):
        assert np.array_equal(other.coef_, none.coef_)
        assert other.rule_report_[0].slack is None


@given(case=cases(), method=methods)
@some_examples
def test_or_is_two_rules(case, method):
    joined = case.fit(rules="x0 >= 2 or x1 >= 2 => positive", method=method)
    apart = case.fit(rules="x0 >= 2 => positive\nx1 >= 2 => positive", method=method)
    np.testing.assert_allclose(joined.coef_, apart.coef_, **CLOSE)
    assert len(joined.rule_report_) == 2


@pytest.mark.parametrize("method", ["hipad", "exact"])
def test_or_is_not_and(method):
    """Two features of which only rules know: with `or` each of them suffices, with `and` not."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = 0.3 * rng.standard_normal((40, 3))
    X[:, 2] += 2 * y - 1
    firm = {"lambda1": 1e-3, "lambda2": 0.01, "rule_weight": 40, "rho": 100.0}
    as_is = {"selection": {"calibrate": False}, "standardize": False}
    as_is |= {"rule_settings": {"scope": "typical", "centered": False}}
    either, both = (
        HIPADClassifier(f"x0 >= 3 {word} x1 >= 3 => 1", method=method, **firm, **as_is).fit(X, y)
        for word in ("or", "and")
    )
    one_or_two_high = np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [3.0, 3.0, 0.0]])
    assert (either.decision_function(one_or_two_high) > 0.99).all()
    *one_high, both_high = both.decision_function(one_or_two_high)
    assert both_high > 0.99
    assert min(one_high) < 0.5
