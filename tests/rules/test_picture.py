from __future__ import annotations

import numpy as np

from hipad.rules import compile_rules, picture


def test_a_small_value_that_helps_has_a_negative_sign():
    (row,) = picture(compile_rules("a - 2*b >= 3 => positive", feature_names=["a", "b"]))
    assert [(cell.name, cell.sign) for cell in row.cells] == [("b", -1), ("a", 1)]
    assert row.threshold == 3.0


def test_a_block_with_one_weight_is_one_cell_and_else_features():
    blocks = {"K": np.array([0, 1])}
    same, other = picture(
        compile_rules(
            "sum(K) >= 1 => positive\nx0 + 2*x1 >= 1 => positive", n_features=3, blocks=blocks
        ),
        blocks=blocks,
    )
    assert [(cell.name, cell.n_features) for cell in same.cells] == [("K", 2)]
    assert [cell.name for cell in other.cells] == ["x1", "x0"]


def test_what_is_not_shown_is_counted():
    (row,) = picture(compile_rules("sum(x0:x9) >= 1 => positive", n_features=10), most=4)
    assert (len(row.cells), row.hidden) == (4, 6)
