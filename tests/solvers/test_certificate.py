"""Certificates hold: primal >= minimum >= dual, wherever a run stands, and the status is true."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.solvers import Certificate, Hipad, Settings, Status
from hipad.solvers.certificate import dual_value, feasible_duals, relative_gap
from hipad.solvers.solution import ALL_FEATURES, Iterate, certify
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import oracle_objective, rule, to_problem, trusted_optimum

ROUNDING = 1e-9
CONDITIONS = [(), (1,), (1, 2), (2, 3, 1), (5,)]
SCOPES = ["population", "typical"]
IMPOSSIBLE = rule(np.vstack([np.eye(20)[0], -np.eye(20)[0]]), [0.0, -1.0])


def assert_bounds(certificate, minimum):
    """Both bounds hold, and the gap is theirs."""
    size = max(abs(minimum), 1e-3)
    assert certificate.primal_objective >= minimum - ROUNDING * size
    assert certificate.dual_objective <= minimum + ROUNDING * size
    expected = relative_gap(certificate.primal_objective, certificate.dual_objective)
    assert certificate.gap == expected


def draw(seed, **options):
    """A problem, sometimes with a rule twice, with thresholds all can meet, or nobody."""
    raw = random_problem(seed, **{"n": 12, "m": 20} | options)
    if seed % 4 == 1:
        raw = raw._replace(rules=raw.rules * 2)
    if seed % 4 == 2:
        raw = raw._replace(rules=tuple(r._replace(d=-r.d) for r in raw.rules))
    if seed % 4 == 3:
        raw = raw._replace(rules=(*raw.rules, IMPOSSIBLE, IMPOSSIBLE._replace(sign=-1.0)))
    return raw


problems = st.builds(
    draw,
    st.integers(0, 10_000),
    conditions=st.sampled_from(CONDITIONS),
    scope=st.sampled_from(SCOPES),
    lambda1=st.sampled_from([0.0, 0.05, 0.3]),
    weighted=st.booleans(),
)


@settings(max_examples=40)
@given(problems, st.sampled_from(["admm", "exact"]), st.integers(1, 60))
def test_bounds_hold_wherever_the_elastic_net_is_stopped(raw, method, steps):
    run = Hipad(to_problem(raw), Settings(method=method))
    finished = len(list(zip(range(steps), run, strict=False))) < steps
    certificate = run.solution().certificate
    assert_bounds(certificate, trusted_optimum(raw).objective)
    assert (certificate.status is Status.STOPPED) == (not finished)
    assert certificate.covers == ALL_FEATURES


@settings(max_examples=25)
@given(problems, st.integers(1, 20), st.sampled_from(["ipm", "osqp"]))
def test_bounds_hold_wherever_phase_two_is_stopped(raw, steps, engine):
    raw = raw._replace(lambda1=0.0)  # all features are kept, so that Clarabel knows the minimum
    run = Hipad(to_problem(raw), Settings(phase2_solver=engine))
    for progress in run:
        if progress.phase == 2 and progress.iteration == steps:
            break
    certificate = run.solution().certificate
    assert certificate.covers == "the 20 features kept"
    assert_bounds(certificate, trusted_optimum(raw).objective)


@settings(max_examples=60)
@given(problems, st.integers(0, 10_000))
def test_every_price_vector_gives_a_lower_bound(raw, seed):
    problem, rng = to_problem(raw), np.random.default_rng(seed)
    ceiling = np.r_[raw.p, [r.sigma for r in raw.rules]]
    alpha = feasible_duals(problem, rng.uniform(-0.3, 1.3, ceiling.size) * ceiling)
    u = rng.uniform(0, 3, problem.stack.n_rows) * rng.integers(0, 2, problem.stack.n_rows)
    value, accuracy = dual_value(problem, alpha, u, lambda1=raw.lambda1)
    assert accuracy < 1e-12
    assert value <= trusted_optimum(raw).objective + 1e-9


@settings(max_examples=60)
@given(problems, st.integers(0, 10_000))
def test_feasible_prices_balance_and_move_little(raw, seed):
    problem, rng = to_problem(raw), np.random.default_rng(seed)
    labels, ceiling = (
        np.r_[raw.y, [r.sign for r in raw.rules]],
        np.r_[raw.p, problem.stack.ceilings],
    )
    alpha = feasible_duals(problem, rng.uniform(-1, 2, ceiling.size) * ceiling)
    assert np.all((alpha >= 0) & (alpha <= ceiling))
    assert abs(labels @ alpha) < 1e-14
    np.testing.assert_allclose(feasible_duals(problem, alpha), alpha, atol=1e-15)


def test_the_dual_reaches_the_minimum_at_the_solution():
    raw = random_problem(7, n=12, m=20, conditions=(1, 2), weighted=True)
    certificate = Hipad(to_problem(raw), Settings(method="exact")).run().certificate
    minimum = clarabel_enk(*raw).objective
    assert certificate.dual_objective == pytest.approx(minimum, rel=1e-9)
    assert certificate.is_optimal(1e-8)
    assert certificate.complementarity < 1e-8


def test_a_rule_that_nobody_can_meet_has_no_price():
    stack = to_problem(draw(3)).stack
    assert np.all(stack.ceilings[:-2] == stack.sigma[:-2])
    assert not stack.ceilings[-2:].any()
    assert stack.sigma[-2:].all()


def test_restriction_to_features_bounds_the_restricted_minimum():
    raw = random_problem(8, n=12, m=20, lambda1=0.0)
    problem = to_problem(raw)
    kept = np.union1d(problem.stack.features, [2, 11])
    rules = tuple(r._replace(B=r.B[:, kept]) for r in raw.rules)
    minimum = clarabel_enk(*raw._replace(X=raw.X[:, kept], rules=rules)).objective
    alpha = feasible_duals(problem, 0.7 * np.r_[raw.p, problem.stack.sigma])
    value, _ = dual_value(problem, alpha, np.zeros(3), lambda1=0.0, features=kept)
    everywhere, _ = dual_value(problem, alpha, np.zeros(3), lambda1=0.0)
    assert everywhere < value <= minimum


@pytest.mark.parametrize("method", ["admm", "hipad"])
def test_a_tiny_limit_of_sweeps_is_told(method):
    found = Hipad(to_problem(draw(0)), Settings(method=method, max_sweeps=3)).run()
    assert found.certificate.status is Status.LIMIT
    if method == "hipad":
        assert found.selection.status is Status.LIMIT
        assert "phase 1" in found.certificate.message
        assert "features kept" in str(found.certificate)


def test_a_tiny_limit_of_iterations_is_told():
    found = Hipad(to_problem(draw(0)), Settings(max_iterations=2)).run()
    assert found.certificate.status is Status.LIMIT
    assert found.certificate.gap > 1e-6


def test_a_working_set_that_met_its_limit_of_steps_says_so():
    found = Hipad(to_problem(draw(0)), Settings(method="exact", max_sweeps=2)).run()
    assert found.certificate.status is Status.LIMIT
    assert found.certificate.gap > 1e-6
    assert not found.certificate.is_optimal()


@settings(max_examples=30)
@given(problems, st.sampled_from(["hipad", "admm", "exact"]), st.sampled_from([1e-7, 1e-3, 0.3]))
def test_solved_means_a_small_gap(raw, method, tolerance):
    found = Hipad(to_problem(raw), Settings(method=method, tolerance=tolerance)).run()
    for certificate in filter(None, (found.certificate, found.selection)):
        if certificate.status is Status.SOLVED:
            assert certificate.gap <= 1e-5
            assert certificate.dual_residual < 1e-4
            assert certificate.primal_residual == 0.0


def test_the_certificate_covers_the_choice_of_features():
    found = Hipad(to_problem(random_problem(0, n=20, m=40))).run()
    assert found.selection.gap < 1e-12
    assert found.certificate.status is Status.SOLVED
    assert found.certificate.is_optimal(1e-9)
    assert found.certificate.certain == found.features.size > 0
    assert found.certificate.undecided == 0


def test_features_of_the_papers_switch_are_not_called_the_best():
    problem = to_problem(random_problem(0, n=20, m=40))
    found = Hipad(problem, Settings(phase1_stop="paper")).run()
    assert found.selection.gap > 1e-5
    assert found.certificate.gap < 1e-8, "phase 2 is solved"
    assert found.certificate.status is Status.INACCURATE
    assert "the paper's test" in found.certificate.message
    assert found.certificate.selection_gap == found.selection.gap
    assert not found.certificate.is_optimal()


def test_a_wrong_point_is_found_out():
    raw = random_problem(9, n=12, m=20)
    problem = to_problem(raw)
    run = Hipad(problem, Settings(method="exact"))
    run.run()
    point = run._phase.point()
    wrong = Iterate(point.features, 1.2 * point.w, point.b, point.u, point.alpha)
    certificate = certify(problem, wrong, raw.lambda1, Status.SOLVED, covers=ALL_FEATURES, eps=1e-7)
    assert certificate.status is Status.INACCURATE
    assert certificate.gap > 1e-4


def test_certificates_speak():
    certificate = Certificate(Status.SOLVED, 2.0, 1.9, 0.05, 0.0, 0.0, 0.0, ALL_FEATURES)
    assert str(certificate) == (
        "solved: objective 2, at most 5.0e-02 (relative) above the optimum over all features"
    )
    assert certificate.as_dict()["status"] == "solved"
    assert not certificate.is_optimal()
    assert certificate.is_optimal(0.1)


def test_the_primal_value_is_the_oracles():
    raw = random_problem(10, n=12, m=20, scope="typical")
    found = Hipad(to_problem(raw), Settings(method="admm", max_sweeps=7)).run()
    expected = oracle_objective(raw, found)
    assert found.certificate.primal_objective == pytest.approx(expected, rel=1e-12)
