from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.rules import compile_rules


@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.float32]
)
def test_every_kind_of_data_fires_alike(make: type):
    X = np.array([[1.9, 0, 2.0], [0, 3.5, 0], [1.9, 1.0, 0]])
    (compiled,) = compile_rules("x0 >= 1.9 and x2 <= 1 => positive", n_features=3)
    assert compiled.fires(make(X)).tolist() == [False, False, True]


def test_a_missing_value_never_fires():
    (compiled,) = compile_rules("x0 >= 1 => positive", n_features=2)
    assert compiled.fires([[np.nan, 1], [2, np.nan]]).tolist() == [False, True]


def test_each_row_knows_its_condition():
    (compiled,) = compile_rules("min(x0, x1) >= 1 and 1 <= x0 - x2 <= 2 => positive", n_features=3)
    assert compiled.sources == ("min(x0, x1) >= 1",) * 2 + ("1 <= x0 - x2 <= 2",) * 2


def test_the_echo_has_the_class_and_the_numbers_that_were_learnt():
    X = np.arange(11.0)[:, None] * [1.0, 0.5]
    (rule,) = compile_rules("x0 > p90(x0) => not ill", n_features=2, values=X,
                            classes=("well", "ill"))  # fmt: skip
    assert rule.resolved_text == "x0 > 9 => well"
    assert rule.remarks == ("p90(x0) is 9 on the training rows",)


def test_differences_of_large_numbers_are_exact():
    X = np.array([[2e8 + 20, 2e8], [2e8 + 49, 2e8], [2e8 + 50, 2e8]])
    (rule,) = compile_rules("x0 - x1 >= 50 => positive", n_features=2, values=X)
    assert rule.fires(X).tolist() == [False, False, True]


def test_scaling_keeps_the_rule_and_its_columns():
    (compiled,) = compile_rules("x0 + 2*x2 >= 4 => positive", n_features=3)
    scaled = compiled.scaled(np.array([1.0, 9.0, 2.0]), np.array([2.0, 9.0, 0.5]))
    assert scaled.B.toarray().tolist() == [[-2.0, 0.0, -1.0]]
    assert scaled.d.tolist() == [1.0]
    assert scaled.columns.tolist() == compiled.columns.tolist() == [0, 2]
