"""A cut-off that is kept: the score at which the answer changes, and the answers of judged rows."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.evaluation.assessment import Assessment
from hipad.evaluation.metrics import PositiveClassView, ScoredRows
from hipad.evaluation.new_rows import explain_row, smallest_change


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, "ill", "well")
    return HIPADClassifier(lambda1=0.05, lambda2=1.0).fit(X, y), X


@pytest.mark.parametrize("classes", [("well", "ill"), ("ill", "well")])
@pytest.mark.parametrize("cutoff", [0.2, 0.5, 0.7])
def test_answers_change_at_the_boundary(fitted, classes, cutoff):
    clf, X = fitted
    view = PositiveClassView(clf.set_risk_threshold(cutoff, positive=classes[1]), classes)
    assert view.threshold == pytest.approx(cutoff)
    assert view.answers(view.scores(X)).tolist() == (view.scores(X) > view.boundary).tolist()
    clf.set_risk_threshold(None)
    assert view.boundary == 0.0


def test_the_smallest_change_goes_to_the_boundary_of_the_cutoff(fitted):
    clf, X = fitted
    view = PositiveClassView(clf.set_risk_threshold(0.3, positive="ill"), ("well", "ill"))
    scores = view.scores(X)
    row = int(np.argmin(np.abs(scores - view.boundary)))
    found = smallest_change(
        clf, X[row], view.support, X, sign=view.sign, boundary=view.boundary
    )  # fmt: skip
    moved = X[row].copy()
    for column, _, new in found.changes:
        moved[column] = new
    assert found.flips
    assert view.answers(view.scores(moved[None]))[0] != view.answers(scores[[row]])[0]
    told = explain_row(clf, X[row], X, sign=view.sign, boundary=view.boundary)
    assert np.sign(told.distance) == np.sign(scores[row] - view.boundary)
    clf.set_risk_threshold(None)


def test_judged_rows_are_answered_with_rules_and_without():
    truth, risks = np.array([False, True, True]), np.array([0.1, 0.3, 0.9])
    rows = ScoredRows(truth, risks - 0.5, risks)
    found = Assessment("test", rows, rows.take([0, 1, 2]), np.arange(3))
    assert found.at(None) is found
    kept = found.at(0.3)
    assert kept.rows.predicted.tolist() == kept.without.predicted.tolist() == [False, True, True]
    assert found.rows.predicted.tolist() == [False, False, True]
