from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import minimize

from hipad import HIPADClassifier
from hipad.estimator.problem_factory import rule_weights
from hipad.rules import RuleColumns, compile_rules, rule_gradient, rule_gradients
from hipad.rules.weights import ALONE, FLOOR, RuleEvidence, shortest_patient

# --------------------------------------------------------------------------------------------------
# Pull.


NUMBERS = st.integers(-8, 8).map(lambda n: n / 4)
POSITIVE = st.floats(0.05, 20)


def pull_by_descent(B: np.ndarray, d: np.ndarray, sigma: float, rho: float) -> np.ndarray:
    """The gradient of the rule's penalty at w = 0, b = 0, with the best multiplier found by search.

    The hinge is written as a variable q >= d'u + 1, q >= 0, so that the search is smooth.
    """
    k = len(d)
    answer = minimize(
        lambda v: rho / 2 * np.sum((B.T @ v[:k]) ** 2) + sigma * v[k],
        np.append(np.zeros(k), 1.0),
        jac=lambda v: np.append(rho * (B @ (B.T @ v[:k])), sigma),
        bounds=[(0, None)] * (k + 1),
        constraints={
            "type": "ineq",
            "fun": lambda v: v[k] - d @ v[:k] - 1,
            "jac": lambda v: np.append(-d, 1.0),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assume(answer.success)
    return rho * np.abs(B.T @ answer.x[:k])


@given(hnp.arrays(np.float64, (2, 3), elements=NUMBERS), POSITIVE, POSITIVE)
def test_the_pull_is_the_gradient_at_zero(B: np.ndarray, sigma: float, rho: float):
    assume((np.linalg.norm(B, axis=1) > 0.2).all())
    d = np.array([-1.0, -0.5])
    gradient = rule_gradient(sparse.csr_array(B), d, sigma=sigma, rho=rho, lambda1=0.1)
    assume(gradient.limit != "never")
    expected = pull_by_descent(B, d, sigma, rho).max()
    assert gradient.strongest == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_one_condition_has_the_known_formula():
    L, d, sigma, rho = 50, -4.0, 0.25, 300.0
    B = sparse.csr_array(np.full((1, L), -1 / L))
    gradient = rule_gradient(B, np.array([d]), sigma=sigma, rho=rho, lambda1=0.08)
    assert gradient.strongest == pytest.approx(min(sigma * abs(d), rho / (L * abs(d))))
    exact = rule_gradient(B, np.array([d]), sigma=gradient.sigma_needed, rho=1e9, lambda1=0.08)
    assert exact.strongest == pytest.approx(0.08)
    exact = rule_gradient(B, np.array([d]), sigma=1e9, rho=gradient.rho_needed, lambda1=0.08)
    assert exact.strongest == pytest.approx(0.08)


def test_what_the_average_meets_or_nobody_meets_has_no_pull():
    B = sparse.csr_array([[1.0], [-1.0]])
    settings = {"sigma": 1.0, "rho": 1.0, "lambda1": 0.1}
    assert rule_gradient(B, np.array([1.0, 1.0]), **settings).limit == "premise"
    assert rule_gradient(B, np.array([-1.0, -1.0]), **settings).limit == "never"


def patients(signal):
    """40 patients, both classes alike in all but feature 0, whose means are `signal` apart."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3))
    X = np.r_[X, X] - X.mean(axis=0)
    y = np.repeat([-1.0, 1.0], 20)
    X[:, 0] += 0.5 * signal * y
    return X, y


@pytest.mark.parametrize(("share", "enters"), [(0.99, True), (1.01, False)])
def test_a_feature_enters_when_patients_and_rules_together_exceed_lambda1(share, enters):
    X, y = patients(signal=0.6)
    text = "x0 >= 2 => positive worth 4 patients\nx0 <= -1 => negative worth 4 patients"
    rules = compile_rules(text, n_features=3)
    weights = [rule_weights(rule, total=40, rule_weight="auto", rho="auto") for rule in rules]
    first, second = rule_gradients(rules, weights, 0.0, lambda columns: X[:, columns].T @ (y / 40))
    assert first.strongest == pytest.approx(0.2)
    assert second.strongest == pytest.approx(0.1)
    assert first.together == second.together == pytest.approx(0.3 + 0.2 + 0.1)
    lambda1 = share * first.together
    clf = HIPADClassifier(
        text, lambda1=lambda1, standardize=False, method="exact", rule_settings={"centered": False}
    )
    clf.fit(X, np.where(y > 0, "positive", "negative"))
    assert (clf.support_.tolist() == [0]) is enters
    gradients = [record.gradient for record in clf.rule_report_]
    assert [gradient.enters for gradient in gradients] == [enters] * 2
    assert not any(gradient.alone for gradient in gradients)


def test_patients_who_pull_the_other_way_do_not_help_a_rule():
    X, y = patients(signal=-0.6)
    rules = compile_rules("x0 >= 2 => positive worth 4 patients", n_features=3)
    weights = [rule_weights(rule, total=40, rule_weight="auto", rho="auto") for rule in rules]
    (gradient,) = rule_gradients(rules, weights, 0.1, lambda columns: X[:, columns].T @ (y / 40))
    assert gradient.together == 0.0
    assert gradient.strongest == pytest.approx(0.2)
    assert not gradient.enters
    assert gradient.sigma_needed == pytest.approx((0.1 + 0.3) / 2)


# --------------------------------------------------------------------------------------------------
# Speaking.


X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0], [8.0, 5.0]])
Y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])


def samples(text, X=X, y=Y, weights=None):
    rules = compile_rules(text, n_features=X.shape[1])
    return rules, RuleColumns.of(rules, X, y, np.ones(len(y)) if weights is None else weights)


def test_the_typical_patient_lies_the_mean_excess_beyond_the_threshold():
    (rule,), seen = samples("x0 >= 3 => positive")
    np.testing.assert_allclose(seen.excess(rule), [np.mean([0.0, 1.0, 5.0])])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 3.0])
    (rule,), seen = samples("x0 >= 3 => positive", weights=weights)
    np.testing.assert_allclose(seen.excess(rule), [np.mean([0.0, 1.0, 5.0, 5.0, 5.0])])


def test_where_few_meet_the_premise_the_deviation_says_how_far():
    (none, one, many), seen = samples(
        "x0 >= 9 => positive\nx0 >= 7 => positive\nx0 >= 1 and x0 <= 2.01 => negative"
    )
    np.testing.assert_allclose(seen.excess(none), [ALONE * X[:, 0].std()])
    np.testing.assert_allclose(seen.excess(one), [ALONE * X[:, 0].std()])
    assert seen.excess(many).sum() < 1.01  # both ends of an interval leave somebody between them


def test_the_excess_has_a_floor():
    Z = np.array([[0.0], [10.0], [10.01], [10.02]])
    (rule,), seen = samples("x0 >= 10 => positive", X=Z, y=np.array([-1.0, -1.0, 1.0, 1.0]))
    np.testing.assert_allclose(seen.excess(rule), [FLOOR * Z.std()])


@pytest.mark.parametrize("text", ["x0 = 3 => positive", "x0 >= 9 and x0 <= 1 => positive"])
def test_a_premise_without_room_stays_as_it_is(text):
    (rule,), seen = samples(text)
    np.testing.assert_array_equal(seen.excess(rule), np.zeros(2))


NUMBERS_SPEAKING = st.integers(-30, 30).map(lambda n: n / 10)


@given(st.tuples(NUMBERS_SPEAKING, NUMBERS_SPEAKING), st.floats(0.1, 3), st.integers(0, 10_000))
def test_whoever_can_meet_a_rule_can_meet_it_as_it_is_told(centre, width, seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.standard_normal((20, 2)), np.tile([-1.0, 1.0], 10)
    a, b = centre
    text = f"x0 >= {a!r} and x0 <= {a + width!r} and x0 + x1 <= {b!r} => positive"
    rules, seen = samples(text, X=Z, y=y)
    (told,) = seen.all_representatives(rules)
    assert shortest_patient(told.B, told.d) is not None


def test_rules_count_from_the_middle_between_the_classes():
    rules, seen = samples("x0 >= 3 => positive")
    middle = (1.5 + 5.0) / 2
    np.testing.assert_allclose(seen.middle(2), [middle, 0.0])
    (told,) = seen.all_representatives(rules, np.array([2.0, 1.0]))
    np.testing.assert_allclose(told.d, -3.0 - 2.0 + middle)
    np.testing.assert_allclose(told.B.toarray(), [[-2.0, 0.0]])


def test_labels_do_not_say_who_is_typical():
    (rule,), seen = samples("x0 >= 3 => positive")
    (_,), others = samples("x0 >= 3 => positive", y=-Y)
    np.testing.assert_array_equal(seen.excess(rule), others.excess(rule))


def test_sparse_rows_are_the_same_rows():
    rules, seen = samples("x0 >= 3 and x1 <= 6 => positive")
    _, other = samples("x0 >= 3 and x1 <= 6 => positive", X=sparse.csc_array(X))
    np.testing.assert_array_equal(
        seen.all_representatives(rules)[0].d, other.all_representatives(rules)[0].d
    )


def unlabelled(text, others, X=X, y=Y):
    rules = compile_rules(text, n_features=X.shape[1])
    return rules, RuleColumns.of(rules, X, y, np.ones(len(y)), others)


def test_rows_without_a_label_say_who_is_typical_too():
    others = np.array([[5.0, 5.0], [0.0, 5.0], [6.0, 5.0]])
    (rule,), seen = unlabelled("x0 >= 3 => positive", others)
    (_,), joined = samples("x0 >= 3 => positive", X=np.vstack([X, others]), y=np.r_[Y, 1, 1, -1])
    np.testing.assert_allclose(seen.excess(rule), [np.mean([0.0, 1.0, 5.0, 2.0, 3.0])])
    np.testing.assert_array_equal(seen.excess(rule), joined.excess(rule))
    sparse_rows = unlabelled("x0 >= 3 => positive", sparse.csr_array(others))[1]
    np.testing.assert_array_equal(seen.excess(rule), sparse_rows.excess(rule))


def test_rows_without_a_label_neither_bear_a_rule_out_nor_move_the_middle():
    rules, alone = samples("x0 >= 3 => positive")
    _, seen = unlabelled("x0 >= 3 => positive", np.array([[50.0, 5.0], [-50.0, 5.0]]))
    assert seen.evidence(rules[0]) == alone.evidence(rules[0])
    np.testing.assert_array_equal(seen.middle(2), alone.middle(2))


def test_heard_counts_who_meets_the_rule_and_who_bears_it_out():
    y = np.tile([-1.0, 1.0], 20)
    Z = np.zeros((40, 1))
    Z[1:11:2] = 1.0  # five who bear the rule out
    Z[:6:2] = 1.0  # three who do not
    weights = np.where(np.arange(40) == 1, 2.0, 1.0)
    (rule,), seen = samples("x0 >= 1 => positive", X=Z, y=y, weights=weights)
    evidence = seen.evidence(rule)
    assert (evidence.fired, evidence.right, evidence.wrong) == (9.0, 6.0, 3.0)
    assert evidence.agreement == pytest.approx((6 / 21) / (6 / 21 + 3 / 20))
    assert "3 of the 9 training patients it speaks of contradict it" in evidence.contradiction("it")


def test_who_is_met_by_nobody_is_not_doubtful():
    (rule,), seen = samples("x0 >= 100 => positive")
    evidence = seen.evidence(rule)
    assert (evidence.fired, evidence.right) == (0.0, 0.0)
    assert np.isnan(evidence.agreement)
    assert not evidence.doubtful


def test_a_rule_that_is_mostly_wrong_is_doubtful():
    y = np.repeat([-1.0, 1.0], [60, 20])
    Z = np.zeros((80, 1))
    Z[:30], Z[60:62] = 1.0, 1.0  # right on 2 of 32
    (rule,), seen = samples("x0 >= 1 => positive", X=Z, y=y)
    evidence = seen.evidence(rule)
    assert evidence.doubtful
    assert evidence.agreement == pytest.approx(0.1 / 0.6)


def test_a_coin_is_not_doubtful_and_few_patients_shake_nothing():
    assert not RuleEvidence(40, 20, 0.5).doubtful
    assert not RuleEvidence(3, 0, 0.0).doubtful  # (1/2)^4 is above 5 %
    assert RuleEvidence(4, 0, 0.0).doubtful
    assert not RuleEvidence(40, 18, 0.45).doubtful
    assert RuleEvidence(400, 160, 0.4).doubtful


def test_a_rule_of_a_rare_class_is_judged_against_its_prevalence():
    y = np.repeat([-1.0, 1.0], [90, 10])
    Z = np.zeros((100, 1))
    Z[:10], Z[90:98] = 1.0, 1.0  # right on 8 of 18, where 1 in 10 would be chance
    (rule,), seen = samples("x0 >= 1 => positive", X=Z, y=y)
    assert seen.evidence(rule).agreement == pytest.approx(0.4 / (0.4 + 0.5 / 9))
    assert not seen.evidence(rule).doubtful


def test_all_heard_judges_each_rule_by_its_own_patients():
    y = np.tile([-1.0, 1.0], 20)
    Z = np.zeros((40, 2))
    Z[:8, 0], Z[8:16, 0] = 1.0, -1.0
    text = "x0 >= 1 => positive\nx0 <= -1 => negative\nx1 >= 1 => positive"
    rules, seen = samples(text, X=Z, y=y)
    evidence = seen.all_evidence(rules)
    assert [one.fired for one in evidence] == [8.0, 8.0, 0.0]
    assert evidence[:2] == [seen.evidence(rule) for rule in rules[:2]]
