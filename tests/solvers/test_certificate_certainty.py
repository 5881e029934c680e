"""What is called certain is so, wherever a run stands; the bounds behind it hold."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.designs import make_design
from hipad.solvers import Hipad, Settings, Status, lambda1_max
from hipad.solvers.certificate import inverse_curvature
from hipad.solvers.solution import Iterate, certainty_of, objective_of
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import prices_of, rule, to_problem, trusted_optimum, unit_rows
from tests.solvers.trials import Tally, check

FAST, ALL = 12, 500


def tally_of(seeds):
    tally = Tally()
    for seed in seeds:
        check(seed, tally)
    return tally


@pytest.mark.slow
def test_no_run_claims_what_is_not_so():
    tally = tally_of(range(FAST))
    assert not tally.false
    assert tally.counts["finished: in"]
    assert tally.counts["finished: out"]
    assert tally.counts["stopped: in"]
    assert tally.counts["stopped: out"]
    assert tally.counts["without an oracle"] <= FAST // 10


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, ALL, 50))
def test_no_run_of_many_claims_what_is_not_so(start):
    assert not tally_of(range(start, start + 50)).false


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scope=st.sampled_from(["population", "typical"]),
    conditions=st.sampled_from([(1,), (2,), (1, 2), (2, 3, 1)]),
    stiff=st.sampled_from([0.1, 1.0, 100.0]),
)
def test_no_weight_is_further_from_the_optimum_than_the_bound(seed, scope, conditions, stiff):
    raw = random_problem(seed, m=8, conditions=conditions, scope=scope, centered=seed % 2 == 0)
    raw = unit_rows(raw)
    raw = raw._replace(rules=tuple(r._replace(rho=r.rho * stiff) for r in raw.rules))
    best, problem, rng = trusted_optimum(raw), to_problem(raw), np.random.default_rng(seed)
    every = np.arange(8)
    # along B'u + s w = const a move of w costs no more than lambda2
    u, w = np.concatenate(best.us), best.w.copy()
    first = raw.rules[0]
    step = rng.uniform(0.0, 0.5)
    u[: len(first.d)] += step
    w -= first.sign * step * np.asarray(first.B.sum(axis=0)).ravel()
    at = Iterate(every, w, best.b, u, np.zeros(20 + len(raw.rules)))
    gap = objective_of(problem, at) - best.objective + 1e-8
    assert np.all((w - best.w) ** 2 <= 2 * gap * inverse_curvature(problem, every))


def test_a_feature_of_a_rule_has_less_curvature_than_its_ridge():
    raw = random_problem(0, m=6, conditions=())
    raw = raw._replace(lambda2=0.5, rules=(rule(np.eye(6)[2], -1.0, rho=100.0),))
    found = inverse_curvature(to_problem(raw), np.arange(6))
    assert found[2] == pytest.approx(2.0, rel=1e-5)
    assert found[[0, 1, 3, 4, 5]] == pytest.approx(1 / 100.5)


def test_two_features_of_a_condition_share_its_soft_direction():
    raw = random_problem(0, m=4, conditions=())
    raw = raw._replace(lambda2=0.5, rules=(rule([1.0, 1.0, 0.0, 0.0], -1.0, rho=100.0),))
    H = np.diag(np.full(4, 100.5)) - 100.0 * np.outer([1, 1, 0, 0], [1, 1, 0, 0]) / 2
    found = inverse_curvature(to_problem(raw), np.arange(4))
    assert found == pytest.approx(np.diag(np.linalg.inv(H)), rel=1e-5)


@pytest.mark.parametrize("method", ["hipad", "admm", "exact"])
def test_at_the_optimum_everything_is_decided(method):
    raw = random_problem(3, n=20, m=60, conditions=(1, 2), centered=True)
    best = clarabel_enk(*raw)
    run = Hipad(to_problem(raw), Settings(method=method))
    assert run.run().certificate.status is Status.SOLVED
    known = run.certainty()
    assert known.inside.tolist() == np.flatnonzero(np.abs(best.w) > 1e-6).tolist()
    assert known.undecided.size == 0
    assert sorted([*known.inside, *known.outside]) == list(range(60))


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("with_rule", [False, True])
def test_a_model_without_features_leaves_nothing_open(share, with_rule):
    raw = random_problem(5, n=40, m=60, conditions=())
    y = np.where(np.arange(40) < 40 * share, 1.0, -1.0)
    raw = raw._replace(y=y, p=np.full(40, 1 / 40))
    if with_rule:
        raw = raw._replace(rules=(rule(np.eye(60)[0], -1.0, sigma=0.05)._replace(centered=True),))
    largest = lambda1_max(to_problem(raw))
    for factor, decided in ((1.01, True), (0.99, False)):
        problem = to_problem(raw._replace(lambda1=factor * largest))
        empty = Hipad(problem, Settings(method="exact"))
        empty.run()
        known = empty.certainty()
        assert (known.outside.size == 60) == decided
        assert not decided or not known.undecided.size


def test_repeated_rows_leave_nothing_open():
    raw = random_problem(5, n=20, m=60, conditions=())
    rows = np.r_[np.arange(20), np.arange(10)]
    raw = raw._replace(X=raw.X[rows], y=raw.y[rows], p=np.full(30, 1 / 30))
    run = Hipad(to_problem(raw), Settings(method="exact"))
    run.run()
    assert run.certainty().undecided.size == 0


def test_statements_are_part_of_it():
    raw = random_problem(1, n=20, m=12, conditions=(1,))
    prices = prices_of({0: "ignored", 1: "raised", 2: "lowered", 3: "certain", 4: "certain"})
    X = raw.X.copy()
    X[:, 4] = 0.0
    rules = (rule(np.eye(12)[5], -1.0),)
    problem = to_problem(raw._replace(X=X, rules=rules), prices=prices)
    run = Hipad(problem)
    next(run)
    early = run.certainty()
    assert 0 in early.outside, "it may have no weight"
    assert 4 in early.outside, "nothing pulls on a column of zeros"
    run.run()
    assert 3 in run.certainty().inside


def test_a_sparse_design_has_the_same_answer():
    raw = random_problem(2, n=20, m=30)
    run, other = (
        Hipad(to_problem(raw, design), Settings(method="admm"))
        for design in (make_design(raw.X), make_design(sp.csc_array(raw.X)))
    )
    for _ in range(15):
        next(run), next(other)
    one, two = run.certainty(), other.certainty()
    assert one.inside.tolist() == two.inside.tolist()
    assert one.outside.tolist() == two.outside.tolist()


def test_a_point_far_away_decides_nothing():
    raw = random_problem(4, n=20, m=10, conditions=())
    problem = to_problem(raw)
    far = Iterate(np.arange(10), np.full(10, 50.0), 0.0, np.zeros(0), raw.p)
    known = certainty_of(problem, far)
    assert known.undecided.size == 10
