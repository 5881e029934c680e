import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.estimator.problem_factory import MOST_INFERRED, TrainingData, row_sums, shares
from hipad.rules import compile_rules


def made(X, weights=None, standardize=True):
    y = np.where(np.arange(X.shape[0]) % 2 == 0, 1.0, -1.0)
    weights = np.ones(X.shape[0]) if weights is None else weights
    return TrainingData.of(X, y, weights, weights / weights.sum(), standardize, source=X)


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((8, 3)) * [1, 10, 0.1] + [0, 5, 2]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_go_back_to_the_users_units(X, kind):
    data = made(kind(X))
    w, b, features = np.array([0.3, -2.0]), 0.7, np.array([2, 0])
    user_w, user_b = data.to_user_units(features, w, b)
    np.testing.assert_allclose(
        X[:, features] @ user_w + user_b, data.design.columns(features) @ w + b
    )


def test_a_refit_knows_the_same_data_again(X):
    data = made(X)
    same = (X, X, data.y, data.weights, data.p)
    assert data.same_as(*same, True)
    assert not data.same_as(*same, False)
    assert not data.same_as(X, X, -data.y, data.weights, data.p, True)
    assert not data.same_as(X.copy(), X, data.y, data.weights, data.p, True)
    X[0, 0] += 1  # in place
    assert not data.same_as(*same, True)


def test_the_hash_is_of_values_not_of_their_order_in_memory(X):
    assert made(X).sha256 == made(np.asfortranarray(X)).sha256
    assert made(X).sha256 != made(X + 1e-9).sha256
    assert made(X).sha256 != made(X, weights=np.arange(1.0, 9)).sha256


@pytest.mark.parametrize(
    ("class_weight", "positive"), [(None, 0.25), ("balanced", 0.5), ({1.0: 3.0, -1.0: 1.0}, 0.5)]
)
def test_shares_sum_to_one_and_weigh_classes(class_weight, positive):
    y = np.array([1.0, -1, -1, -1])
    p = shares(y, np.ones(4), class_weight)
    assert p.sum() == pytest.approx(1)
    assert p[y > 0].sum() == pytest.approx(positive)


def test_rows_are_summed_alike_for_dense_and_sparse(X):
    np.testing.assert_allclose(row_sums(X), row_sums(sp.csc_array(X)))


def with_gaps(labelled=12, others=40, seed=0, form=np.asarray, class_weight=None):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(labelled) % 3 == 0, 1.0, -1.0)
    weights = rng.integers(1, 3, labelled).astype(float)
    X, more = rng.standard_normal((labelled, 3)), rng.standard_normal((others, 3))
    p = shares(y, weights, class_weight)
    return TrainingData.of(form(X), y, weights, p, True, unlabelled=form(more))


RULES = "x0 >= 0.5 => positive\nx1 >= 0.2 => negative\nx2 >= 9 => positive"


def compiled(text=RULES):
    return compile_rules(text, n_features=3)


def test_unlabelled_rows_count_in_means_and_deviations():
    data = with_gaps()
    rows = np.vstack([data.X.repeat(data.weights.astype(int), axis=0), data.unlabelled])
    np.testing.assert_allclose(data.design.mean, rows.mean(axis=0))
    np.testing.assert_allclose(data.design.scale, rows.std(axis=0))


@given(seed=st.integers(0, 10_000), first=st.floats(0.1, 50), second=st.floats(0.1, 50))
@settings(max_examples=30)
def test_with_rule_labels_spreads_each_weight_over_the_rows_that_a_rule_covers(seed, first, second):
    data, rules = with_gaps(seed=seed), compiled()
    votes = np.zeros(40)
    for rule, weight in zip(rules, (first, second), strict=False):
        covered = rule.fires(data.unlabelled)
        votes[covered] += rule.sign * weight / max(covered.sum(), 1)
    found = data.with_rule_labels(rules, (first, second, 5.0))
    n, labelled = data.y.size, np.flatnonzero(votes)
    np.testing.assert_array_equal(found.X[n:], data.unlabelled[labelled])
    np.testing.assert_array_equal(found.y, np.r_[data.y, np.sign(votes[labelled])])
    np.testing.assert_allclose(found.weights, np.r_[data.weights, np.abs(votes[labelled])])
    for sign in (-1.0, 1.0):
        own = found.y == sign
        assert found.p[own].sum() == pytest.approx(data.p[data.y == sign].sum())
        np.testing.assert_allclose(np.ptp(found.p[own] / found.weights[own]), 0.0, atol=1e-12)
    assert (found.total, found.n_labelled) == (data.total, n)
    design, y, p = found.labelled
    np.testing.assert_allclose(design.dot(np.ones(3)), data.design.dot(np.ones(3)))
    np.testing.assert_array_equal(y, data.y)
    np.testing.assert_allclose(p, shares(data.y, data.weights, None))


def test_with_rule_labels_gives_a_rule_its_whole_weight():
    (rule,) = compiled("x0 >= 0.5 => positive")
    data = with_gaps()
    found = data.with_rule_labels((rule,), (7.0,))
    assert found.weights[data.y.size :].sum() == pytest.approx(7.0)
    assert found.n_inferred == rule.fires(data.unlabelled).sum()


def test_with_rule_labels_leaves_out_rows_on_which_rules_cancel():
    text = "x0 >= 0.5 => positive\nx0 >= 0.5 => negative\nx1 >= 0.2 => negative"
    data, rules = with_gaps(), compiled(text)
    assert data.with_rule_labels(rules[:2], (3.0, 3.0)) is None
    heavier = data.with_rule_labels(rules[:2], (3.0, 2.0))
    assert set(heavier.y[data.y.size :]) == {1.0}
    assert heavier.weights[data.y.size :].sum() == pytest.approx(1.0)
    assert data.with_rule_labels(rules, (3.0, 3.0, 1.0)).n_inferred == np.sum(
        data.unlabelled[:, 1] >= 0.2
    )


@pytest.mark.parametrize("weights", [(0.0, 0.0, 5.0), (None, None, None), (0.0, None, 5.0)])
def test_with_rule_labels_is_none_where_no_row_gets_a_label(weights):
    assert with_gaps().with_rule_labels(compiled(), weights) is None


def test_with_rule_labels_is_none_without_unlabelled_rows(X):
    assert made(X).with_rule_labels(compiled(), (1.0, 1.0, 1.0)) is None


def test_with_rule_labels_is_the_same_for_sparse_rows():
    one, other = (
        with_gaps(form=form).with_rule_labels(compiled(), (3.0, 2.0, 1.0))
        for form in (np.asarray, sp.csr_array)
    )
    np.testing.assert_array_equal(one.X, other.X.toarray())
    np.testing.assert_allclose(one.p, other.p)


@pytest.mark.parametrize("others", [MOST_INFERRED + 30, 3 * MOST_INFERRED])
def test_with_rule_labels_takes_at_most_so_many_rows_and_keeps_their_weight(others):
    text = "x0 >= -0.3 => positive\nx0 < -0.3 => negative"
    data, rules = with_gaps(others=others), compiled(text)
    found = data.with_rule_labels(rules, (6.0, 2.0))
    n = data.y.size
    assert 0.95 * MOST_INFERRED < found.n_inferred <= MOST_INFERRED
    for sign, weight, rule in ((1.0, 6.0, rules[0]), (-1.0, 2.0, rules[1])):
        own = found.y[n:] == sign
        assert found.weights[n:][own].sum() == pytest.approx(weight)
        everyone = data.unlabelled[rule.fires(data.unlabelled)]
        share = everyone.shape[0] / others
        assert own.sum() == pytest.approx(share * MOST_INFERRED, abs=1)
        taken = found.X[n:][own]
        assert taken.mean(axis=0) == pytest.approx(everyone.mean(axis=0), abs=0.15)
        assert taken.std(axis=0) == pytest.approx(everyone.std(axis=0), rel=0.15)


def test_with_rule_labels_takes_the_same_rows_in_any_order():
    data, rules = with_gaps(others=900), compiled("x0 >= -0.3 => positive")
    order = np.random.default_rng(0).permutation(900)
    other = TrainingData.of(
        data.X, data.y, data.weights, data.p, True, unlabelled=data.unlabelled[order]
    )
    taken = [one.with_rule_labels(rules, (3.0,)).X[data.y.size :] for one in (data, other)]
    first, second = (rows[np.argsort(rows[:, 0])] for rows in taken)
    np.testing.assert_array_equal(first, second)


def test_with_rule_labels_takes_at_most_so_many_of_equal_rows():
    data = with_gaps()
    equal = np.ones((2 * MOST_INFERRED, 3))
    data = TrainingData.of(data.X, data.y, data.weights, data.p, True, unlabelled=equal)
    found = data.with_rule_labels(compiled("x0 >= 0.5 => positive"), (3.0,))
    assert found.n_inferred == MOST_INFERRED
    assert found.weights[data.y.size :].sum() == pytest.approx(3.0)
