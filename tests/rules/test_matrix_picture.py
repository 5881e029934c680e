from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import compile_rules, matrix_picture


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
