from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hipad import HIPADClassifier
from hipad.evaluation.active_learning import (
    candidate_scores,
    doubts,
    label_next,
    spaced_ranks,
    spread_out,
    stratified_order,
)
from hipad.exceptions import DataError
from tests.estimator.test_trust import RIGHT, rows


@pytest.fixture(scope="module")
def fitted():
    return HIPADClassifier(RIGHT, lambda1=0.1).fit(*rows(1, 24))


@pytest.fixture(scope="module")
def others():
    return rows(2, 200)[0]


def test_label_next_lists_both_classes_over_their_whole_range(fitted, others):
    found = label_next(fitted, others, count=8)
    assert len({one.row for one in found}) == len(found) == 8
    assert all(0 <= one.score <= 1 for one in found)
    values = fitted.decision_function(others)
    said = np.array([one.decision_value for one in found])
    assert said == pytest.approx([values[one.row] for one in found])
    assert np.count_nonzero(said > 0) == 4
    for side in (values[values > 0], -values[values <= 0]):
        own = np.abs(said[np.isin(np.abs(said), side)])
        assert own.max() > np.quantile(side, 0.9)
        assert own.min() < np.quantile(side, 0.2)
    assert label_next(fitted, others, count=8) == found


@given(st.lists(st.floats(-5, 5, allow_subnormal=False), max_size=40))
def test_stratified_order_names_every_row_once_and_both_sides_in_turn(values):
    scores = np.array(values)
    order = stratified_order(scores)
    assert sorted(order) == list(range(scores.size))
    fewer = min(np.count_nonzero(scores > 0), np.count_nonzero(scores <= 0))
    sides = scores[order[: 2 * fewer]] > 0
    assert (sides[::2] != sides[1::2]).all()
    if 0 < fewer < scores.size:
        assert np.abs(scores[order[0]]) == np.abs(scores[(scores > 0) == sides[0]]).max()


@given(st.integers(0, 200), st.integers(1, 200))
def test_every_beginning_of_spaced_ranks_covers_the_range(count, first):
    ranks = spaced_ranks(count)
    assert sorted(ranks.tolist()) == list(range(count))
    if first >= 2 and count >= 2:
        gaps = np.diff(np.sort(ranks[:first]))
        assert gaps.max() <= 2 * (count - 1) / max(min(first, count) - 1, 1) + 2


def test_rows_on_which_candidates_disagree_are_doubtful(fitted, others):
    views = candidate_scores(fitted, others)
    assert len(views) > 1
    mean = sum(share * own for share, own in views)
    assert mean == pytest.approx(fitted.decision_function(others))
    found = doubts(np.array([0.3, 0.3]), np.array([0.0, 0.6]))
    assert found[1] > found[0]


def test_label_next_names_nobody_twice_who_looks_alike(fitted, others):
    first = label_next(fitted, others, count=1)[0].row
    twins = np.vstack([others, np.tile(others[first], (5, 1))])
    found = [one.row for one in label_next(fitted, twins, count=5)]
    alike = {first, *range(200, 205)}
    assert len(alike & set(found)) == 1


def test_label_next_of_few_rows_and_of_none(fitted, others):
    assert len(label_next(fitted, others[:3], count=10)) == 3
    assert label_next(fitted, others[:0]) == []
    with pytest.raises(DataError, match="expected to list 1 row or more"):
        label_next(fitted, others, count=0)


def test_label_next_takes_sparse_rows_and_models_without_candidates(others):
    X, y = rows(1, 24)
    clf = HIPADClassifier(lambda1=0.1).fit(X, y)
    dense = label_next(clf, others, count=4)
    thin = label_next(clf, sparse.csr_array(others), count=4)
    assert [one.row for one in thin] == [one.row for one in dense]
    assert dense[0].reason.startswith("the model is sure of its class")


def test_spread_out_fills_up_with_what_it_skipped():
    values = np.array([[0.0], [0.0], [5.0], [0.0]])
    assert spread_out([0, 1, 2, 3], values, 4) == [0, 2, 1, 3]
