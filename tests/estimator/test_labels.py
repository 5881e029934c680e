from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.multiclass import OneVsRestClassifier

from hipad import HIPADClassifier
from hipad.errors import DataError
from hipad.estimator.labels import (
    by_sign,
    known_labels,
    plain_labels,
    signed_labels,
    unlabelled_rows,
)


def test_the_second_class_in_order_is_positive():
    y = np.array(["well", "ill", "well"])
    classes, signs = signed_labels(y, np.ones(3))
    assert classes.tolist() == ["ill", "well"]
    assert signs.tolist() == [1.0, -1.0, 1.0]


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (["a", "a"], [1, 1], r"got one class \('a'\): add patients"),
        (["a", "b", "c"], [1, 1, 1], r"got 3 \('a', 'b', 'c'"),
        (["a", "b"], [1, 0], r"got one class \('a'\)"),
    ],
)
def test_anything_but_two_classes_with_weight_is_refused(y, weights, message):
    with pytest.raises(DataError, match=message):
        signed_labels(np.array(y), np.array(weights, dtype=float))


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["a", "b"], "U"), ([True, False], "b"), ([1, 2], "i"), ([1, 2.5], "f")],
)
def test_objects_of_one_type_become_an_array_of_it(values, kind):
    labels = plain_labels(np.array(values, dtype=object))
    assert labels.dtype.kind == kind
    assert labels.tolist() == values


def test_mixed_labels_are_refused_and_others_are_left_alone():
    with pytest.raises(DataError, match="got int and str: write them all as text"):
        plain_labels(np.array(["a", 1], dtype=object))
    y = np.array([0, 1])
    assert plain_labels(y) is y


def test_class_weights_follow_the_signs():
    classes = np.array(["ill", "well"])
    assert by_sign({"well": 3}, classes) == {-1.0: 1.0, 1.0: 3.0}
    assert by_sign("balanced", classes) == "balanced"
    assert by_sign(None, classes) is None


def test_one_against_the_rest_turns_a_right_rule_round_and_the_words_warn_of_it():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4)) + 0.1 * (y == 1)[:, None]
    rules = "x0 >= 2 => 1 worth 500 patients"
    clf = OneVsRestClassifier(HIPADClassifier(rules, lambda1=0.01, lambda2=0.1)).fit(X, y)
    weights = [float(one.coef_[0, 0]) for one in clf.estimators_]
    assert min(weights) > 0  # raises class 1, and the two others as well
    root = Path(__file__).resolve().parents[2]
    texts = [(root / name).read_text("utf-8") for name in ("README.md", "docs/rules.md")]
    for text in (*texts, HIPADClassifier.__doc__):
        assert "OneVsRestClassifier" in text
        assert "two classes" in text.casefold()


@pytest.mark.parametrize(
    ("labels", "missing"),
    [
        ([0, 1, -1], [False, False, True]),
        ([0.0, 1.0, -1.0, np.nan], [False, False, True, True]),
        ([-1, 1, None], [False, False, True]),
        (["a", "b", None], [False, False, True]),
        (["a", "-1", "b", None], [False, False, False, True]),
        (pd.Series([2, 3, -1], dtype="category"), [False, False, True]),
        (pd.Categorical(["a", "a", None]), [False, False, True]),
        (pd.array([True, False, pd.NA], dtype="boolean"), [False, False, True]),
        (pd.array([4, pd.NA, -1, 5], dtype="Int64"), [False, True, True, False]),
    ],
)
def test_unlabelled_rows_are_found_in_any_form(labels, missing):
    assert unlabelled_rows(labels).tolist() == missing


@pytest.mark.parametrize("labels", [[-1, 1], [-1, 0, 1, 2], ["a", "b"], 7, np.zeros((3, 1)), []])
def test_unlabelled_rows_are_none_where_every_row_has_a_label(labels):
    assert unlabelled_rows(labels) is None


def test_unlabelled_rows_leave_the_labels_as_they_are():
    labels = np.array([0, 1, -1])
    labels.flags.writeable = False
    assert unlabelled_rows(labels).tolist() == [False, False, True]


def test_known_labels_keep_their_type():
    for labels, kind in ((["a", None], "U"), ([1.5, np.nan], "f"), ([3.0, np.nan], "i")):
        assert known_labels(labels, np.array([True, False])).dtype.kind == kind


@pytest.mark.parametrize("gap", [None, float("nan"), np.nan])
def test_unlabelled_rows_of_a_list_of_words(gap):
    y = ["ill", gap, "well"]
    missing = unlabelled_rows(y)
    assert missing.tolist() == [False, True, False]
    assert known_labels(y, ~missing).tolist() == ["ill", "well"]
