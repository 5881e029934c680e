"""Screening: no crossing is ever missed, and the data are read seldom."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.datasets import make_ksvm_s
from hipad.designs import make_design
from hipad.solvers import Problem, RuleBlock
from hipad.solvers.admm import Admm
from hipad.solvers.weight_blocks import Screen


@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 1500),
    lambda1=st.floats(0.0, 3.0),
    steps=st.lists(st.floats(1e-8, 2.0), min_size=1, max_size=12),
    sparse=st.booleans(),
)
def test_never_misses_a_crossing(seed, m, lambda1, steps, sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, m)) * rng.choice([0.0, 1e-3, 1.0, 30.0], m)
    X[:, rng.random(m) < 0.1] = 0.0
    design = make_design(sp.csr_array(X) if sparse else X)
    active = rng.random(m) < 0.2
    screen = Screen(design, lambda1, active)
    T = np.zeros(6)
    for size in steps:
        T = T + size * rng.standard_normal(6)
        expected = (np.abs(X.T @ T) > lambda1) & ~active  # before the screen marks them
        found = screen.crossing(T)
        doubtful = np.abs(np.abs(X.T @ T) - lambda1) < 1e-12 * (1 + lambda1)
        differ = np.setxor1d(found, np.flatnonzero(expected))
        assert np.all(doubtful[differ]), "a crossing was missed or invented"
        assert np.all(np.diff(found) > 0)
        assert np.all(active[found]), "what crossed is marked, so that it is found once"


@given(seed=st.integers(0, 2**32 - 1), other=st.floats(0.0, 2.0))
def test_a_screen_goes_on_from_another_with_its_own_lambda1(seed, other):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 700))
    design = make_design(X)
    first = Screen(design, 1.0, np.zeros(700, dtype=bool))
    T = rng.standard_normal(6)
    first.crossing(T)
    second = Screen(design, other, np.zeros(700, dtype=bool))
    second.adopt(first)
    T = T + 0.05 * rng.standard_normal(6)
    np.testing.assert_array_equal(second.crossing(T), np.flatnonzero(np.abs(X.T @ T) > other))


def test_small_moves_cost_no_pass():
    X = np.random.default_rng(0).standard_normal((10, 5000))
    screen = Screen(make_design(X), 3.0, np.zeros(5000, dtype=bool))
    T = np.full(10, 0.5)
    screen.crossing(T)
    passes = screen.passes
    for k in range(20):
        screen.crossing(T + 1e-3 * k)
    assert screen.passes == passes


def ksvm_problem(lambda1):
    data = make_ksvm_s("10k", seed=1, n_train=60, n_features=3000, block_size=20)
    y = data.y_train.astype(float)
    rules = []
    for block, threshold, sign in (("K1", 4.0, 1.0), ("K4", 3.0, -1.0)):
        B = sp.lil_array((1, 3000))
        B[0, data.blocks[block]] = -1 / 20
        rules.append(RuleBlock(sp.csr_array(B), np.array([-threshold]), sign, 0.25, 300.0))
    p = np.full(60, 1 / 60)
    return Problem(make_design(data.X_train), y, p, lambda1, 1.0, tuple(rules))


@pytest.mark.parametrize("lambda1", [0.12, 0.2])
def test_a_run_on_ksvm_reads_the_data_a_few_times(lambda1):
    admm = Admm(ksvm_problem(lambda1))
    for _ in range(40):
        admm.sweep()
    assert admm.features.passes <= 8
    assert admm.features.active.size < 1000
