from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import compile_rules, matrix_picture, picture


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


def test_features_that_no_row_tells_apart_share_a_column():
    blocks = {"K": np.arange(3), "L": np.arange(3, 5)}
    text = "mean(K) >= 1 => positive\nx0 <= 2 and x3 >= 1 => negative"
    shown = matrix_picture(compile_rules(text, n_features=6, blocks=blocks), blocks=blocks)
    assert [column.features.tolist() for column in shown.columns] == [[0], [1, 2], [3]]
    assert [column.name for column in shown.columns] == ["x0", "x1 … x2", "x3"]
    assert shown.values == pytest.approx(
        np.array([[-1 / 3, -1 / 3, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    )
    assert shown.d.tolist() == [-1.0, 2.0, -1.0]
    assert not shown.binned


@given(st.integers(0, 2**32 - 1), st.integers(1, 7))
def test_the_picture_is_the_matrix_whatever_its_bins(seed, most):
    """Means times sizes give back the sums of B's rows, and B x <= d is that of scaled data."""
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(9)]
    text = "\n".join(
        f"{rng.integers(1, 5)} * x{a} - x{b} >= {rng.integers(-3, 3)} => positive"
        for a, b in (rng.choice(9, 2, replace=False) for _ in range(3))
    )
    rules = compile_rules(text, feature_names=names)
    mean, scale = rng.standard_normal(9), rng.uniform(0.5, 2.0, 9)
    shown = matrix_picture(rules, mean=mean, scale=scale, most=most)
    assert len(shown.columns) <= most or not shown.binned
    sizes = np.array([column.features.size for column in shown.columns])
    told = [rule.scaled(mean, scale) for rule in rules]
    sums = np.concatenate([rule.B.toarray().sum(axis=1) for rule in told])
    assert (shown.values * sizes).sum(axis=1) == pytest.approx(sums)
    assert shown.d == pytest.approx(np.concatenate([rule.d for rule in told]))


def test_latex_sets_names_as_they_are():
    rules = compile_rules("`a_1 & b` >= 3 => positive", feature_names=["a_1 & b"])
    text = matrix_picture(rules).latex()
    assert r"\text{a\_1 \& b} & d" in text
    assert "-1 & -3" in text
