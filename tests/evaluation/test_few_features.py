from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator.path import PathPoint
from hipad.evaluation.metrics import few_features_sentence

BEST = PathPoint(0.1, 1.0, 0.40, 0.85, 90, best=True, chosen=True, stable_size=60)
FEW = PathPoint(0.5, 1.0, 0.42, 0.82, 9, stable_size=7, sparsest=True)


def test_the_offer_says_how_many_features_and_what_they_cost():
    text = few_features_sentence([FEW, BEST])
    assert text.startswith("About 7 features, which most folds keep, would do")
    assert "82.0 % are right" in text
    assert text.endswith("with the 90 taken here, 85.0 %.")


def test_where_they_were_taken_the_price_is_told():
    text = few_features_sentence([replace(FEW, chosen=True), replace(BEST, chosen=False)])
    assert text.startswith("The fewest features within one standard error of the least error")
    assert text.endswith("with the least error (90 features), 85.0 %.")


def test_nothing_is_said_where_nothing_is_gained():
    assert few_features_sentence([]) == ""
    assert few_features_sentence([replace(BEST, sparsest=True, stable_size=0)]) == ""
    assert few_features_sentence([replace(FEW, stable_size=90), BEST]) == ""


def noisy(seed, n=150, m=40):
    """Three features that tell, among many that tell a little."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.standard_normal((n, m))
    X[:, :3] += 0.6 * y[:, None]
    X[:, 3:] += 0.15 * y[:, None]
    return X, y


def test_few_features_are_those_that_most_folds_keep_and_nearly_as_good():
    (X, y), (fresh, truth) = noisy(0), noisy(1, n=4000)
    usual, few = (HIPADClassifier(lambda1=word).fit(X, y) for word in ("auto", "sparse"))
    (point,) = [point for point in few.path_ if point.chosen]
    assert point.sparsest
    assert few.support_.size <= point.stable_size < usual.support_.size
    assert set(few.support_) >= {0, 1, 2}
    assert few.certificate_.gap < 1e-5
    assert few.score(fresh, truth) > usual.score(fresh, truth) - 0.05
    (offered,) = [point for point in usual.path_ if point.sparsest]
    assert replace(offered, chosen=True) == point, "the automatic fit told it beforehand"
    order = np.random.default_rng(2).permutation(len(y))
    assert HIPADClassifier(lambda1="sparse").fit(X[order], y[order]).support_.tolist() == (
        few.support_.tolist()
    )


def test_features_that_rules_name_or_the_user_is_certain_of_stay():
    X, y = noisy(0)
    clf = HIPADClassifier("x30 is certain\nx39 >= 1 => 1 worth 60 patients", lambda1="sparse")
    assert {30, 39} <= set(clf.fit(X, y).support_)


@pytest.mark.parametrize("values", [{"lambda1": "few"}, {"lambda2": "sparse"}])
def test_other_words_are_refused(values):
    X, y = noisy(0)
    with pytest.raises(ValueError, match="expected lambda"):
        HIPADClassifier(**values).fit(X, y)
