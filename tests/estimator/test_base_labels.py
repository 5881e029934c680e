from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.multiclass import OneVsRestClassifier

from hipad import HIPADClassifier
from hipad.estimator.base import by_class, coded_labels, known_labels, plain_labels, unlabelled_rows
from hipad.exceptions import DataError


def test_labels_become_positions_of_classes_in_order():
    y = np.array(["well", "ill", "well", "dead"])
    classes, codes = coded_labels(y, np.ones(4))
    assert classes.tolist() == ["dead", "ill", "well"]
    assert codes.tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (["a", "a"], [1, 1], r"got one class \('a'\): add rows"),
        (["a", "b"], [1, 0], r"got one class \('a'\)"),
        (["a", "b"], [0, 0], "got none of weight above 0"),
    ],
)
def test_fewer_than_two_classes_with_weight_are_refused(y, weights, message):
    with pytest.raises(DataError, match=message):
        coded_labels(np.array(y), np.array(weights, dtype=float))


def test_a_class_without_weight_is_left_out():
    classes, codes = coded_labels(np.array(["a", "b", "c"]), np.array([1.0, 0.0, 1.0]))
    assert classes.tolist() == ["a", "c"]
    assert codes[[0, 2]].tolist() == [0, 1]


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


def test_class_weights_follow_the_positions_of_classes():
    classes = np.array(["dead", "ill", "well"])
    assert by_class({"well": 3, "dead": 2}, classes) == {0.0: 2.0, 1.0: 1.0, 2.0: 3.0}
    assert by_class({"1": 3}, np.array([0, 1])) == {0.0: 1.0, 1.0: 3.0}
    assert by_class("balanced", classes) == "balanced"
    assert by_class(None, classes) is None
    with pytest.raises(DataError, match="'dead' and 'ill' and 'well', got 'sick'"):
        by_class({"sick": 3}, classes)


def test_one_against_the_rest_turns_a_right_rule_round_and_the_words_warn_of_it():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4)) + 0.1 * (y == 1)[:, None]
    rules = "x0 >= 2 => 1 worth 500 patients"
    clf = OneVsRestClassifier(HIPADClassifier(rules, lambda1=0.01, lambda2=0.1)).fit(X, y)
    weights = [float(one.coef_[0, 0]) for one in clf.estimators_]
    assert min(weights) > 0  # raises class 1, and the two others as well
    root = Path(__file__).resolve().parents[2]
    for text in ((root / "docs/rules.md").read_text("utf-8"), HIPADClassifier.__doc__):
        assert "OneVsRestClassifier" in text
        assert "several classes" in text.casefold()


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


def test_minus_one_beside_three_classes_is_a_class_and_a_warning_says_so():
    with pytest.warns(UserWarning, match="a class of its own: write NaN or None"):
        assert unlabelled_rows([-1, 0, 1, 2]) is None


@pytest.mark.parametrize("labels", [[-1, 1], ["a", "b", "c"], 7, np.zeros((3, 1)), []])
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
