from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, compile_rules, resolve_blocks
from hipad.rules.names import block_columns, each_once


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


def test_sorted_columns_are_given_back_as_they_are():
    columns = np.array([1, 4, 9])
    assert each_once(columns) is columns
    assert each_once(np.array([4, 1, 4])).tolist() == [1, 4]


@pytest.mark.parametrize("rule", ["K >= 2 => positive", "mean(K:a) >= 2 => positive"])
def test_a_block_in_the_place_of_a_feature_is_told_with_what_to_write(rule):
    with pytest.raises(RuleError, match=r"K is a block of features: write mean\(K\)") as caught:
        compile_rules(rule, feature_names=["a", "b"], blocks={"K": [0, 1]})
    assert caught.value.suggestion == "mean(K)"
