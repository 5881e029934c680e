from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, roc_auc_score

from hipad.evaluation.intervals import wilson_interval
from hipad.evaluation.metrics import Proportion, judge

CLASSES = ("well", "ill")
patients = st.lists(st.tuples(st.floats(-5, 5), st.sampled_from(CLASSES)), min_size=1, max_size=40)


@given(patients)
def test_a_judgement_agrees_with_scikit_learn(found):
    scores, truth = np.array([s for s, _ in found]), np.array([t for _, t in found])
    judged = judge(scores, truth, CLASSES, part="test")
    said = np.where(scores > 0, "ill", "well")
    assert judged.confusion == tuple(
        map(tuple, confusion_matrix(truth, said, labels=CLASSES).tolist())
    )
    assert judged.accuracy == Proportion(int((said == truth).sum()), len(truth))
    if len(set(truth)) == 2:
        assert judged.area.value == pytest.approx(roc_auc_score(truth == "ill", scores))
    else:
        assert np.isnan(judged.area.value)


@given(patients)
def test_the_shares_of_the_classes_add_up(found):
    judged = judge([s for s, _ in found], [t for _, t in found], CLASSES, part="test")
    parts = (judged.sensitivity, judged.specificity)
    assert sum(share.k for share in parts) == judged.accuracy.k
    assert sum(share.n for share in parts) == judged.accuracy.n == len(found)


def test_equal_answers_are_equal_judgements_even_without_an_area():
    first, second = (judge([1.0], ["ill"], CLASSES, part="test") for _ in range(2))
    assert first == second


def test_wilsons_interval():
    low, high = Proportion(9, 10).interval
    assert abs(low - 0.5958) < 1e-3
    assert abs(high - 0.9821) < 1e-3
    assert Proportion(0, 0).interval == (0.0, 1.0)
    assert str(Proportion(0, 0)) == "no patients"
    assert str(Proportion(9, 10)) == "90.0 % (59.6 % to 98.2 %)"


def test_a_judgement_in_words():
    scores = [-1.0] * 8 + [1.0] * 2 + [-1.0] + [1.0] * 9
    judged = judge(scores, ["well"] * 10 + ["ill"] * 10, CLASSES, part="test")
    assert (judged.accuracy.k, judged.sensitivity.k, judged.specificity.k) == (17, 9, 8)
    told = "Of 20 patients it had not seen, the model got 17 right: 85.0 %"
    assert judged.sentence.startswith(told)
    assert str(judged).endswith("; well 8 of 10, ill 9 of 10")


def test_training_patients_are_called_so():
    assert "it was trained on" in judge([1.0], ["ill"], CLASSES, part="training").sentence


def test_a_third_class_counts_as_negative():
    assert judge([-1.0, 1.0], ["else", "else"], CLASSES, part="labels").specificity == Proportion(
        1, 2
    )


def test_rows_of_few_patients_tell_less_than_as_many_patients():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    truth = np.where(groups % 2, "ill", "well")
    alike = np.where(rng.random(12) < 0.75, 1.0, -1.0)[groups] * np.where(groups % 2, 1.0, -1.0)
    rows = judge(alike, truth, ("well", "ill"), part="test")
    patients = judge(alike, truth, ("well", "ill"), part="test", groups=groups)
    assert patients.accuracy.whom == "60 rows of 12 patients"
    assert "60 rows of 12 patients it had not seen" in patients.sentence
    assert patients.sensitivity.patients == patients.specificity.patients == 6

    def width(share):
        return share.interval[1] - share.interval[0]

    # rows that are all alike tell what one row of each patient tells, and a little less
    one = wilson_interval(round(12 * rows.accuracy.value), 12)
    assert one[1] - one[0] < width(patients.accuracy) < 1.4 * (one[1] - one[0])
    assert width(rows.accuracy) < 0.6 * width(patients.accuracy)
    assert rows.area.high - rows.area.low < patients.area.high - patients.area.low


def test_intervals_of_clustered_rows_hold_the_truth():
    rng, held = np.random.default_rng(1), 0
    for _ in range(400):
        chance = rng.beta(3.0, 1.0, 20)  # mean 0.75, correlation within a patient 0.2
        right = rng.random((20, 5)) < chance[:, None]
        scores = np.where(right, 1.0, -1.0).ravel()
        groups = np.repeat(np.arange(20), 5)
        found = judge(scores, np.full(100, "ill"), ("well", "ill"), part="test", groups=groups)
        low, high = found.accuracy.interval
        held += low <= 0.75 <= high
    assert 0.92 <= held / 400 <= 0.985


def test_one_patient_tells_nothing():
    found = judge(np.ones(5), ["ill"] * 5, ("well", "ill"), part="test", groups=np.zeros(5))
    assert found.accuracy.interval == (0.0, 1.0)
