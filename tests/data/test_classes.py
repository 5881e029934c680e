"""Two classes from labels of any kind, and sentences where there are not two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import prepare, read_table
from hipad.data.preprocessing import UNLABELLED
from hipad.data.roles import Classes, check_known, find_classes, labels_of
from hipad.data.table import Table
from hipad.exceptions import DataError


def found(*labels, positive=None):
    return find_classes(np.array(labels), "outcome", positive)


@pytest.mark.parametrize(
    ("labels", "negative", "positive"),
    [
        (("0", "1"), "0", "1"),
        (("1", "-1"), "-1", "1"),
        (("10", "9"), "9", "10"),  # by size, not as words
        (("yes", "no"), "no", "yes"),
        (("Positive", "zero"), "zero", "Positive"),
        (("case", "control"), "control", "case"),
        (("ill", "well"), "well", "ill"),
        (("here", "there"), "here", "there"),  # nothing usual, equally frequent: the last
        (("2", "b"), "2", "b"),  # numbers before text
    ],
)
def test_the_positive_class_is_the_usual_one(labels, negative, positive):
    assert found(*labels) == found(*reversed(labels)) == Classes(negative, positive)


def test_the_user_chooses_and_other_classes_are_taken_together():
    assert found("0", "1", positive="0") == Classes("1", "0")
    classes = found("c", "a", "b", "a", positive="b")
    assert classes == Classes("not b", "b", ("a", "c"))
    assert classes.apply(np.array(["a", "b", "c"])).tolist() == ["not b", "b", "not b"]


@given(st.lists(st.sampled_from("abcd"), min_size=2).filter(lambda labels: len(set(labels)) > 1))
def test_applied_labels_are_the_two_classes_and_nothing_else(labels):
    classes = found(*labels, positive=labels[0])
    applied = classes.apply(np.array(labels))
    assert set(applied.tolist()) == {classes.negative, classes.positive}
    assert [label == classes.positive for label in applied] == [c == labels[0] for c in labels]


def test_two_classes_are_left_as_they_are():
    labels = np.array(["a", "b"])
    assert Classes("a", "b").apply(labels) is labels


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (["benign"], None, "two classes in 'outcome', got one .'benign'.: choose another"),
        (["a", "b", "c"], None, "got 3 .*choose the positive class"),
        (["a", "b"], "z", "positive class to be a label in 'outcome', got 'z'"),
    ],
)
def test_other_numbers_of_classes_are_told(labels, positive, message):
    with pytest.raises(DataError, match=message):
        found(*labels, positive=positive)


def test_no_label_at_all_is_told():
    with pytest.raises(DataError, match="two classes in 'outcome', got none"):
        find_classes(np.array([], dtype=str), "outcome", None)


def test_labels_are_read_as_text_from_either_kind_of_column():
    table = Table(np.array([[1.0], [np.nan], [0.5]]), ("n",), {"t": np.array(["x", "", "y"])}, "")
    assert labels_of(table, "n").tolist() == ["1", "", "0.5"]
    assert labels_of(table, "t").tolist() == ["x", "", "y"]
    with pytest.raises(DataError, match="expected the label to be a column, got 'z'"):
        labels_of(table, "z")


def test_labels_that_training_did_not_have_are_refused_but_gaps_are_not():
    check_known(np.array(["a", "", "b"]), {"a", "b"}, "outcome")
    with pytest.raises(DataError, match="got 2 others as well: 'c' and 'd'"):
        check_known(np.array(["d", "a", "c"]), {"a", "b"}, "outcome")


PAIRS = [
    ("healthy", "diabetic"), ("control", "case"), ("normal", "tumour"), ("benign", "malignant"),
    ("NEG", "BCR/ABL"), ("no relapse", "relapse"), ("absent", "present"), ("alive", "dead"),
    ("wild type", "mutant"), ("WT", "KRAS"), ("0", "1"), ("-1", "1"), ("0.0", "2"), ("no", "yes"),
    ("negative", "positive"), ("survived", "died"), ("survivor", "non-survivor"),
    ("non-diabetic", "diabetic"), ("Nondemented", "Demented"), ("NonSmoker", "Smoker"),
    ("unaffected", "affected"), ("unmarried", "married"), ("healthy control", "patient"),
    ("benign tumour", "malignant tumour"), ("ER-", "ER+"), ("HIV (-)", "HIV (+)"),
    ("normal", "abnormal"), ("healthy", "unhealthy"), ("good", "poor"), ("low risk", "high risk"),
    ("<=50K", ">50K"), ("disease-free", "recurrence"), ("normal", "low"), ("none", "severe"),
    ("missing", "here"), ("FALSE", "TRUE"), ("N", "Y"), ("not normal", "normal")[::-1],
]  # fmt: skip


@pytest.mark.parametrize(("negative", "positive"), PAIRS)
def test_find_classes_usual_words(negative, positive):
    for labels in ([negative] * 2 + [positive] * 9, [positive] * 2 + [negative] * 9):
        classes = find_classes(np.array(labels), "outcome", None, outcome=negative)
        assert (classes.negative, classes.positive) == (negative, positive)
        assert classes.decided_by == "words"


@pytest.mark.parametrize(
    ("outcome", "positive", "decided_by"),
    [
        ("ALL", "ALL", "rule"),
        ("aml", "AML", "rule"),
        ('"not ALL"', "ALL", "rule"),
        ("positive", "AML", "rarer"),
        ("", "AML", "rarer"),
    ],
)
def test_find_classes_by_the_first_rule_or_the_rarer(outcome, positive, decided_by):
    classes = find_classes(np.array(["AML", "ALL", "ALL"]), "outcome", None, outcome)
    assert (classes.positive, classes.decided_by) == (positive, decided_by)
    assert find_classes(np.array(["2", "1"]), "outcome", None).decided_by == "order"


@pytest.mark.parametrize("word", ["none", "Na", "-", "NA", "n/a", "null", "?", "missing", "NaN"])
@pytest.mark.parametrize("other", ["some", "1"])
def test_labels_of_word_for_a_gap_beside_one_class(word, other):
    rows = "".join(f"{i},{other if i % 2 else word}\n" for i in range(10))
    table = read_table(f"a,y\n{rows}".encode())
    ready = prepare(table, label="y")
    assert set(ready.y) == {word, other}
    assert repr(word) in " ".join([*table.remarks, *map(str, ready.steps)])


def test_labels_of_word_for_a_gap_beside_two_classes():
    rows = "".join(f"{i},{('ill', 'well', 'NA')[i % 3]}\n" for i in range(12))
    ready = prepare(read_table(f"a,y\n{rows}".encode()), label="y")
    assert set(ready.y) == {"ill", "well"}
    assert [str(step) for step in ready.steps] == [f"{UNLABELLED}: 4 ('NA')"]


def test_labels_of_empty_cells_are_no_class():
    table = read_table(b"a,y\n1,x\n2,\n3,x\n4,\n")
    with pytest.raises(DataError, match="give a name to the class of rows whose cell is empty"):
        prepare(table, label="y")
