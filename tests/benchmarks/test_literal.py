"""The paper's algorithms against Clarabel, and against the appendix written with dense matrices."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.literal import admm_enk, admm_ensvm, enk_iterates
from hipad.designs import make_design
from hipad.solvers.admm import transition
from tests.oracles import clarabel_enk, objective, random_problem

SHAPES = [(20, 12), (12, 30)]  # the m x m system, and Woodbury's formula


def knowledge(problem):
    """Rules of a random problem, the first positive and the second negative, and their rhos."""
    sides = [(rule.B, rule.d) for rule in problem.rules]
    rho = [number for rule in problem.rules for number in (rule.rho, rule.sigma)]
    return sides + [None] * (2 - len(sides)), rho + [1.0] * (4 - len(rho))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("conditions", [(), (1,), (2, 3)])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_enk_finds_clarabels_minimum(n, m, conditions, sparse):
    problem = random_problem(n, n=n, m=m, conditions=conditions)
    sides, rho = knowledge(problem)
    design = make_design(sp.csr_array(problem.X) if sparse else problem.X)
    parameters = {"lambda1": problem.lambda1, "lambda2": problem.lambda2, "rho": rho}
    result = admm_enk(
        design, problem.y, *sides, **parameters, mu=0.2, epsilon1=1e-9, epsilon2=1e-9,
        max_sweeps=20_000,
    )  # fmt: skip
    optimum = clarabel_enk(*problem)
    assert result.converged
    assert len(result.objectives) == result.sweeps
    assert result.objectives[-1] == pytest.approx(optimum.objective, rel=1e-7)
    us = [np.maximum(u, 0) for u in (result.u, result.v) if u is not None]
    assert objective(*problem, result.c, result.b, us) == pytest.approx(optimum.objective, rel=1e-6)
    np.testing.assert_allclose(result.c, optimum.w, atol=1e-4)


def test_the_papers_own_tolerances_stop_near_the_minimum():
    problem = random_problem(1)
    sides, rho = knowledge(problem)
    result = admm_enk(
        make_design(problem.X), problem.y, *sides, lambda1=0.05, lambda2=0.5, rho=rho, mu=0.2
    )
    assert result.converged
    assert result.objectives[-1] == pytest.approx(clarabel_enk(*problem).objective, rel=1e-3)


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_without_rules_it_is_the_appendixs_ensvm(n, m):
    problem = random_problem(7, n=n, m=m, conditions=())
    design = make_design(problem.X)
    own = islice(enk_iterates(design, problem.y, (), 0.05, 0.5, 0.3, 0.7), 60)
    for iterate, expected in zip(
        own, ensvm(problem.X, problem.y, 0.05, 0.5, 0.3, 0.7), strict=False
    ):
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(iterate, name), value, atol=1e-11, err_msg=name)


def ensvm(X, y, lambda1, lambda2, mu1, mu2):
    """ADMM-ENSVM line by line, with explicit matrices."""
    (n, m), e, Y = X.shape, np.ones(len(y)), np.diag(y)
    a, c, gamma1, gamma2 = np.zeros(n), np.zeros(m), np.zeros(n), np.zeros(m)
    Xe = np.column_stack([X, e])
    matrix = mu1 * Xe.T @ Xe + np.diag([lambda2 + mu2] * m + [0.0])
    while True:
        rhs = Xe.T @ Y @ gamma1 - mu1 * Xe.T @ Y @ (a - e)
        rhs[:m] += -gamma2 + mu2 * c
        *w, b = np.linalg.solve(matrix, rhs)
        image = e - Y @ (X @ w + b * e)
        x, t = gamma1 / mu1 + image, 1 / (n * mu1)
        a = np.select([x > t, x >= 0], [x - t, 0.0 * x], x)
        v = gamma2 / mu2 + w
        c = np.sign(v) * np.maximum(0, abs(v) - lambda1 / mu2)
        gamma1 = gamma1 + mu1 * (image - a)
        gamma2 = gamma2 + mu2 * (w - c)
        yield {"w": w, "b": b, "a": a, "c": c, "gamma1": gamma1, "gamma2": gamma2}


def test_ensvm_is_enk_without_rules():
    problem = random_problem(2, conditions=())
    design = make_design(problem.X)
    one, other = (
        solve(design, problem.y, lambda1=0.05, lambda2=0.5, mu=0.2)
        for solve in (admm_ensvm, admm_enk)
    )
    np.testing.assert_array_equal(one.w, other.w)
    assert one.u is None
    assert one.v is None


def test_a_sweep_limit_is_reported_as_such():
    problem = random_problem(3)
    result = admm_ensvm(make_design(problem.X), problem.y, lambda1=0.05, lambda2=0.5, max_sweeps=1)
    assert (result.sweeps, result.converged) == (1, False)


def test_standardised_data_give_the_solution_of_standardised_data():
    problem = random_problem(5, conditions=(1,))
    mean, scale = problem.X.mean(axis=0), problem.X.std(axis=0)
    designs = (
        make_design(problem.X, mean=mean, scale=scale),
        make_design((problem.X - mean) / scale),
    )
    results = [
        admm_enk(
            design, problem.y, (problem.rules[0].B, problem.rules[0].d), lambda1=0.05, lambda2=1
        )
        for design in designs
    ]
    np.testing.assert_allclose(results[0].w, results[1].w, atol=1e-12)


@pytest.mark.parametrize(
    ("new", "old", "fires"),
    [([0.1], [0.105], True), ([0.1], [0.08], False), ([100.0], [100.5], True), ([2], [2.1], False)],
)
def test_transition_is_the_papers_test(new, old, fires):
    assert transition(np.array(new), np.array(old)) is fires
