import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.estimator.problem_factory import relevance
from hipad.estimator.trust import held_out_losses, posterior


def drawn(seed, rows=30, candidates=4):
    rng = np.random.default_rng(seed)
    losses = rng.exponential(0.6, (rows, candidates))
    prior = rng.dirichlet(np.ones(candidates))
    return losses, prior, rng.uniform(0.5, 2.0, rows), rng.integers(1, 3, rows).astype(float)


def monte_carlo(losses, prior, weights, counts, draws=200_000):
    """The average over normal sums, by plain sampling."""
    rng = np.random.default_rng(1)
    sums = weights @ losses
    apart = losses - sums / weights.sum()
    noise = rng.normal(size=(draws, len(losses))) * (weights / np.sqrt(counts))
    logits = np.log(prior) - sums - noise @ apart
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_posterior_agrees_with_plain_sampling(seed):
    given_ = drawn(seed)
    assert posterior(*given_) == pytest.approx(monte_carlo(*given_), abs=0.01)


@given(seed=st.integers(0, 10_000))
def test_posterior_is_the_same_in_any_order_of_rows(seed):
    losses, prior, weights, counts = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(losses))
    again = posterior(losses[order], prior, weights[order], counts[order])
    assert again == pytest.approx(posterior(losses, prior, weights, counts), abs=1e-9)
    assert again.sum() == pytest.approx(1.0)


@given(seed=st.integers(0, 10_000))
def test_posterior_takes_a_row_of_weight_two_for_two_rows(seed):
    losses, prior, *_ = drawn(seed, rows=12)
    ones = np.ones(12)
    twice = posterior(losses, prior, 2 * ones, 2 * ones)
    repeated = posterior(np.vstack([losses, losses]), prior, np.ones(24), np.ones(24))
    assert twice == pytest.approx(repeated, abs=1e-9)


def test_posterior_grows_with_evidence_and_is_wary_of_few_rows():
    ones = np.ones(60)
    rng = np.random.default_rng(0)
    gain = rng.normal(0.3, 1.0, 60)
    losses = np.column_stack([1.0 + gain, np.ones(60)])
    even = np.array([0.5, 0.5])
    few = posterior(losses[:8], even, ones[:8], ones[:8])[1]
    many = posterior(losses, even, ones, ones)[1]
    plain = 1 / (1 + np.exp(-gain[:8].sum()))
    assert many > 0.5
    assert abs(few - 0.5) < abs(plain - 0.5)


def test_held_out_losses_of_a_sure_mistake_are_bounded():
    losses = held_out_losses(np.array([[-50.0], [-1.5]]), np.array([1.0, 1.0]))
    assert losses[0, 0] == losses[1, 0] == pytest.approx(np.log1p(np.exp(3.0)))


def test_testimony_rises_from_zero_to_one():
    found = relevance(np.linspace(0.0, 2.0, 50))
    assert found[0] == 0.0
    assert np.all(np.diff(found) > 0)
    assert found[-1] > 0.99
