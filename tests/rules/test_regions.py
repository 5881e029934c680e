from __future__ import annotations

import numpy as np
import pytest

from hipad.rules import Box, compile_rules
from hipad.rules.overlap import Regions


def regions_of(text: str, lo: float = 0.0, hi: float = 10.0) -> Regions:
    blocks = {"K": np.arange(3, 9)}
    rules = compile_rules(text.replace(";", "\n"), n_features=9, blocks=blocks)
    return Regions.of(rules, Box(np.full(9, lo), np.full(9, hi)))


@pytest.mark.parametrize(
    ("text", "inside", "meet"),
    [
        ("x0 >= 5 => positive; x0 >= 3 => positive", True, True),
        ("x0 >= 3 => positive; x0 >= 5 => positive", False, True),
        ("x0 >= 5 => positive; x0 <= 3 => negative", False, False),
        ("x0 >= 5 => positive; x1 >= 5 => positive", False, True),
        ("x0 + x1 >= 18 => positive; x0 >= 8 => positive", True, True),
        ("mean(K) >= 9 => positive; sum(K) >= 50 => positive", True, True),
        ("mean(K) >= 9 => positive; x3 <= 5 => negative", False, True),
        ("mean(K) >= 9 => positive; max(K) <= 8 => negative", False, False),
    ],
)
def test_regions_lie_in_each_other_and_meet(text: str, inside: bool, meet: bool):
    regions = regions_of(text)
    assert regions.inside(0, 1) == inside
    assert (regions.meeting(0, 1) is not None) == meet


def test_columns_of_one_weight_act_as_one():
    regions = regions_of("mean(K) >= 4 => positive; x0 >= 1 => positive")
    assert len(regions.group_lo) == 2
    patient = regions.witness(0)
    assert patient.columns.tolist() == list(range(3, 9))
    assert patient.values.mean() >= 4


def test_a_strict_border_belongs_to_neither_side():
    assert regions_of("x0 < 5 => positive; x0 >= 5 => negative").meeting(0, 1) is None
    assert regions_of("x0 <= 5 => positive; x0 >= 5 => negative").meeting(0, 1) is not None


def test_a_side_without_end_lies_beyond_what_rules_compare_with():
    far = regions_of("x0 >= 500 => positive; x1 >= 3 => positive", -np.inf, np.inf)
    assert far.witness(0).values[0] >= 500
    assert far.meeting(0, 1) is not None
