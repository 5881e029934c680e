from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.rules import FeatureIndex
from hipad.rules.ast import FeatureSpan, Term
from hipad.rules.context import (
    ColumnValues,
    NameTable,
    is_feature,
    level_order,
    lone_name,
    members_of,
    own_name,
)
from tests.rules.settled import ground, refusal, settled

# --------------------------------------------------------------------------------------------------
# Ground.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INCOME >= 1", ["income >= 1"]),
    ],
)
def test_other_case_is_understood(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing >= 1", "no feature or block is called nothing"),
        ("K >= 1", "write mean(K)"),
        ("a >= inf", "no number to compare with"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


def test_groups_are_spelled_out_each_feature_once():
    term = Term(1.0, ("K", FeatureSpan("b", "debt"), "a"), "max")
    assert members_of(ground(), term) == ["a", "b", "income", "debt"]
    assert is_feature(ground(), ("a",))
    assert not is_feature(ground(), ("K",))


def test_names_are_the_datas_own():
    assert own_name(ground(), "Debt", None) == "debt"
    assert lone_name((Term(1.0, ("a",)),)) == "a"
    assert lone_name((Term(2.0, ("a",)),)) is None


# --------------------------------------------------------------------------------------------------
# Lexicon.


NAMES = ["Glucose", "blood pressure", "IL", "IL-6", "sex=male", "sex=female", "smoker=yes",
         "smoker=no", "stage=I", "stage=II", "stage=III", "5HT", "30", "a", "A"]  # fmt: skip
NAME_TABLE = NameTable(FeatureIndex(NAMES), {"K 1": np.array([0, 1])})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("blood pressure >= 1", "blood pressure"),
        ("Blood Pressure >= 1", "Blood Pressure"),
        ("IL-6 >= 1", "IL-6"),
        ("IL-66 >= 1", None),
        ("IL - 6 >= 1", None),
        ("sex=male and", "sex=male"),
        ("5HT > 1", "5HT"),
        ("30 > a", None),
        ("K 1 >= 2", "K 1"),
        ("Glucose", None),
    ],
)
def test_names_with_blanks_and_signs_are_found_in_a_text(text, found):
    assert NAME_TABLE.name_at(text, 0) == found


def test_names_in_other_case_where_only_one_fits():
    assert NAME_TABLE.feature("glucose") == 0
    assert NAME_TABLE.feature("blood_pressure") == NAME_TABLE.feature("BloodPressure") == 1
    assert NAME_TABLE.feature("a") == 13
    assert NAME_TABLE.block("k 1") == "K 1"


@pytest.mark.parametrize(
    ("name", "column"),
    [("male", 4), ("smoker", 6), ("stage II", 9), ("sex", None), ("II", 9), ("nothing", None)],
)
def test_a_name_alone_is_a_column_of_0_and_1(name, column):
    assert NAME_TABLE.flag_column(name) == column


def test_categories_have_levels_and_an_order():
    assert NAME_TABLE.level_column("stage", "2") == 9
    assert NAME_TABLE.level_column("stage", "iv") is None
    assert NAME_TABLE.order("stage").levels == ("I", "II", "III")
    assert NAME_TABLE.order("sex") is None


def test_values_say_what_is_0_or_1():
    values = ColumnValues([[0.0, 2.0], [1.0, 1.0]])
    known = NameTable(FeatureIndex(["p", "q"]), values=values)
    assert known.is_flag("p")
    assert not known.is_flag("q")


# --------------------------------------------------------------------------------------------------
# Level order.


@pytest.mark.parametrize(
    "levels",
    [
        ("G1", "G2", "G3a", "G3b", "G4"),
        ("IA", "IB", "IIA", "III", "IVB"),
        ("T1a", "T1c", "T2"),
        ("I", "II", "III", "IV"),
        ("G1", "G2", "G3"),
        ("very low", "low", "medium", "high", "very high"),
        ("none", "mild", "moderate", "severe"),
        ("never", "former", "current"),
        ("primary", "secondary", "tertiary"),
        ("<18", "18-24", "25-64", "65+"),
        ("poor", "fair", "good", "excellent"),
        ("A", "B", "C", "D"),
    ],
)
def test_level_order_of_words_and_numbers(levels):
    order = level_order([*reversed(levels), "unknown"])
    assert order is not None
    assert order.levels == levels


@pytest.mark.parametrize("levels", [("red", "green"), ("car", "n/a"), ("A", "C"), ("male",)])
def test_level_order_that_is_not_plain_is_none(levels):
    assert level_order(levels) is None


def test_level_order_of_letters_is_better_and_worse_only():
    letters, stages = level_order("ABC"), level_order(["I", "II"])
    assert letters is not None
    assert stages is not None
    assert (letters.ranked, letters.worse) == (False, "up")
    assert (stages.ranked, stages.worse) == (True, "up")


# --------------------------------------------------------------------------------------------------
# Values.


X = np.array([[0.0, 1.5, 0.1], [1.0, np.nan, 0.2], [4.0, 3.5, 0.1], [4.0, 2.5, 0.2]] * 5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_figures_of_a_column(make):
    values = ColumnValues(make(X))
    known = X[np.isfinite(X[:, 1]), 1]
    assert values.statistic("mean", 1) == pytest.approx(known.mean())
    assert values.statistic("sd", 1) == pytest.approx(known.std())
    assert values.statistic("median", 1) == np.median(known)
    assert values.statistic("p90", 1) == np.percentile(known, 90)
    assert (values.lowest(0), values.highest(0)) == (0.0, 4.0)


def test_kinds_of_columns():
    values = ColumnValues(X)
    assert values.is_whole(0)
    assert not values.is_whole(1)
    assert not values.is_flag(0)
    assert ColumnValues([[0.0], [1.0]]).is_flag(0)


@pytest.mark.parametrize(
    ("columns", "weights", "bound", "expected"),
    [
        ([0], [-1.0], 0.0, -0.5),  # x > 0 on whole numbers
        ([0], [1.0], 4.0, 3.5),  # x < 4
        ([0], [-1.0], -0.5, -0.5),  # x > 0.5 is between two values
        ([2], [-1.0], -0.1, -0.15),  # x > 0.1 where 0.2 is next
        ([0, 0], [2.0, 4.0], 6.0, 5.0),  # a sum that moves in steps of two
        ([0, 0], [1 / 3, 2 / 3], 1.0, 5 / 6),  # a mean of whole numbers moves in thirds
        ([0, 1], [1.0, 1.0], 3.0, 3.0),  # continuous: the border has no patients
        ([0, 1], [1.0, 1.0], 6.5, 4.0),  # a sum that a patient has: half-way to the next below
        ([2, 1], [0.0, 1.0], 1.5, 1.0),  # nobody is below
    ],
)
def test_a_strict_bound_moves_half_way_to_the_next_value(columns, weights, bound, expected):
    found = ColumnValues(X).strict_bound(np.array(columns), np.array(weights), bound)
    assert found == pytest.approx(expected)


def test_strict_signs_are_strict_on_values_with_decimals():
    bmi = np.array([[29.9], [30.0], [30.1], [np.nan]])
    for given in (bmi, bmi.astype(np.float32), sparse.csr_array(bmi)):
        bound = ColumnValues(given).strict_bound(np.array([0]), np.array([1.0]), 30.0)
        assert bound == pytest.approx(29.95)
    short = np.array([[1.8], [1.9], [2.0]], dtype=np.float32)  # 1.9 there is not 1.9 here
    bound = ColumnValues(short).strict_bound(np.array([0]), np.array([-1.0]), -1.9)
    assert bound == pytest.approx(-1.95)
