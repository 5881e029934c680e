from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from hipad.exceptions import DataError
from hipad.experiments.runner import Done, Task
from hipad.experiments.sensitivity import (
    Worth,
    curve_tasks,
    curves,
    rank_methods,
    sizes_for,
    spared,
    worth_of_rules,
)
from tests.experiments.small import recipe, table

# --------------------------------------------------------------------------------------------------
# Curves.


SIZES = (4, 8, 16, 32)


def fits(with_rules, without, draws: int = 12) -> list[Done]:
    rng = np.random.default_rng(0)
    found = []
    for seed in range(draws):
        for method, curve in (("HIPAD", with_rules), ("no rules", without)):
            for n, value in zip(SIZES, curve, strict=True):
                task = Task("contest", "d", seed, {"method": method, "rows": {"labelled": n}})
                noisy = value + 0.01 * rng.standard_normal()
                found.append(Done(task, f"{seed}{method}{n}", {"balanced": noisy}))
    return found


def test_rules_are_worth_what_they_spare():
    # 8 labelled rows with rules do what 32 do without: 24 further ones.
    worth = worth_of_rules(fits([0.8, 0.82, 0.85, 0.9], [0.6, 0.7, 0.8, 0.9]))
    assert worth.labelled == 8
    assert worth.low <= 24 <= worth.high
    assert worth.value == pytest.approx(24, abs=2)
    assert "about 2" in str(worth)


def test_rules_that_no_curve_reaches_are_worth_more_than_can_be_said():
    worth = worth_of_rules(fits([0.95] * 4, [0.6, 0.7, 0.8, 0.9]))
    assert worth.beyond
    assert worth.value == 2 * (32 - 4)
    assert math.isinf(worth.high)
    assert "more than 56" in str(worth)


def test_bad_rules_cost_patients():
    # with the rules it takes 8 rows of each class to do what 4 do without
    worth = worth_of_rules(fits([0.5, 0.6, 0.7, 0.8], [0.6, 0.7, 0.8, 0.9]))
    assert worth.value == pytest.approx(-8, abs=1)
    assert worth.low <= worth.value <= worth.high < 0
    assert worth.is_clear
    assert "your rules cost about 7 patients (95 % interval -8 to -7)" in str(worth)


def test_rules_that_never_make_up_for_what_they_cost():
    worth = worth_of_rules(fits([0.4] * 4, [0.6, 0.7, 0.8, 0.9]))
    assert worth.beyond
    assert worth.value == -2 * (32 - 4)
    assert math.isinf(worth.low)
    assert "your rules cost more than 56 patients (95 % interval beyond the curve to" in str(worth)


def test_useless_rules_are_worth_nothing_clear():
    curve = [0.6, 0.7, 0.8, 0.9]
    assert abs(worth_of_rules(fits(curve, curve)).value) < 1
    unclear = Worth(8, -3.0, -9.0, 4.0)
    assert not unclear.is_clear
    assert "cost about 3 patients (95 % interval -9 to 4, so it may be chance)" in str(unclear)


@given(
    st.lists(st.floats(0.4, 1.0), min_size=4, max_size=4),
    st.lists(st.floats(0.4, 1.0), min_size=4, max_size=4),
)
def test_more_accuracy_is_never_worth_less(ours, theirs):
    low, _ = spared(np.array(ours), np.array(theirs), SIZES, 0)
    high, _ = spared(np.array(ours) + 0.05, np.array(theirs), SIZES, 0)
    assert -2 * (32 - 4) <= low <= high <= 2 * (32 - 4)


def test_every_method_gets_the_same_draws():
    tasks = curve_tasks(table(), draws=2, sizes=(4, 8))
    assert len(tasks) == 2 * 2 * 4
    assert sizes_for(table()) == (4, 8)
    assert sizes_for(recipe(), (4, 8)) == (4, 8)


def test_too_few_rows_for_a_curve_are_a_sentence():
    with pytest.raises(DataError, match="for a learning curve"):
        sizes_for(table(9))


def test_curves_have_a_mean_for_each_size():
    found = curves(fits([0.8, 0.82, 0.85, 0.9], [0.6, 0.7, 0.8, 0.9]))
    assert [curve.method for curve in found] == ["HIPAD", "no rules"]
    assert found[1].means[2].value == pytest.approx(0.8, abs=0.01)


def test_unfinished_curves_are_refused():
    with pytest.raises(DataError, match="finish both"):
        worth_of_rules(
            [one for one in fits([0.8] * 4, [0.6] * 4) if one.setting("method") == "HIPAD"]
        )


# --------------------------------------------------------------------------------------------------
# Friedman.


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
