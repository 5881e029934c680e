from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hipad import HIPADClassifier
from hipad.evaluation.cross_validation import CrossValidation, cross_validate, fold_parts
from hipad.exceptions import DataError

RULE = "x0 >= p80 => ill"
GIVEN = {"lambda1": 0.1, "lambda2": 1.0, "rule_trust": None}


def rows(n=48, seed=0):
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, 4))
    X[ill, 0] += 1.5
    return X, np.where(ill, "ill", "well")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=60))
def test_no_group_is_split_and_everybody_is_judged_once(patients):
    y = np.array([kind for kind, _ in patients], dtype=int)
    groups = np.array([group for _, group in patients], dtype=int)
    parts = fold_parts(y, groups)
    for learnt, held in parts:
        assert not set(groups[learnt]) & set(groups[held])
        assert set(y[learnt]) == set(y)
    if parts:
        assert sorted(np.concatenate([held for _, held in parts])) == list(range(len(y)))


def test_without_groups_there_are_five_folds():
    assert len(fold_parts(np.array(["ill", "well"] * 20), None)) == 5
    assert fold_parts(np.array(["ill"] * 5), None) == []
    assert fold_parts(np.array(["ill", "well", "well"]), None) == []


def test_each_fold_is_a_fit_of_its_own_to_the_other_rows():
    X, y = rows()
    groups = np.arange(48) // 3
    clf = HIPADClassifier(RULE)
    found = cross_validate(clf, X, y, groups=groups, n_folds=2)
    for learnt, held in found.parts:
        alone = HIPADClassifier(RULE).fit(X[learnt], y[learnt], groups=groups[learnt])
        assert found.scores[held] == pytest.approx(alone.decision_function(X[held]), abs=1e-9)
    assert not hasattr(clf, "coef_")


def test_shuffled_outcomes_are_judged_as_chance():
    rng = np.random.default_rng(3)
    honest = []
    for _ in range(6):
        X, y = rng.normal(size=(40, 60)), rng.permutation(np.repeat(["ill", "well"], 20))
        clf = HIPADClassifier(lambda1=0.4, lambda2=1.0)
        honest.append(cross_validate(clf, X, y).judge(("well", "ill")).accuracy.value)
    assert abs(np.mean(honest) - 0.5) < 0.12


def test_it_stops_between_folds_and_goes_on():
    X, y = rows()
    clf, seen = HIPADClassifier(**GIVEN), []
    begun = cross_validate(
        clf,
        X,
        y,
        on_progress=lambda done, total: seen.append((done, total)),
        should_stop=lambda: seen[-1][0] == 2,
    )
    assert seen == [(0, 5), (1, 5), (2, 5)]
    assert not begun.is_done
    assert np.array_equal(np.isnan(begun.scores), begun.fold >= 2)
    with pytest.raises(DataError, match="all folds"):
        begun.judge(("well", "ill"))
    whole = cross_validate(clf, X, y)
    assert np.array_equal(cross_validate(clf, X, y, begun=begun).scores, whole.scores)


def test_the_judgement_is_of_the_class_that_is_called_positive():
    X, y = rows()
    found = cross_validate(HIPADClassifier(**GIVEN), X, y)
    ill, well = found.judge(("well", "ill")), found.judge(("ill", "well"))
    assert ill.accuracy.k == well.accuracy.k > 30
    assert (ill.sensitivity.k, ill.specificity.k) == (well.specificity.k, well.sensitivity.k)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_without_a_label_are_learnt_from_and_not_judged(make):
    X, y = rows()
    labels = y.astype(object)
    labels[40:] = None
    found = cross_validate(HIPADClassifier(RULE, **GIVEN), make(X), labels, n_folds=2)
    assert len(found.scores) == 40
    learnt, held = found.parts[0]
    known = np.r_[learnt, np.arange(40, 48)]
    alone = HIPADClassifier(RULE, **GIVEN).fit(make(X)[known], labels[known])
    assert found.scores[held] == pytest.approx(alone.decision_function(make(X)[held]), abs=1e-9)


def test_several_classes_have_a_value_each():
    X, _ = rows()
    y = np.arange(48) % 3
    found = cross_validate(HIPADClassifier(**GIVEN), X, y, n_folds=2)
    assert found.scores.shape == (48, 3)
    assert np.isfinite(found.scores).all()


def test_too_few_patients_are_told():
    with pytest.raises(DataError, match="two patients or groups"):
        CrossValidation.of(["ill", "well", "well"])
