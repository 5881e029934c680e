"""Phase 1 without looking at all features, against solvers that look at each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.designs import make_design
from hipad.solvers import Problem, RuleBlock, lambda1_max
from hipad.solvers.batched import BatchedInteriorPoint, WorkingSetSelector, near_optimum
from hipad.solvers.exact import WorkingSet, optimum_from
from hipad.solvers.hipad import ExactPhase
from tests.solvers.problems import random_prices


def problem(seed, n=40, m=300, share=0.2, lambda2=1.0, with_rule=False, known=False):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.standard_normal((n, m)) + np.outer(y, rng.standard_normal(m) * (np.arange(m) < 5))
    B = sp.csr_array(([-1.0, -0.5], ([0, 0], [0, 1])), shape=(1, m))
    rules = (RuleBlock(B, np.array([-1.0]), 1.0, 0.3, 1.0, True),) if with_rule else ()
    p = np.where(y > 0, 0.5 / (y > 0).sum(), 0.5 / (y < 0).sum())
    whole = Problem(make_design(X), y, p, 0.0, lambda2, rules)
    if known:
        whole = whole.with_parameters(penalty_factors=random_prices(seed, m))
    return whole.with_parameters(lambda1=share * lambda1_max(whole))


def exactly(one):
    """Features and weights of the optimum by working sets."""
    exact = WorkingSet(one)
    for _ in exact.steps():
        pass
    kept = np.flatnonzero(exact.weights)
    return exact.features[kept], exact.weights[kept]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    m=st.sampled_from([4, 60, 400]),
    share=st.floats(0.02, 0.9),
    lambda2=st.sampled_from([0.1, 1.0, 10.0]),
    with_rule=st.booleans(),
    known=st.booleans(),
)
def test_what_is_proposed_has_the_features_of_the_optimum(
    seed, m, share, lambda2, with_rule, known
):
    one = problem(seed, m=m, share=share, lambda2=lambda2, with_rule=with_rule, known=known)
    features, w = exactly(one)
    warm_start = near_optimum(one)
    apart = np.setxor1d(features, warm_start.features)
    assert apart.size <= 1 + 0.02 * features.size
    found = optimum_from(one, warm_start)
    if found is not None:
        whole = np.zeros(m)
        whole[found.features] = found.w
        whole[features] -= w
        assert np.abs(whole).max() <= 1e-6 * max(np.abs(w).max(initial=0.0), 1.0)


@pytest.mark.parametrize("with_rule", [False, True])
def test_a_proposal_changes_the_way_and_not_the_answer(with_rule):
    one = problem(1, with_rule=with_rule)
    ways = []
    for propose in (False, True):
        phase = ExactPhase(one, max_iterations=60, propose=propose)
        steps = sum(1 for _ in phase.steps())
        at = phase.point()
        ways.append((at.features, at.w, at.b, steps))
    np.testing.assert_array_equal(ways[0][0], ways[1][0])
    np.testing.assert_allclose(ways[0][1], ways[1][1], atol=1e-9)
    assert ways[0][2] == pytest.approx(ways[1][2], abs=1e-9)
    assert ways[1][3] < ways[0][3]


def test_a_bad_proposal_does_no_harm(monkeypatch):
    one = problem(2)
    features, w = exactly(one)
    bad = near_optimum(one)._replace(alpha=np.zeros(one.n_samples), w=-np.ones(3),
                                     features=np.array([7, 8, 9]))  # fmt: skip
    monkeypatch.setattr("hipad.solvers.hipad.near_optimum", lambda problem: bad)
    phase = ExactPhase(one, max_iterations=60, propose=True)
    assert list(phase.steps())
    np.testing.assert_array_equal(phase.point().features, features)
    np.testing.assert_allclose(phase.point().w, w, atol=1e-8)


def test_what_was_overlooked_is_looked_at(monkeypatch):
    monkeypatch.setattr("hipad.solvers.batched.NEAR", 1.3)
    one = problem(3, share=0.3)
    batch = BatchedInteriorPoint(one, one.p[:, None], np.array([one.lambda2]))
    restricted, w = WorkingSetSelector(batch, np.array([1e-9]), np.array([1.0 + 1e-6])).select(
        one.lambda1
    )
    np.testing.assert_array_equal(restricted.names[np.flatnonzero(w[:, 0])], exactly(one)[0])
