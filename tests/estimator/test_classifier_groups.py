"""Rows of one patient are learnt from or held out together, in every choice of a fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad import HIPADClassifier, HIPADClassifierCV
from hipad.estimator.base import group_codes
from hipad.estimator.cross_validation import CrossValidator
from hipad.estimator.problem_factory import ProblemFactory, group_folds
from hipad.exceptions import DataError


def visits(patients=20, rows=5, seed=0, *, features=6, mixed=False):
    """Rows that tell who the patient is, and little of the class."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(patients), rows)
    y = (np.arange(patients) % 2)[groups]
    if mixed:
        y = np.where(rng.random(y.size) < 0.3, 1 - y, y)
    X = rng.normal(size=(patients, features))[groups]
    X += 0.3 * rng.normal(size=X.shape)
    X[:, 0] += 0.5 * y
    return X, y, groups


def validator_of(clf, X, y, groups, **more):
    run = clf.fit_iter(X, y, groups=groups, **more)
    return CrossValidator(ProblemFactory(run.data, run.plan)), run.data


@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=8, max_size=60),
    st.integers(2, 6),
)
@settings(deadline=None, max_examples=60)
def test_folds_keep_groups_and_spread_both_classes(rows, count):
    groups = np.array([group for group, _ in rows])
    y = np.array([1.0 if ill else -1.0 for _, ill in rows])
    if min(np.unique(groups[y == sign]).size for sign in (-1.0, 1.0)) < 2:
        return
    key = np.random.default_rng(1).normal(size=y.size)
    found = group_folds(key, y, np.full(y.size, 1.0 / y.size), groups, count)
    for group in np.unique(groups):
        assert np.unique(found[groups == group]).size == 1
    assert 2 <= found.max() + 1 <= count
    again = group_folds(key, y, np.full(y.size, 1.0 / y.size), 100 - groups, count)
    assert np.array_equal(found, again)  # whatever the groups are called


@pytest.mark.parametrize("mixed", [False, True])
def test_no_fold_of_a_choice_splits_a_patient(mixed):
    X, y, groups = visits(mixed=mixed)
    validator, data = validator_of(HIPADClassifier(), X, y, groups)
    parts = [part for way in validator.repeats for part in way]
    assert (
        len(validator.repeats) == 4
    )  # few patients: folds are repeated, however many rows there are
    for part, learnt in zip(parts, validator.training, strict=False):
        assert not set(groups[part]) & set(groups[learnt])
    assert data.total == 20
    assert data.group_weights.sum() == pytest.approx(20)


def test_unlabelled_rows_of_a_held_out_patient_teach_nothing():
    X, y, groups = visits()
    labels = y.astype(object)
    labels[::5] = None
    clf = HIPADClassifier("x0 >= 0.5 => 1\nx1 >= 0.5 => 0")
    run = clf.fit_iter(X, labels, groups=groups)
    inferred = [m.factory.data for m in run.members if m.factory.data.n_inferred]
    assert inferred
    data = inferred[0]
    validator = CrossValidator(ProblemFactory(data, run.plan, [0.0, 0.0]))
    parts = [part for way in validator.repeats for part in way]
    for part, learnt in zip(parts, validator.training, strict=False):
        assert not set(data.groups[part]) & set(data.groups[learnt])


def test_the_model_does_not_hang_on_order_or_names_of_groups():
    X, y, groups = visits()
    first = HIPADClassifier().fit(X, y, groups=groups)
    order = np.random.default_rng(2).permutation(y.size)
    names = np.array([f"p{(7 * g) % 20}" for g in groups])
    again = HIPADClassifier().fit(X[order], y[order], groups=names[order])
    assert (again.lambda1_, again.lambda2_) == (first.lambda1_, first.lambda2_)
    assert again.coef_ == pytest.approx(first.coef_)
    assert again.predict_proba(X) == pytest.approx(first.predict_proba(X))


def test_groups_of_one_row_each_are_no_groups():
    X, y, _ = visits(patients=40, rows=1)
    alone = HIPADClassifier(lambda1=0.1).fit(X, y)
    own = HIPADClassifier(lambda1=0.1).fit(X, y, groups=np.arange(40))
    assert own.coef_ == pytest.approx(alone.coef_)


def test_figures_of_held_out_rows_are_those_of_fresh_patients():
    """With nothing to learn, a fit that splits patients would claim to know them."""
    X, y, groups = visits(patients=16, seed=5, features=20)
    X[:, 0] -= 0.5 * y
    honest = HIPADClassifier().fit(X, y, groups=groups)
    fooled = HIPADClassifier().fit(X, y)
    claimed = [max(p.accuracy for p in clf.path_) for clf in (honest, fooled)]
    assert claimed[1] > 0.85
    assert claimed[0] < 0.75
    spread = [np.ptp(clf.predict_proba(X)[:, 1]) for clf in (honest, fooled)]
    assert spread[0] < 0.6 * spread[1]  # risks are as modest as what fresh patients allow


def test_a_search_never_splits_groups_and_takes_splitters_that_know_them():
    X, y, groups = visits()
    seen = []

    def score(clf, rows, truth):
        seen.append({round(float(v), 9) for v in rows[:, 1]})
        return clf.score(rows, truth)

    given_ = {"lambda1": [0.1], "lambda2": [1.0], "scoring": score}
    search = HIPADClassifierCV(**given_).fit(X, y, groups=groups)
    assert search.n_splits_ == 5
    patient = {round(float(v), 9): g for v, g in zip(X[:, 1], groups, strict=True)}
    held = [{patient[v] for v in part} for part in seen]
    assert sum(map(len, held)) == 20
    assert set.union(*held) == set(range(20))


def test_groups_must_be_one_for_each_row():
    X, y, groups = visits()
    with pytest.raises(DataError, match="a group for each of 100 rows, got 99"):
        HIPADClassifier().fit(X, y, groups=groups[1:])
    assert group_codes(np.array(["b", None, "b"], dtype=object), 3).tolist() == [1, 0, 1]
