"""Degenerate problems end, with a true status: solved where the minimum was found, else not."""

import numpy as np
import pytest

from hipad.solvers import Hipad, Settings, Status, lambda1_max
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import full_weights, oracle_objective, rule, solve, to_problem

METHODS = ["hipad", "admm", "exact"]
BASE = random_problem(1, n=20, m=40)
PLAIN = BASE._replace(rules=())
UNIT = np.eye(40)[:1]


def rows(count, raw=BASE):
    return raw._replace(X=raw.X[:count], y=raw.y[:count], p=np.full(count, 1 / count))


def with_columns(*replacements):
    X = BASE.X.copy()
    for j, column in replacements:
        X[:, j] = column
    return BASE._replace(X=X)


def scaled(factor, raw=BASE):
    return raw._replace(X=raw.X * factor)


def with_rule(B, d, **parameters):
    return BASE._replace(rules=(rule(B, d, **parameters),))


def with_rules(**parameters):
    return BASE._replace(rules=tuple(r._replace(**parameters) for r in BASE.rules))


def contradicting():
    X = BASE.X.copy()
    X[1] = X[0]
    assert BASE.y[1] != BASE.y[0]
    return BASE._replace(X=X)


CASES = {
    "one row": rows(1),
    "one row, no rule": rows(1, PLAIN),
    "two rows": rows(2),
    "two rows, no rule": rows(2, PLAIN),
    "one class": BASE._replace(y=np.ones(20)),
    "one class, no rule": PLAIN._replace(y=np.ones(20)),
    "the other class, no rule": PLAIN._replace(y=-np.ones(20)),
    "one feature": random_problem(2, n=20, m=1, conditions=(1, 1), named=1),
    "one feature, no rule": random_problem(2, n=20, m=1, conditions=()),
    "a zero column": with_columns((5, 0.0)),
    "a constant column": with_columns((5, 3.0)),
    "a duplicate column": with_columns((6, BASE.X[:, 0]), (7, BASE.X[:, 0])),
    "nothing but zeros": scaled(0.0),
    "nothing but zeros, no rule": scaled(0.0, PLAIN),
    "nothing but ones": BASE._replace(X=np.ones_like(BASE.X)),
    "contradicting rows": contradicting(),
    "tiny numbers": scaled(1e-6),
    "tiny numbers, no rule": scaled(1e-6, PLAIN),
    "lambda1 is zero": BASE._replace(lambda1=0.0),
    "lambda1 is zero, no rule": PLAIN._replace(lambda1=0.0),
    "lambda1 is above its maximum": BASE._replace(lambda1=100.0),
    "lambda1 is above its maximum, no rule": PLAIN._replace(lambda1=100.0),
    "a rule twice": BASE._replace(rules=BASE.rules * 2),
    "contradicting rules": BASE._replace(
        rules=(BASE.rules[0], BASE.rules[0]._replace(sign=-BASE.rules[0].sign))
    ),
    "a condition three times": with_rule(np.repeat(UNIT, 3, axis=0), [-1.0] * 3),
    "a condition implied by another": with_rule(np.vstack([UNIT, 2 * UNIT]), [-1.0, -1.0]),
    "an empty region": with_rule(np.vstack([UNIT, -UNIT]), [0.0, -1.0]),
    "an empty region, typical": with_rule(np.vstack([UNIT, -UNIT]), [0.0, -1.0])._replace(
        scope="typical"
    ),
    "a rule that all meet": with_rule(UNIT, [2.0]),
    "a threshold of zero": with_rule(UNIT, [0.0]),
    "a far threshold": with_rule(UNIT, [-100.0]),
    "a rule on nothing, met by all": with_rule(0 * UNIT, [1.0]),
    "a rule on nothing, met by nobody": with_rule(0 * UNIT, [-1.0]),
    "rules worth nothing": with_rules(sigma=0.0),
    "rules worth almost nothing": with_rules(sigma=1e-12),
    "rules worth a thousand times the data": with_rules(sigma=1e3),
    "rules without stiffness": with_rules(rho=0.0),
    "soft rules": with_rules(rho=1e-6),
    "stiff rules": with_rules(rho=1e6),
    "stiff rules, typical": with_rules(rho=1e6)._replace(scope="typical"),
    "rows of no weight": BASE._replace(p=np.r_[0.0, 0.0, np.ones(18)] / 18),
    "many rows": random_problem(3, n=400, m=3, named=2),
    "many features": random_problem(3, n=5, m=600, named=2),
    "a small ridge": BASE._replace(lambda2=1e-6),
    "a large ridge": BASE._replace(lambda2=1e3),
}

# Large or mixed scales without standardisation slow the ADMM down. It must end and tell the truth.
HARD = {
    "large numbers": scaled(1e6),
    "large numbers, no rule": scaled(1e6, PLAIN),
    "mixed scales": scaled(10.0 ** np.linspace(-6, 6, 40)),
    "mixed scales, no rule": scaled(10.0 ** np.linspace(-6, 6, 40), PLAIN),
    "rules worth a million times the data": with_rules(sigma=1e6),
    "hardly a ridge, no rule": PLAIN._replace(lambda2=1e-6),
}


def minimum(raw):
    return clarabel_enk(*raw).objective


def assert_true(raw, found, best):
    """The certificate's bounds hold, and "solved" is what it says."""
    certificate = found.certificate
    assert np.isfinite(certificate.primal_objective)
    assert certificate.primal_objective == pytest.approx(oracle_objective(raw, found), abs=1e-9)
    assert certificate.primal_objective >= best * (1 - 1e-8) - 1e-12
    assert certificate.dual_objective <= best * (1 + 1e-8) + 1e-12
    if certificate.status is Status.SOLVED:
        assert certificate.primal_objective == pytest.approx(best, rel=2e-5, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_the_minimum_is_found(case):
    raw = CASES[case]
    best = minimum(raw)
    for method in ("admm", "exact"):
        found = solve(raw, method=method, max_sweeps=2000)
        assert found.certificate.status is Status.SOLVED, method
        assert_true(raw, found, best)


@pytest.mark.parametrize("case", CASES | HARD)
def test_hipad_solves_phase_two(case):
    raw = (CASES | HARD)[case]
    run = Hipad(to_problem(raw), Settings(max_sweeps=500))
    found = run.run()
    assert np.all(np.isfinite(found.w))
    assert found.certificate.gap < 1e-8
    settled = found.selection.status is not Status.LIMIT
    assert found.certificate.status is (Status.SOLVED if settled else Status.LIMIT)
    if case in CASES:
        assert settled
    assert oracle_objective(raw._replace(lambda1=0.0), found) == pytest.approx(
        found.certificate.primal_objective, abs=1e-9
    )


@pytest.mark.parametrize("case", HARD)
def test_hard_scales_end_with_the_truth(case):
    raw = HARD[case]
    best = minimum(raw)
    admm, exact = (solve(raw, method=method, max_sweeps=300) for method in ("admm", "exact"))
    assert_true(raw, admm, best)
    assert_true(raw, exact, best)
    assert exact.certificate.gap < 1e-5


@pytest.mark.parametrize("engine", ["ipm", "osqp"])
@pytest.mark.parametrize("count", [1, 2])
def test_the_fewest_rows(engine, count):
    found = solve(rows(count), phase2_solver=engine)
    assert found.certificate.status is Status.SOLVED


@pytest.mark.parametrize("method", METHODS)
def test_one_class_alone_needs_no_feature(method):
    for sign in (1.0, -1.0):
        found = solve(PLAIN._replace(y=np.full(20, sign)), method=method)
        assert found.features.size == 0
        assert sign * found.b >= 1 - 1e-9
        assert found.certificate.primal_objective == pytest.approx(0.0, abs=1e-12)
        assert found.certificate.status is Status.SOLVED


def test_lambda1_max_of_degenerate_problems():
    assert lambda1_max(to_problem(scaled(0.0, PLAIN))) == 0.0
    assert lambda1_max(to_problem(PLAIN._replace(y=np.ones(20)))) < 1e-6
    assert np.isfinite(lambda1_max(to_problem(CASES["an empty region"])))
    assert np.isfinite(lambda1_max(to_problem(CASES["rules worth nothing"])))


def test_duplicate_columns_share_their_weight():
    w = full_weights(solve(CASES["a duplicate column"], method="exact"), 40)
    assert w[0] != 0.0
    np.testing.assert_allclose(w[[6, 7]], w[0], rtol=1e-4)


def test_a_zero_column_gets_no_weight():
    free = np.setdiff1d(np.arange(40), to_problem(BASE).stack.features)[0]
    for method in METHODS:
        found = solve(with_columns((free, 0.0)), method=method)
        assert free not in found.features


def test_worth_zero_leaves_the_stiffness():
    """At this level rho is a ridge of its own: a caller drops rules that are worth nothing."""
    plain = solve(PLAIN, method="exact")
    silent = solve(CASES["rules worth nothing"], method="exact")
    gone = solve(with_rules(sigma=0.0, rho=0.0), method="exact")
    assert np.linalg.norm(silent.w) < 0.9 * np.linalg.norm(plain.w)
    np.testing.assert_allclose(full_weights(gone, 40), full_weights(plain, 40), atol=1e-6)


@pytest.mark.parametrize("scope", ["population", "typical"])
def test_a_rule_that_nobody_can_meet_does_not_pull(scope):
    """Its slack vanishes at no cost; only the ridge of its stiffness stays."""
    raw = CASES["an empty region"]._replace(scope=scope)
    silent = raw._replace(rules=tuple(r._replace(sigma=0.0) for r in raw.rules))
    found, expected = solve(raw, method="exact"), solve(silent, method="exact")
    np.testing.assert_allclose(full_weights(found, 40), full_weights(expected, 40), atol=1e-6)
