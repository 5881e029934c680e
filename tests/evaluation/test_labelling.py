from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad import HIPADClassifier
from hipad.errors import DataError
from hipad.evaluation.labelling import candidate_scores, doubts, label_next, spread_out
from tests.estimator.trust.test_mixture import RIGHT, rows


@pytest.fixture(scope="module")
def fitted():
    return HIPADClassifier(RIGHT, lambda1=0.1).fit(*rows(1, 24))


@pytest.fixture(scope="module")
def others():
    return rows(2, 200)[0]


def test_label_next_lists_doubtful_rows_first(fitted, others):
    found = label_next(fitted, others, count=8)
    assert len({one.row for one in found}) == len(found) == 8
    assert all(0 <= one.score <= 1 for one in found)
    values = fitted.decision_function(others)
    assert [one.decision_value for one in found] == pytest.approx(
        [values[one.row] for one in found]
    )
    assert np.mean([abs(one.decision_value) for one in found]) < 0.5 * np.abs(values).mean()
    assert label_next(fitted, others, count=8) == found


def test_label_next_prefers_rows_on_which_candidates_disagree(fitted, others):
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
    assert dense[0].reason.startswith("near the border between the classes")


def test_spread_out_fills_up_with_what_it_skipped():
    values = np.array([[0.0], [0.0], [5.0], [0.0]])
    assert spread_out([0, 1, 2, 3], values, 4) == [0, 2, 1, 3]
