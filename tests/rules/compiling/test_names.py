from __future__ import annotations

import numpy as np
import pytest

from hipad.errors import RuleError
from hipad.rules import FeatureIndex, resolve_blocks
from hipad.rules.compiling.names import block_columns


def test_names_are_found_and_missing_ones_are_not():
    index = FeatureIndex(["Glucose", 7, "BMI"])
    assert [index.position(name) for name in ("Glucose", "7", "BMI", "bmi")] == [0, 1, 2, None]
    assert index.name(1) == "7"


@pytest.mark.parametrize(("name", "position"), [("x0", 0), ("x9", 9), ("x10", None), ("x01", None)])
def test_unnamed_columns_count_from_zero(name: str, position: int | None):
    assert FeatureIndex(n_features=10).position(name) == position


def test_the_nearest_of_many_names_is_found_whatever_the_slip():
    rng = np.random.default_rng(0)
    names = [f"{''.join(rng.choice(list('ABCDEFGHKLM'), 4))}{j}_at" for j in range(5_000)]
    index = FeatureIndex(names)
    for name in names[::500]:
        assert index.nearest(name.lower())[0] == name
        assert name in index.nearest(name[:2] + name[3:])
        assert name in index.nearest(name[:3] + "q" + name[3:])


def test_block_names_are_suggested_too():
    index = FeatureIndex(["a", "b"])
    assert index.nearest("chromosome_1", also=["chromosome1"]) == ["chromosome1"]
    assert index.nearest("zzz", also=["chromosome1"]) == []


def test_names_and_columns_must_agree_in_number():
    with pytest.raises(RuleError, match="expected 3 feature names, one per column, got 2"):
        FeatureIndex(["a", "b"], 3)


def test_blocks_are_given_by_number_or_name():
    index = FeatureIndex(["a", "b", "c"])
    found = resolve_blocks({"K": [2, 0], "L": ["b"], "none": []}, index)
    assert {name: columns.tolist() for name, columns in found.items()} == {
        "K": [0, 2],
        "L": [1],
        "none": [],
    }
    own = np.array([0, 1])
    assert not np.shares_memory(resolve_blocks({"K": own}, index)["K"], own)
    with pytest.raises(RuleError, match="column outside 0 to 2"):
        resolve_blocks({"K": [3]}, index)
    with pytest.raises(RuleError, match="no feature or block is called d"):
        resolve_blocks({"K": ["d"]}, index)


@pytest.mark.parametrize(
    "members",
    [
        [2, 0, 2],
        (0, 2),
        {0, 2},
        np.array([2, 0], dtype=np.uint8),
        np.array([2.0, 0.0]),
        np.array([True, False, True]),
        [True, False, True],
        ["c", "a"],
        np.array(["a", "c"]),
        np.array(["a", "c"], dtype=object),
        [np.int64(0), 2],
        iter([0, 2]),
    ],
)
def test_members_of_a_block_may_be_given_in_many_ways(members):
    index = FeatureIndex(["a", "b", "c"])
    assert resolve_blocks({"K": members}, index)["K"].tolist() == [0, 2]


@pytest.mark.parametrize(
    "members",
    [
        [0, "a"],
        ["a", None],
        [0.5],
        [float("nan")],
        [True, False],
        [True, 0, 1],
        np.array([True]),
        np.array([[0, 1], [1, 2]]),
        np.array([0.5, 1.0]),
        [3],
        [-1],
        [10**400],
        [float("inf")],
        [0, 1j],
    ],
)
def test_members_of_another_kind_are_refused_and_never_cut(members):
    with pytest.raises(RuleError, match="block K"):
        resolve_blocks({"K": members}, FeatureIndex(["a", "b", "c"]))


@pytest.mark.parametrize("members", ["ab", 5, {"a": 1}, [1.5], np.array([1.5]), ["a", None]])
def test_members_of_another_kind_are_told(members):
    with pytest.raises(RuleError, match="the names of features or the numbers of columns"):
        block_columns("K", members, FeatureIndex(["a", "b", "c"]))


def test_other_case_and_other_blanks_are_found_where_one_name_fits():
    index = FeatureIndex(["Glucose", "blood pressure", "a", "A"])
    assert [index.loosely(name) for name in ("GLUCOSE", "BloodPressure", "nothing")] == [0, 1, None]
    assert index.loosely("a") is None
