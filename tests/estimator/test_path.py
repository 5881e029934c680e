"""Models along the path against the solvers that certify theirs."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.designs import make_design
from hipad.estimator.path import PathSolver
from hipad.solvers import Hipad, Problem, lambda1_max


def problem(n=60, m=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, m)) + np.outer(y, np.r_[np.ones(4), np.zeros(m - 4)])
    p = np.where(y > 0, 0.5 / (y > 0).sum(), 0.5 / (y < 0).sum())
    return Problem(make_design(X), y, p, 0.0, 1.0)


@pytest.mark.parametrize("lambda2", [10.0, 0.1])
def test_the_models_are_near_those_of_hipad(lambda2):
    whole = problem()
    rows = [np.arange(60), np.arange(0, 60, 2), np.arange(60)]
    grid = lambda1_max(whole) * np.array([0.8, 0.4, 0.2, 0.1])
    path_solver = PathSolver(whole, rows, [lambda2], polish=True)
    for (fits,) in map(path_solver.fit, grid.tolist()):
        for k, own in enumerate(rows[:-1]):
            part = Problem(
                whole.design.rows(own), whole.y[own], whole.p[own] / whole.p[own].sum(),
                fits.lambda1, lambda2,
            )  # fmt: skip
            exact = Hipad(part).run()
            scores = whole.design.columns(exact.features) @ exact.w
            assert abs(fits.sizes[k] - exact.features.size) <= 3
            if k == 0:  # the same rows as the last
                assert fits.sizes[-1] == exact.features.size
            if exact.features.size > 5:
                assert np.corrcoef(scores, fits.scores[:, k])[0, 1] > 0.97


def test_supports_grow_and_nothing_is_overlooked():
    whole = problem(m=400)
    largest = lambda1_max(whole)
    path_solver = PathSolver(whole, [np.arange(60)], [1.0], polish=False)
    sizes = [fits.sizes[0] for (fits,) in map(path_solver.fit, [0.9 * largest, 0.3 * largest])]
    deep = PathSolver(whole, [np.arange(60)], [1.0], polish=False).fit(0.3 * largest)[0]
    assert sizes[0] < sizes[1]
    assert abs(int(deep.sizes[0]) - int(sizes[1])) <= 3, "whatever the way there"


def test_the_size_of_the_next_model_is_told_before_it_is_fitted():
    whole = problem(m=400)
    grid = lambda1_max(whole) * np.geomspace(0.7, 0.1, 6)
    path_solver = PathSolver(whole, [np.arange(60)], [1.0], polish=False)
    told = [
        (path_solver.expected_size(value, 1.0), int(path_solver.fit(value)[0].sizes[0]))
        for value in grid
    ]
    assert all(size <= expected for expected, size in told[1:])
    assert all(expected <= 3 * size for expected, size in told[1:])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lambda2", [10.0, 1.0, 0.1])
def test_the_features_of_the_model_itself_are_counted_exactly(lambda2, seed):
    whole = problem(n=40, m=300, seed=seed)
    rows = [np.setdiff1d(np.arange(40), np.arange(k, 40, 4)) for k in range(4)] + [np.arange(40)]
    grid = lambda1_max(whole) * np.geomspace(0.9, 0.01, 8)
    path_solver = PathSolver(whole, rows, [lambda2], polish=True)
    for (fits,) in map(path_solver.fit, grid.tolist()):
        exact = Hipad(whole.with_parameters(lambda1=fits.lambda1, lambda2=lambda2)).run()
        assert fits.sizes[-1] == exact.features.size


def test_a_model_that_keeps_its_features_is_what_it_was():
    whole = problem(n=60, m=5)
    path_solver = PathSolver(whole, [np.arange(50), np.arange(60)], [1.0], polish=True)
    (first,), (second,) = path_solver.fit(1e-3), path_solver.fit(9e-4)
    assert first.sizes[0] == second.sizes[0] == 5
    np.testing.assert_array_equal(first.scores[:, 0], second.scores[:, 0])
    (fresh,) = PathSolver(whole, [np.arange(50), np.arange(60)], [1.0], polish=True).fit(9e-4)
    np.testing.assert_allclose(fresh.scores[:, 0], second.scores[:, 0], atol=1e-2)


def test_paths_side_by_side_are_those_that_are_followed_alone():
    whole, ridges = problem(m=200), [10.0, 1.0, 0.1]
    rows = [np.arange(45), np.arange(15, 60), np.arange(60)]
    grid = lambda1_max(whole) * np.array([0.7, 0.4, 0.2])
    together = PathSolver(whole, rows, ridges, polish=True)
    alone = {lambda2: PathSolver(whole, rows, [lambda2], polish=True) for lambda2 in ridges}
    for lambda1 in grid.tolist():
        for fits in together.fit(lambda1):
            (own,) = alone[fits.lambda2].fit(lambda1)
            assert fits.sizes[-1] == own.sizes[-1]
            scale = np.abs(own.scores).max()
            np.testing.assert_allclose(fits.scores, own.scores, atol=0.02 * scale)
            np.testing.assert_allclose(fits.b, own.b, atol=0.02 * scale)


def test_a_path_that_is_left_changes_nothing_for_the_others():
    whole, rows = problem(m=200), [np.arange(45), np.arange(60)]
    grid = lambda1_max(whole) * np.array([0.7, 0.4, 0.2])
    together = PathSolver(whole, rows, [10.0, 0.1], polish=True)
    alone = PathSolver(whole, rows, [0.1], polish=True)
    for lambda1 in grid.tolist():
        if lambda1 == grid[1]:
            together.drop(10.0)
        *_, fits = together.fit(lambda1)
        (own,) = alone.fit(lambda1)
        assert fits.lambda2 == 0.1
        np.testing.assert_array_equal(fits.sizes, own.sizes)
        np.testing.assert_allclose(fits.scores, own.scores, atol=0.02 * np.abs(own.scores).max())
