"""Prices of single features: the functions themselves, and every solver against Clarabel."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.designs import make_design
from hipad.solvers import Hipad, Settings, Status, admm
from hipad.solvers.problem import PenaltyFactors, SignPenalties
from tests.oracles import RandomProblem, clarabel_enk, random_problem
from tests.solvers.problems import (
    KNOWN,
    full_prices,
    full_weights,
    prices_of,
    random_prices,
    to_problem,
    trusted_optimum,
)

WAYS = {
    "watched": Settings(),
    "quick": Settings(fastest=True),
    "osqp": Settings(phase2_solver="osqp", fastest=True),
    "admm": Settings(method="admm"),
    "exact": Settings(method="exact"),
}
RULES = {
    "none": {"conditions": ()},
    "paper": {},
    "centered": {"centered": True},
    "typical": {"centered": True, "scope": "typical"},
}
SHAPES = {"few rows": (14, 40), "many rows": (60, 9)}


class Case:
    """A problem, and what Clarabel says of it and of its phase 2."""

    def __init__(self, raw: RandomProblem, prices: PenaltyFactors) -> None:
        self.raw, self.prices = raw, prices
        self.full = full_prices(prices, raw.X.shape[1])
        self.best = clarabel_enk(*raw, prices=self.full)

    @cached_property
    def phase_2(self) -> tuple[np.ndarray, float]:
        """The features of the optimum, and the best value without lambda1 on these alone."""
        kept = Hipad(to_problem(self.raw, prices=self.prices), WAYS["exact"]).run().features
        only = np.full_like(self.full, np.inf)
        only[:, kept] = np.where(np.isinf(self.full[:, kept]), np.inf, 0.0)
        return kept, clarabel_enk(*self.raw._replace(lambda1=0.0), prices=only).objective

    def check(self, how: Settings, sparse: bool = False) -> None:
        """Equal to Clarabel, allowed signs alone, and a certificate that holds."""
        raw, best = self.raw, self.best.objective
        design = make_design(sp.csc_array(raw.X)) if sparse else None
        found = Hipad(to_problem(raw, design, self.prices), how).run()
        chosen = found.selection or found.certificate
        assert found.certificate.status is Status.SOLVED
        assert chosen.primal_objective == pytest.approx(best, rel=1e-7, abs=1e-9)
        assert chosen.dual_objective <= best * (1 + 1e-9) + 1e-12
        assert found.certificate.is_optimal(1e-7 if how.phase2_solver == "ipm" else 1e-4)
        w = full_weights(found, raw.X.shape[1])
        assert not np.any(w[np.isinf(self.full[0])] > 0)
        assert not np.any(w[np.isinf(self.full[1])] < 0)
        if found.selection is not None:
            kept, least = self.phase_2
            assert set(found.features) <= set(kept)
            value = found.certificate.primal_objective
            assert value == pytest.approx(least, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lambda1", [0.0, 0.02, 0.3])
def test_every_way_finds_the_optimum_with_all_that_may_be_known(way, rules, shape, lambda1):
    sparse = list(RULES).index(rules) % 2 == list(SHAPES).index(shape)
    case(rules, shape, lambda1).check(WAYS[way], sparse=sparse)


@cache
def case(rules: str, shape: str, lambda1: float) -> Case:
    n, m = SHAPES[shape]
    raw = random_problem(1, n=n, m=m, lambda1=lambda1, weighted=True, **RULES[rules])
    # one feature of each kind: some are pulled, some named by rules
    return Case(raw, prices_of(dict(enumerate(KNOWN))))


@pytest.mark.parametrize("rules", ["none", "typical"])
def test_conjugate_gradients_know_prices_too(rules, monkeypatch):
    monkeypatch.setattr(admm, "LARGEST_FACTOR", 1)
    case(rules, "few rows", 0.02).check(Settings())


@pytest.mark.parametrize("kind", KNOWN)
def test_each_kind_alone_and_on_all_features(kind):
    raw = random_problem(5, n=20, m=12, centered=True)
    for features in ([0], [1, 3], range(12)):
        Case(raw, prices_of(dict.fromkeys(features, kind))).check(Settings())


@pytest.mark.parametrize("seed", range(20))
def test_random_knowledge(seed):
    raw = random_problem(
        seed, n=6 + 3 * (seed % 7), m=4 + 5 * (seed % 5), lambda1=0.01 * (seed % 9),
        conditions=[(), (1,), (2, 1)][seed % 3], scope=["population", "typical"][seed % 2],
    )  # fmt: skip
    Case(raw, random_prices(seed, raw.X.shape[1])).check(list(WAYS.values())[seed % len(WAYS)])


def test_a_forbidden_sign_costs_everything_and_a_zero_price_nothing():
    prices = prices_of({0: "raised", 1: "lowered", 2: "ignored", 3: "certain"})
    limits = prices.at(np.array([3, 0, 4]), 0.5)
    np.testing.assert_array_equal(limits.up, [0.0, 0.5, 0.5])
    np.testing.assert_array_equal(limits.down, [0.0, np.inf, 0.5])
    assert limits.cost(np.array([7.0, 2.0, -1.0])) == 1.5
    assert limits.cost(np.array([7.0, -1e-9, 0.0])) == np.inf
    np.testing.assert_array_equal(limits.allowed(np.array([-1.0, -1.0, -1.0])), [-1.0, 0.0, -1.0])
    assert list(prices.unpenalized) == [3]
    assert list(prices.excluded) == [2]


def test_infinite_prices_stay_at_lambda1_zero():
    up, down = prices_of({0: "raised", 1: "ignored"}).at(np.arange(2), 0.0)
    np.testing.assert_array_equal(up, [0.0, np.inf])
    np.testing.assert_array_equal(down, [np.inf, np.inf])


def test_shrink_moves_towards_zero_and_stops_there():
    same = SignPenalties(np.ones(5), np.ones(5))
    np.testing.assert_allclose(same.shrink(np.array([-3.0, -1, 0, 0.5, 2])), [-2, 0, 0, 0, 1])
    above = SignPenalties(np.ones(3), np.full(3, np.inf))
    np.testing.assert_allclose(above.shrink(np.array([-9.0, 0.5, 3.0])), [0, 0, 2])


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=4), st.floats(0, 3))
def test_all_features_exceed_their_prices_as_each_does(gradients, lambda1):
    prices, gradient = prices_of({1: "raised", 3: "certain"}), np.array(gradients)
    limits = prices.at(np.arange(4), lambda1)
    np.testing.assert_allclose(prices.over(gradient, lambda1), limits.over(gradient))
    np.testing.assert_array_equal(limits.over(gradient) > 0, limits.shrink(gradient) != 0)


def test_what_lambda1_would_hold_each_feature_out():
    prices = prices_of({0: "raised at half the price", 1: "ignored", 2: "certain", 3: "lowered"})
    gradient = np.array([1.0, 9.0, -0.1, 2.0, -3.0])
    np.testing.assert_allclose(prices.needed(gradient), [2.0, 0.0, np.inf, 0.0, 3.0])
    both = prices.needed(np.column_stack([gradient, -gradient]))
    np.testing.assert_allclose(both[:, 1], [0.0, 0.0, np.inf, 2.0, 3.0])
    assert prices.needed(np.zeros(5)).tolist() == [0.0] * 5


seeds = st.integers(0, 10_000)


def weights(raw: RandomProblem, prices: PenaltyFactors | None = None, **how) -> np.ndarray:
    how = {"method": "exact", **how}
    return full_weights(
        Hipad(to_problem(raw, prices=prices), Settings(**how)).run(), raw.X.shape[1]
    )


@settings(max_examples=10)
@given(seeds)
def test_knowledge_that_agrees_with_the_data_changes_nothing(seed):
    raw = random_problem(seed, n=12, m=10)
    w = weights(raw)
    kinds = {int(j): "raised" if w[j] > 0 else "lowered" for j in np.flatnonzero(w)}
    kinds |= {int(j): "ignored" for j in np.flatnonzero(w == 0)[:3]}
    np.testing.assert_allclose(weights(raw, prices_of(kinds)), w, rtol=0, atol=1e-7)


@settings(max_examples=10)
@given(seeds, st.sampled_from(["hipad", "exact"]))
def test_to_ignore_a_feature_is_to_delete_its_column(seed, method):
    raw = random_problem(seed, n=12, m=10, conditions=())
    left = np.delete(np.arange(10), [0, 7])
    ignored = weights(raw, prices_of({0: "ignored", 7: "ignored"}), method=method)
    deleted = weights(raw._replace(X=raw.X[:, left]), method=method)
    np.testing.assert_allclose(ignored[left], deleted, rtol=0, atol=1e-7)
    assert not ignored[[0, 7]].any()


@settings(max_examples=10)
@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter(seed, random):
    raw, prices = random_problem(seed, n=12, m=10), random_prices(seed, 10)
    order = random.sample(range(10), 10)
    rules = tuple(r._replace(B=r.B[:, order]) for r in raw.rules)
    full = full_prices(prices, 10)[:, order]
    shuffled = raw._replace(X=raw.X[:, order], rules=rules)
    found = weights(shuffled, PenaltyFactors(np.arange(10), full[0], full[1]))
    np.testing.assert_allclose(found, weights(raw, prices)[order], rtol=0, atol=1e-6)


@settings(max_examples=10)
@given(seeds, st.booleans(), st.booleans())
def test_from_other_knowledge_to_the_same_optimum(seed, quick, wide):
    raw = random_problem(seed, n=12, m=30) if wide else random_problem(seed, n=30, m=8)
    trusted_optimum(raw)
    how, m = Settings(fastest=quick), raw.X.shape[1]
    before = Hipad(to_problem(raw, prices=random_prices(seed + 1, m)), how).to_end()
    now = to_problem(raw, design=before.problem.design, prices=random_prices(seed, m))
    warm, cold = Hipad(now, how, warm=before).run(), Hipad(now, how).run()
    np.testing.assert_array_equal(warm.features, cold.features)
    np.testing.assert_allclose(warm.w, cold.w, rtol=0, atol=1e-9)
    assert warm.b == pytest.approx(cold.b, abs=1e-9)
