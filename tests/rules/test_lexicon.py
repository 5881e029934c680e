from __future__ import annotations

import numpy as np
import pytest

from hipad.rules import FeatureIndex
from hipad.rules.context import ColumnValues, NameTable

NAMES = ["Glucose", "blood pressure", "IL", "IL-6", "sex=male", "sex=female", "smoker=yes",
         "smoker=no", "stage=I", "stage=II", "stage=III", "5HT", "30", "a", "A"]  # fmt: skip
LEXICON = NameTable(FeatureIndex(NAMES), {"K 1": np.array([0, 1])})


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
    assert LEXICON.name_at(text, 0) == found


def test_names_in_other_case_where_only_one_fits():
    assert LEXICON.feature("glucose") == 0
    assert LEXICON.feature("blood_pressure") == LEXICON.feature("BloodPressure") == 1
    assert LEXICON.feature("a") == 13
    assert LEXICON.block("k 1") == "K 1"


@pytest.mark.parametrize(
    ("name", "column"),
    [("male", 4), ("smoker", 6), ("stage II", 9), ("sex", None), ("II", 9), ("nothing", None)],
)
def test_a_name_alone_is_a_column_of_0_and_1(name, column):
    assert LEXICON.flag_column(name) == column


def test_categories_have_levels_and_an_order():
    assert LEXICON.level_column("stage", "2") == 9
    assert LEXICON.level_column("stage", "iv") is None
    assert LEXICON.order("stage").levels == ("I", "II", "III")
    assert LEXICON.order("sex") is None


def test_values_say_what_is_0_or_1():
    values = ColumnValues([[0.0, 2.0], [1.0, 1.0]])
    known = NameTable(FeatureIndex(["p", "q"]), values=values)
    assert known.is_flag("p")
    assert not known.is_flag("q")
