from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from hipad import HIPADClassifier
from hipad.evaluation.new_rows import (
    explain_row,
    nearest_rows,
    outside_range,
    smallest_change,
)

RNG = np.random.default_rng(0)
Y = np.where(np.arange(60) < 30, "ill", "well")
X = RNG.normal(50, 10, size=(60, 6))
X[:30, :3] += 12.0
CLF = HIPADClassifier(lambda1=0.02, lambda2=1.0).fit(X, Y)
BLOCKS = {"a": [0, 1], "b": [1, 2]}


@given(st.integers(0, 59), st.sampled_from([-1.0, 1.0]))
@settings(max_examples=30)
def test_contributions_add_up_to_the_score(row, sign):
    told = explain_row(CLF, X[row], X, blocks=BLOCKS, sign=sign)
    score = sign * float(CLF.decision_function(X[row : row + 1])[0])
    assert told.score == pytest.approx(score, abs=1e-12)
    assert told.base + sum(one.amount for one in told.contributions) == pytest.approx(
        score, abs=1e-12
    )
    assert told.base + sum(told.blocks.values()) == pytest.approx(score, abs=1e-12)
    assert np.sign(told.distance) == np.sign(score)


def test_a_row_may_be_sparse():
    thin = explain_row(CLF, sparse.csr_array(X[3:4]), sparse.csr_array(X), blocks=BLOCKS)
    assert thin.blocks == pytest.approx(explain_row(CLF, X[3], X, blocks=BLOCKS).blocks)


@pytest.mark.parametrize("row", [0, 7, 31, 45])
def test_smallest_change_is_the_optimum_of_a_general_solver(row):
    columns = np.array([0, 1, 2])
    found = smallest_change(CLF, X[row], columns, X)
    moved = X[row].copy()
    for column, value, new in found.changes:
        assert value == X[row, column]
        moved[column] = new
    before, after = (CLF.predict(one[None])[0] for one in (X[row], moved))
    assert found.flips == (before != after)
    assert ((moved >= X.min(axis=0)) & (moved <= X.max(axis=0))).all()
    w, s = CLF.coef_[0, columns], X[:, columns].std(axis=0)
    score = float(CLF.decision_function(X[row : row + 1])[0])
    ends = [
        (low - x, high - x)
        for low, high, x in zip(
            X[:, columns].min(0), X[:, columns].max(0), X[row, columns], strict=True
        )
    ]
    reach = sum(
        max(-np.sign(score) * wj * end for end in pair) for wj, pair in zip(w, ends, strict=True)
    )
    assert found.flips == (reach > abs(score))
    if found.flips:
        other = minimize(
            lambda d: np.sum((d / s) ** 2),
            np.zeros(3),
            bounds=ends,
            constraints={"type": "eq", "fun": lambda d: score + w @ d},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        assert found.size == pytest.approx(np.sqrt(other.fun), rel=1e-4)


def test_a_block_without_weight_changes_nothing():
    found = smallest_change(CLF, X[0], [], X)
    assert not found.flips
    assert found.changes == ()


def test_nearest_rows_begin_with_the_row_itself():
    assert nearest_rows(CLF, X[5], X, 3)[0] == (5, pytest.approx(0.0))
    distances = [one.distance for one in nearest_rows(CLF, X[5], X, 60)]
    assert distances == sorted(distances)


def test_values_outside_the_training_range_are_named():
    odd = X[4].copy()
    odd[0] = 1000.0
    (found,) = outside_range(CLF, odd, X)
    assert (found.column, found.value, found.high) == (0, 1000.0, X[:, 0].max())
    assert outside_range(CLF, X[4], X) == ()
