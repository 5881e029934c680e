import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from hipad.experiments.learning_curve import rank_methods


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(3, 12))
def test_it_is_friedmans_chi_square(seed, k, n):
    table = np.random.default_rng(seed).random((k, n))
    found = rank_methods({f"m{j}": row for j, row in enumerate(table)})
    assert found.chi2 == pytest.approx(friedmanchisquare(*table).statistic, abs=1e-9)
    assert sum(found.ranks.values()) == pytest.approx(k * (k + 1) / 2)
    assert 0 <= found.p_value <= 1


def test_the_papers_own_table_is_significant_at_ten_per_cent():
    found = rank_methods(
        {
            "HIPAD": [86.9, 94.0, 94.7, 90, 85.3, 84.4, 90, 90, 90],
            "ADMM": [86.8, 93.9, 63.1, 90, 82.4, 84.4, 90, 90, 90],
            "LIBSVM": [86.1, 93.4, 93.4, 80, 82.4, 84.4, 60, 90, 90],
        }
    )
    assert found.p_value < 0.1
    assert min(found.ranks, key=found.ranks.__getitem__) == "HIPAD"


def test_one_data_set_tells_nothing():
    assert math.isnan(rank_methods({"a": [0.9], "b": [0.8]}).p_value)
