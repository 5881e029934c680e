from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

from hipad import HIPADClassifier
from hipad.evaluation.metrics import ScoredRows
from hipad.evaluation.new_rows import (
    align_columns,
    out_of_range,
    recalibrated,
    recalibration_of,
    shifted_columns,
)
from hipad.exceptions import DataError

RNG = np.random.default_rng(0)
NAMES = ["age", "bmi", "sex", "dose"]
Y = np.repeat([0, 1], 40)
X = RNG.normal(size=(80, 4))
X[40:, :2] += 1.5


def fitted():
    clf = HIPADClassifier(lambda1=0.1, lambda2=1.0)
    return clf.fit_iter(X, Y, feature_names=NAMES, interactive=False).to_end().finish()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_are_found_by_name(form):
    clf = fitted()
    table = form(X[:, [3, 1, 0]])
    found = align_columns(table, ["dose", "bmi", "age"], clf)
    whole = found.X.toarray() if sparse.issparse(found.X) else found.X
    assert np.array_equal(whole[:, [0, 1, 3]], X[:, [0, 1, 3]])
    assert found.is_complete == ("sex" not in found.missing)
    lacking = align_columns(form(X[:, [1]]), ["bmi"], clf)
    assert "age" in lacking.missing
    held = lacking.X.toarray() if sparse.issparse(lacking.X) else lacking.X
    assert np.isnan(held[:, 0]).all()


def test_columns_twice_or_unnamed_are_refused():
    with pytest.raises(DataError, match="twice"):
        align_columns(X[:, :2], ["age", "age"], fitted())
    with pytest.raises(DataError, match="a name for each of 4 columns"):
        align_columns(X, ["age"], fitted())


def test_values_beyond_the_range_and_shifted_columns_are_named():
    rng = np.random.default_rng(1)
    train, new = rng.normal(size=(200, 5)), rng.normal(size=(100, 5))
    assert shifted_columns(new, train, range(5)) == ()
    new[:, 2] += 2.0
    new[0, 4] = 99.0
    assert [one.column for one in shifted_columns(new, train, range(5))] == [2]
    told = {one.column: one for one in out_of_range(new, train, range(5))}
    assert told[4].most == 99.0
    assert 2 in told


def risky(n, intercept, slope, seed):
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 1.5, n)
    return ScoredRows(rng.random(n) < expit(intercept + slope * odds), odds, expit(odds))


@pytest.mark.parametrize(
    ("intercept", "slope", "kind"),
    [(0.0, 1.0, "none"), (-1.0, 1.0, "intercept"), (0.5, 0.4, "slope")],
)
def test_recalibration_finds_what_is_off(intercept, slope, kind):
    found = recalibration_of(risky(2000, intercept, slope, seed=0))
    assert found.kind == kind
    assert found.intercept == pytest.approx(intercept, abs=0.2)
    assert found.slope == pytest.approx(slope, abs=0.1)


def test_few_rows_are_left_as_they_are():
    found = recalibration_of(risky(12, -3.0, 1.0, seed=0))
    assert (found.kind, found.slope) == ("none", 1.0)
    assert "too few rows" in found.reason


@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_recalibrated_is_a_new_model_with_other_risks_and_the_same_answers(prevalence):
    clf = fitted()
    clf.prevalence = prevalence
    before = clf.predict_proba(X)[:, 1].copy()
    rng = np.random.default_rng(3)
    many = X[rng.integers(0, 80, 3000)]
    risks = clf.predict_proba(many)[:, 1]
    y = (rng.random(3000) < expit(logit(risks) - 1.5)).astype(int)
    fresh, told = recalibrated(clf, many, y)
    assert told.kind in ("intercept", "slope")
    own = fresh.predict_proba(many)[:, 1]
    assert own.mean() == pytest.approx(y.mean(), abs=1e-6)
    assert logit(own) == pytest.approx(told.slope * logit(risks) + told.intercept, abs=1e-6)
    assert np.array_equal(fresh.predict(many), clf.predict(many))
    assert clf.predict_proba(X)[:, 1] == pytest.approx(before)


def test_outcomes_must_be_those_of_the_model():
    with pytest.raises(DataError, match="expected outcomes"):
        recalibrated(fitted(), X, np.full(80, "other"))
