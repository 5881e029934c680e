from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from hipad.evaluation.cross_validation import (
    FIGURES,
    ChanceFigures,
    chance_figures,
    corrected_figure,
    shuffled_outcomes,
)
from hipad.exceptions import DataError

THEIRS = {
    "accuracy": lambda truth, scores: accuracy_score(truth, scores > 0),
    "balanced_accuracy": lambda truth, scores: balanced_accuracy_score(truth, scores > 0),
    "roc_auc": roc_auc_score,
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_drawn_rows_are_those_of_scikit_learn(name):
    rng = np.random.default_rng(0)
    truth, scores = rng.random(30) < 0.5, np.round(rng.normal(size=(30, 4)), 1)
    rows = rng.integers(0, 30, 30)
    counts = np.bincount(rows, minlength=30).astype(float)
    found = FIGURES[name](counts[None], scores, truth)[0]
    expected = [THEIRS[name](truth[rows], own[rows]) for own in scores.T]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("n", "versions"), [(20, 20), (60, 200), (240, 20)])
@pytest.mark.parametrize("metric", FIGURES)
def test_versions_of_no_worth_are_corrected_to_chance(n, versions, metric):
    rng, corrected, flattering = np.random.default_rng(1), [], []
    for draw in range(20):
        truth = rng.permutation(np.arange(n) % 2 == 0)
        found = corrected_figure(
            rng.normal(size=(n, versions)), truth, metric, draws=200, random_state=draw
        )
        corrected.append(found.corrected.value)
        flattering.append(found.uncorrected)
    assert abs(np.mean(corrected) - 0.5) < 0.03
    assert np.mean(flattering) > 0.56


def test_a_good_version_keeps_its_figure():
    rng = np.random.default_rng(2)
    truth = np.arange(200) % 2 == 0
    scores = rng.normal(size=(200, 10))
    scores[:, 3] += 2.0 * np.where(truth, 1.0, -1.0)
    found = corrected_figure(scores, truth)
    assert found.best == 3
    assert found.corrected.value == pytest.approx(found.uncorrected, abs=0.01)
    assert found.corrected.low < found.uncorrected < found.corrected.high


def test_rows_of_a_patient_are_drawn_together():
    rng = np.random.default_rng(4)
    truth, scores = np.arange(30) % 2 == 0, rng.normal(size=(30, 30))
    copies, groups = np.repeat(np.arange(30), 8), np.repeat(np.arange(30), 8)
    rows = [corrected_figure(scores[copies], truth[copies], groups=g) for g in (groups, None)]
    assert rows[0].corrected.value < rows[1].corrected.value - 0.03  # copies would be learnt
    assert rows[0].uncorrected == rows[1].uncorrected


def test_shuffled_outcomes_keep_patients_whole():
    groups = np.repeat(np.arange(12), [1, 2, 3, 4] * 3)
    y = (np.arange(12) % 2)[groups]
    found = shuffled_outcomes(y, groups, random_state=1)
    assert all(np.unique(found[groups == one]).size == 1 for one in range(12))
    assert not np.array_equal(found, y)
    mixed = np.tile([0, 1, 1], 8)
    again = shuffled_outcomes(mixed, np.repeat(np.arange(8), 3))
    assert np.array_equal(again, mixed)  # patients of one pattern exchange it


def test_chance_figures_yield_after_each_shuffle():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 20)
    steps = list(
        chance_figures(lambda own: rng.normal(size=(own.size, 5)), y, lambda own: own == 1, times=4)
    )
    assert [len(one.corrected) for one in steps] == [1, 2, 3, 4]
    assert np.mean(steps[-1].uncorrected) > np.mean(steps[-1].corrected)
    assert ChanceFigures((0.5,), (0.6,)).p_value(0.9) == 0.5


def test_bad_versions_are_named():
    with pytest.raises(DataError, match="finite scores of 4 rows"):
        corrected_figure(np.full((4, 2), np.nan), [True, False, True, False])
    with pytest.raises(DataError, match="got 'f1'"):
        corrected_figure(np.zeros((2, 1)), [True, False], "f1")
