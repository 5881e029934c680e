"""A point score: whole points that stand for the score of the model, and what they leave out."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError
from hipad.export.points import MOST_POINTS, PointScore


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    ill = np.arange(200) % 2 == 0
    X = rng.normal(size=(200, 6)) * [1.0, 30.0, 0.02, 5.0, 1.0, 1.0]
    X[:, 5] = rng.random(200) < 0.4
    X[:, :3] += np.outer(ill, [1.0, 30.0, 0.01])
    y = np.where(ill, "ill", "well")
    clf = HIPADClassifier(lambda1=0.02, lambda2=1.0).fit(X, y)
    return PositiveClassView(clf, ("well", "ill")), X, ill


def test_points_are_small_whole_numbers_that_follow_the_weights(fitted):
    view, X, _ = fitted
    score = PointScore.of(view, X)
    assert max(abs(one.points) for one in score.items) == MOST_POINTS
    for one in score.items:
        assert np.sign(one.points) == np.sign(view.weights[one.column])
        assert round(one.reference / one.step, 9).is_integer()
    used = {one.column for one in score.items}
    assert used | set(score.left_out) == set(view.support.tolist())


def test_points_by_hand_are_those_of_the_score(fitted):
    view, X, _ = fitted
    score = PointScore.of(view, X)
    for row in X[:20]:
        by_hand = sum(
            one.points * int(np.rint((row[one.column] - one.reference) / one.step))
            for one in score.items
        )
        assert score.points(row[None]).tolist() == [by_hand]


def test_the_scores_of_points_are_near_those_of_the_model(fitted):
    view, X, _ = fitted
    score = PointScore.of(view, X, most=20)
    own, told = view.scores(X), score.scores(X)
    assert np.corrcoef(own, told)[0, 1] > 0.9
    assert np.mean(told) == pytest.approx(np.mean(own), abs=0.1)


def test_seen_from_the_other_class_points_change_their_sign(fitted):
    view, X, _ = fitted
    other = PositiveClassView(view.classifier, ("ill", "well"))
    there, here = (PointScore.of(one, X) for one in (view, other))
    assert there.points(X).tolist() == (-here.points(X)).tolist()


def test_what_cannot_be_scored_is_said(fitted):
    view, X, _ = fitted
    with pytest.raises(DataError, match="at least 1 point"):
        PointScore.of(view, X, most=0)
    nothing = HIPADClassifier(lambda1=1e6).fit(X, np.where(X[:, 0] > 0, "ill", "well"))
    with pytest.raises(DataError, match="one without"):
        PointScore.of(PositiveClassView(nothing, ("well", "ill")), X)
