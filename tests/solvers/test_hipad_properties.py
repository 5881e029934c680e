"""What must not change the model: signs, orders and repetitions; and what must."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import random_problem
from tests.solvers.problems import full_weights, rule, solve

CLOSE = {"rtol": 0, "atol": 1e-5}

problems = st.builds(
    random_problem,
    st.integers(0, 10_000),
    n=st.sampled_from([8, 14]),
    m=st.sampled_from([6, 25]),
    conditions=st.sampled_from([(), (1,), (1, 2), (1, 1, 2)]),
    scope=st.sampled_from(["population", "typical"]),
    weighted=st.just(True),
)


def weights(raw):
    """w of the unique minimum, and all else that was found."""
    found = solve(raw, method="exact")
    return full_weights(found, raw.X.shape[1]), found


@settings(max_examples=12)
@given(problems)
def test_flipped_labels_and_outcomes_negate_the_model(raw):
    flipped = raw._replace(y=-raw.y, rules=tuple(r._replace(sign=-r.sign) for r in raw.rules))
    (w, found), (w_flipped, found_flipped) = weights(raw), weights(flipped)
    np.testing.assert_allclose(w_flipped, -w, **CLOSE)
    assert found_flipped.b == pytest.approx(-found.b, abs=1e-5)
    np.testing.assert_allclose(found_flipped.u, found.u, atol=1e-4)


@settings(max_examples=12)
@given(problems, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(raw, random):
    n, m = raw.X.shape
    rows, columns = random.sample(range(n), n), random.sample(range(m), m)
    rules = tuple(r._replace(B=r.B[:, columns]) for r in raw.rules)
    shuffled = raw._replace(
        X=raw.X[np.ix_(rows, columns)], y=raw.y[rows], p=raw.p[rows], rules=rules
    )
    (w, found), (w_shuffled, found_shuffled) = weights(raw), weights(shuffled)
    np.testing.assert_allclose(w_shuffled, w[columns], **CLOSE)
    assert found_shuffled.b == pytest.approx(found.b, abs=1e-4)


@settings(max_examples=12)
@given(problems, st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_matter(raw, random):
    order = random.sample(range(len(raw.rules)), len(raw.rules))
    shuffled = raw._replace(rules=tuple(raw.rules[i] for i in order))
    np.testing.assert_allclose(weights(shuffled)[0], weights(raw)[0], **CLOSE)


@settings(max_examples=12)
@given(problems, st.integers(0, 7))
def test_a_row_twice_is_a_row_of_double_weight(raw, row):
    p = np.ones(raw.y.size)
    heavy = raw._replace(p=np.where(np.arange(p.size) == row, 2 * p, p) / (p.size + 1))
    twice = raw._replace(
        X=np.vstack([raw.X, raw.X[row]]),
        y=np.r_[raw.y, raw.y[row]],
        p=np.full(p.size + 1, 1 / (p.size + 1)),
    )
    np.testing.assert_allclose(weights(twice)[0], weights(heavy)[0], **CLOSE)


@settings(max_examples=12)
@given(problems, st.floats(0.01, 100))
def test_the_units_of_a_condition_do_not_matter(raw, factor):
    """factor B x <= factor d is the same condition."""
    stretched = tuple(r._replace(B=r.B * factor, d=r.d * factor) for r in raw.rules)
    np.testing.assert_allclose(weights(raw._replace(rules=stretched))[0], weights(raw)[0], **CLOSE)


@settings(max_examples=10)
@given(problems)
def test_all_methods_agree(raw):
    w, _ = weights(raw)
    admm = solve(raw, method="admm", tolerance=1e-9)
    np.testing.assert_allclose(full_weights(admm, raw.X.shape[1]), w, atol=1e-3)


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("method", ["hipad", "admm", "exact"])
def test_two_rules_are_or_and_not_and(method, scope):
    """Stacking the conditions of two rules in one B is another model, and a weaker one."""
    raw = random_problem(3, n=16, m=8, conditions=(), scope=scope, lambda1=0.01)
    first, second = (rule(-np.eye(8)[j], [-1.0], sigma=0.5, rho=5.0) for j in (6, 7))
    both = rule(-np.eye(8)[6:8], [-1.0, -1.0], sigma=0.5, rho=5.0)
    either, together = (
        solve(raw._replace(rules=rules), method=method) for rules in ((first, second), (both,))
    )
    w_either, w_together = full_weights(either, 8), full_weights(together, 8)
    assert np.max(np.abs(w_either - w_together)) > 0.05
    patient = np.eye(8)[6]  # meets the first rule alone, which OR calls positive and AND does not
    assert w_either @ patient + either.b > w_together @ patient + together.b + 0.05
