"""Rows without a label: which forms they come in, and what they may and may not change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hipad import HIPADClassifier
from hipad.estimator.parameters import PRIOR_TRUST
from hipad.exceptions import DataError
from tests.estimator.tables import FLIPPED, GIVEN, RIGHT, rows

COUNT, LABELLED = 50, 14
X, Y = rows(0, COUNT)
KNOWN = np.arange(COUNT) < LABELLED
GAPS = np.where(KNOWN, Y, np.nan)


def fitted(labels, X=X, rules=RIGHT, weights=None, **parameters):
    return HIPADClassifier(rules, **{**GIVEN, **parameters}).fit(X, labels, sample_weight=weights)


def same(one, other, atol=1e-9):
    np.testing.assert_allclose(one.coef_, other.coef_, atol=atol)
    np.testing.assert_allclose(one.intercept_, other.intercept_, atol=atol)


@pytest.fixture(scope="module")
def usual():
    return fitted(GAPS)


def objects(missing):
    return np.array([label if known else missing for label, known in zip(Y.tolist(), KNOWN, strict=True)], dtype=object)  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(
    "labels",
    [
        np.where(KNOWN, Y, -1),
        np.where(KNOWN, Y, -1.0),
        objects(None),
        objects(np.nan),
        objects(pd.NA),
        objects(None).tolist(),
        pd.Series(objects(pd.NA), dtype="Int64"),
        pd.Series(objects(None), dtype="float64", index=np.arange(COUNT)[::-1]),
        pd.Series(objects(-1), dtype="Int64"),
        pd.Series(objects(None)).astype("category"),
    ],
    ids=lambda labels: f"{type(labels).__name__}-{getattr(labels, 'dtype', '')}",
)
def test_every_form_of_a_missing_label_gives_the_same_model(labels, usual):
    clf = fitted(labels)
    assert clf.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(clf.coef_, usual.coef_)


@pytest.mark.parametrize(
    ("names", "dtype"),
    [(["no", "yes"], object), (["no", "yes"], "string"), ([False, True], "boolean")],
)
def test_labels_of_other_kinds_may_be_missing(names, dtype, usual):
    labels = pd.Series([names[int(y)] if known else None for y, known in zip(Y, KNOWN, strict=True)], dtype=dtype)  # fmt: skip  # noqa: E501
    rules = "x0 >= 1 => positive\nx1 <= -1 => negative"
    clf = fitted(labels, rules=rules)
    assert clf.classes_.tolist() == names
    np.testing.assert_array_equal(clf.coef_, usual.coef_)
    assert set(clf.predict(X).tolist()) == set(names)


def test_minus_one_beside_one_other_class_is_a_class():
    clf = fitted(np.where(Y, 1, -1), rules="x0 >= 1 => positive\nx1 <= -1 => negative")
    assert clf.classes_.tolist() == [-1, 1]
    assert clf._data.unlabelled is None
    same(clf, fitted(Y))


def test_minus_one_stays_a_class_beside_missing_labels(usual):
    labels = np.where(KNOWN, np.where(Y, 1.0, -1.0), np.nan)
    clf = fitted(labels, rules="x0 >= 1 => positive\nx1 <= -1 => negative")
    assert clf.classes_.tolist() == [-1, 1]
    np.testing.assert_array_equal(clf.coef_, usual.coef_)


def test_where_no_label_is_missing_nothing_changes():
    plain = fitted(Y)
    for labels in (pd.Series(Y, dtype="Int64"), Y.astype(object), Y.tolist()):
        np.testing.assert_array_equal(fitted(labels).coef_, plain.coef_)
    assert not any(member.on_rows for member in plain.members_)


def test_labels_behind_a_gap_never_matter(usual):
    hidden = np.where(KNOWN, Y, np.random.default_rng(1).permutation(Y))
    np.testing.assert_array_equal(fitted(np.where(KNOWN, hidden, -1)).coef_, usual.coef_)


def test_the_order_of_rows_does_not_matter():
    """Labelled and unlabelled rows are mixed; folds follow the content of the rows."""
    order = np.random.default_rng(2).permutation(COUNT)
    one, other = fitted(GAPS, cv=2), fitted(GAPS[order], X[order], cv=2)
    same(one, other)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_sparse_rows_are_the_same_rows(usual):
    for form in (sparse.csr_array, sparse.csc_matrix):
        same(fitted(GAPS, form(X)), usual)


def test_rules_that_cover_no_unlabelled_row_are_not_spread_over_them(usual):
    assert [member.on_rows for member in usual.members_].count(True) == 1
    near = X.copy()
    near[~KNOWN, 0], near[~KNOWN, 1] = 0.5, 0.5
    clf = fitted(GAPS, near)
    assert not any(member.on_rows for member in clf.members_)
    assert sum(member.prior for member in clf.members_) == pytest.approx(1.0 - PRIOR_TRUST / 6)
    assert sum(member.posterior for member in clf.members_) == pytest.approx(1.0)


def test_weights_of_rows_with_gaps_come_in_any_form():
    weights = np.where(np.arange(COUNT) % 3, 1.0, 2.0)
    clf = fitted(GAPS, weights=weights)
    for form in (list, pd.Series):
        np.testing.assert_array_equal(fitted(GAPS, weights=form(weights)).coef_, clf.coef_)


def test_a_labelled_row_of_weight_two_is_two_rows():
    weights = np.where(KNOWN & (np.arange(COUNT) % 3 == 0), 2.0, 1.0)
    clf = fitted(GAPS, weights=weights)
    repeated = np.r_[np.arange(COUNT), np.flatnonzero(weights == 2.0)]
    place = {row: np.flatnonzero(repeated == row) for row in range(COUNT)}
    splits = [(train, np.concatenate([place[row] for row in test])) for train, test in GIVEN["cv"]]
    same(clf, fitted(GAPS[repeated], X[repeated], cv=splits))


def test_rows_of_no_weight_are_no_rows_whether_labelled_or_not():
    kept = (np.arange(COUNT) < 10) | (np.arange(COUNT) % 3 > 0)
    clf = fitted(GAPS, weights=kept.astype(float))
    same(clf, fitted(GAPS[kept], X[kept]))
    nobody = fitted(GAPS, weights=KNOWN.astype(float))
    same(nobody, fitted(Y[KNOWN], X[KNOWN]))


@pytest.mark.parametrize("labels", [np.full(COUNT, np.nan), [None] * COUNT])
def test_no_label_at_all_is_an_error_that_says_so(labels):
    with pytest.raises(DataError, match="expected labels in y, got none: give at least one row"):
        fitted(labels)


def test_given_splits_hold_out_labelled_rows_only(usual):
    everyone = [(np.r_[0:0], np.r_[:5, 20:30]), (np.r_[0:0], np.r_[5:10, 40:50])]
    np.testing.assert_array_equal(fitted(GAPS, cv=everyone).coef_, usual.coef_)
    assert np.isfinite(usual._model.held_out).sum() == 10
    assert usual._model.held_out.size == LABELLED


def test_a_fit_goes_on_from_an_earlier_one_with_the_same_gaps(usual):
    other = HIPADClassifier(RIGHT, **{**GIVEN, "lambda1": 0.2}).fit_iter(X, GAPS, interactive=False)
    earlier = other.to_end().finish()
    again = (
        HIPADClassifier(RIGHT, **GIVEN)
        .fit_iter(X, GAPS, warm_start_from=earlier, interactive=False)
        .to_end()
    )
    assert again.data is earlier._data
    same(again.finish(), usual)
    fuller = HIPADClassifier(RIGHT, **GIVEN).fit_iter(X, Y, warm_start_from=earlier)
    assert fuller.data is not earlier._data


def test_learnt_thresholds_know_unlabelled_rows():
    clf = fitted(GAPS, rules="x0 above its median => 1")
    assert clf._knowledge.rules[0].d == pytest.approx([-np.median(X[:, 0])], abs=1e-3)


def accuracy(rules, seed, labelled):
    """On 2,000 test rows: of a few labelled rows alone, and beside 200 unlabelled ones."""
    X, y = rows(seed, labelled + 200)
    X_test, y_test = rows(seed + 100, 2000)
    gaps = np.where(np.arange(len(y)) < labelled, y, np.nan)
    return HIPADClassifier(rules, lambda1=0.1, lambda2=1.0, cv=4).fit(X, gaps).score(X_test, y_test)


def test_flipped_rules_beside_unlabelled_rows_end_near_the_model_without_rules():
    lost = [accuracy(None, seed, 32) - accuracy(FLIPPED, seed, 32) for seed in range(3)]
    assert np.mean(lost) < 0.02
    assert max(lost) < 0.06


def test_right_rules_beside_unlabelled_rows_help():
    gained = [accuracy(RIGHT, seed, 8) - accuracy(None, seed, 8) for seed in range(3)]
    assert np.mean(gained) > 0.02
    assert min(gained) > -0.02
