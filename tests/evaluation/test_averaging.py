from __future__ import annotations

import pytest

from hipad import HIPADClassifier
from hipad.evaluation.comparison import averaged_candidates, learnt_weight
from tests.estimator.test_trust import rows

TEXT = "low: x0 <= -1 => 0\nhigh: x0 >= 1 => 1"


@pytest.fixture(scope="module")
def fitted():
    return HIPADClassifier(TEXT, lambda1=0.1).fit(*rows(1, 24))


def test_candidates_are_told_with_rules_loss_and_probability(fitted):
    found = averaged_candidates(fitted)
    assert [one.rules for one in found] == [
        "no rules",
        "all rules at 3.6 patients each",
        "all rules at 12 patients each",
        "all rules at 36 patients each",
        "without low, the others at 12 patients each",
        "without high, the others at 12 patients each",
    ]
    assert sum(one.posterior for one in found) == pytest.approx(1.0)
    assert all("held-out log loss" in str(one) for one in found)
    used = [one for one in found if one.share > 0]
    assert all(one.certificate == "solved" and one.features for one in used)


def test_learnt_weight_is_the_mean_over_candidates(fitted):
    for rule in (0, 1):
        mean = sum(member.share * member.weights[rule] for member in fitted.members_)
        assert learnt_weight(fitted.members_, rule) == pytest.approx(mean)


def test_candidates_are_none_where_weights_are_written():
    text = "x0 >= 1 => 1 worth 5 patients"
    clf = HIPADClassifier(text, lambda1=0.1).fit(*rows(1, 24))
    assert averaged_candidates(clf) == []
    assert learnt_weight(clf.members_, 0) is None
