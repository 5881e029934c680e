from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hipad.evaluation.comparison import block_totals, feature_changes, flips, largest_changes

VECTORS = arrays(np.float64, 12, elements=st.integers(-2, 2).map(float))


@given(VECTORS, VECTORS)
def test_features_are_gained_lost_or_kept(before, after):
    changes = feature_changes(before, after)
    assert set(changes.gained) == set(np.flatnonzero(after)) - set(np.flatnonzero(before))
    assert set(changes.lost) == set(np.flatnonzero(before)) - set(np.flatnonzero(after))
    assert set(changes.turned) == {j for j in range(12) if before[j] * after[j] < 0}
    assert changes.kept == np.sum((before != 0) & (after != 0))
    assert (np.diff(np.abs(after[changes.gained])) <= 0).all()


@given(VECTORS, VECTORS)
def test_exchanging_the_models_exchanges_gained_and_lost(before, after):
    there, back = feature_changes(before, after), feature_changes(after, before)
    assert there.gained.tolist() == back.lost.tolist()
    assert there.turned.tolist() == back.turned.tolist()


@given(VECTORS, VECTORS)
def test_largest_changes_are_the_largest(before, after):
    shown = largest_changes(before, after, 4)
    change = np.abs(after - before)
    assert len(shown) == min(4, np.count_nonzero(change))
    hidden = np.setdiff1d(np.arange(12), shown)
    assert change[shown].min(initial=9) >= change[hidden].max(initial=0) or len(shown) < 4
    assert (change[shown] > 0).all()


@given(VECTORS)
def test_blocks_that_part_the_features_sum_to_all(weights):
    totals = block_totals(weights, {"low": np.arange(5), "high": np.arange(5, 9)})
    assert sum(totals.values()) == pytest.approx(weights.sum())
    assert totals["low"] == pytest.approx(weights[:5].sum())


@given(VECTORS, VECTORS, arrays(bool, 12))
def test_flips_account_for_the_change_in_right_answers(before, after, positive):
    found = flips(before, after, positive)
    assert sorted(found.rows) == sorted([*found.better, *found.worse])
    right = [np.sum((scores > 0) == positive) for scores in (before, after)]
    assert right[1] - right[0] == len(found.better) - len(found.worse)
    assert 0 < found.p_value <= 1


def test_without_the_truth_a_flip_is_neither_better_nor_worse():
    found = flips(np.array([1.0, -1.0]), np.array([-1.0, -1.0]))
    assert found.rows.tolist() == [0]
    assert not len(found.better)
    assert not len(found.worse)


@pytest.mark.parametrize(
    ("worse", "total", "falls"), [(1, 16, False), (5, 16, False), (6, 16, True)]
)
def test_flips_is_fall_beyond_chance_only(worse, total, falls):
    before, after = np.ones(total), np.ones(total)
    after[:worse] = -1
    assert flips(before, after, np.ones(total)).is_fall is falls
    assert not flips(after, before, np.ones(total)).is_fall


def test_flips_of_one_patient_count_as_one():
    before, after = -np.ones(20), np.ones(20)
    truth = np.ones(20, dtype=bool)
    rows, patients = (flips(before, after, truth, g) for g in (None, np.repeat([0, 1, 2, 3], 5)))
    assert patients.counted == (4, 0, 4)
    assert rows.p_value < 1e-4 < 0.1 < patients.p_value == 0.125
    assert patients.interval[0] < 0 < rows.interval[0]
