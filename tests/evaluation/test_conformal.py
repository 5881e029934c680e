from __future__ import annotations

import numpy as np
import pytest

from hipad.evaluation.new_rows import (
    ConformalSets,
    coverage_by_class,
    cross_conformal,
    sets_of,
    undecided,
)
from hipad.exceptions import DataError

crepes = pytest.importorskip("crepes", reason="crepes is not installed")


def drawn(n, rng, shift=1.5):
    positive = rng.random(n) < 0.3
    return rng.normal(size=n) + shift * positive - shift / 2, positive


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_p_values_and_sets_equal_crepes(coverage):
    rng = np.random.default_rng(0)
    (scores, positive), (new, _) = drawn(90, rng), drawn(50, rng)
    strange = np.where(positive, -scores, scores)
    theirs = crepes.ConformalClassifier().fit(strange, bins=positive.astype(int))
    columns = []
    for column, values in enumerate((new, -new)):
        own = theirs.predict_p(values[:, None], np.full(50, column), smoothing=False)
        columns.append(own.ravel())
    expected = np.column_stack(columns)
    ours = ConformalSets.fit(scores, positive)
    assert ours.p_values(new) == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(ours.sets(new, coverage), expected >= 1 - coverage - 1e-12)


def test_cross_conformal_leaves_each_row_out():
    scores, positive = drawn(40, np.random.default_rng(1))
    found = cross_conformal(scores, positive)
    for row in range(40):
        rest = np.arange(40) != row
        one = ConformalSets.fit(scores[rest], positive[rest]).p_values(scores[row : row + 1])
        assert found[row] == pytest.approx(one[0])


def test_each_class_is_covered_as_chosen():
    rng, held = np.random.default_rng(2), []
    for _ in range(150):
        scores, positive = drawn(120, rng, shift=1.0)
        if min(positive.sum(), (~positive).sum()) > 10:
            pair = coverage_by_class(cross_conformal(scores, positive), positive, 0.9)
            held.append([one.value for one in pair])
    means = np.mean(held, axis=0)
    assert ((means > 0.88) & (means < 0.97)).all()


def test_rows_of_a_patient_count_as_one_and_are_left_out_together():
    scores, positive = drawn(60, np.random.default_rng(3))
    copies, groups = np.repeat(np.arange(60), 3), np.repeat(np.arange(60), 3)
    alone = ConformalSets.fit(scores, positive).p_values(scores)
    grouped = ConformalSets.fit(scores[copies], positive[copies], groups).p_values(scores)
    assert grouped == pytest.approx(alone)
    left_out = cross_conformal(scores[copies], positive[copies], groups)
    assert left_out == pytest.approx(cross_conformal(scores, positive)[copies])


def test_undecided_counts_sets_of_two_and_of_none():
    found = undecided(np.array([[0.5, 0.5], [0.01, 0.01], [0.5, 0.01], [0.01, 0.5]]), 0.9)
    assert found.value == 0.5
    assert ConformalSets.fit([-1.0, 1.0], [False, True]).most_coverage == 0.5


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(DataError, match="both classes"):
        ConformalSets.fit([1.0, 2.0], [True, True])
    with pytest.raises(DataError, match="coverage above 0"):
        sets_of(np.ones((1, 2)), 1.0)
