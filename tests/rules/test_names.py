from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex


def test_names_are_found_and_missing_ones_are_not():
    index = FeatureIndex(["Glucose", 7, "BMI"])
    assert [index.position(name) for name in ("Glucose", "7", "BMI", "bmi")] == [0, 1, 2, None]
    assert index.name(1) == "7"


@pytest.mark.parametrize(("name", "position"), [("x0", 0), ("x9", 9), ("x10", None), ("x01", None)])
def test_unnamed_columns_count_from_zero(name: str, position: int | None):
    assert FeatureIndex(n_features=10).position(name) == position


def test_names_and_columns_must_agree_in_number():
    with pytest.raises(RuleError, match="expected 3 feature names, one per column, got 2"):
        FeatureIndex(["a", "b"], 3)


def test_other_case_and_other_blanks_are_found_where_one_name_fits():
    index = FeatureIndex(["Glucose", "blood pressure", "a", "A"])
    assert [index.loosely(name) for name in ("GLUCOSE", "BloodPressure", "nothing")] == [0, 1, None]
    assert index.loosely("a") is None
