from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, parse_rules
from hipad.rules.compiler import MAX_ROWS, RowBuilder

BLOCKS = {"K": np.array([1, 2]), "none": np.empty(0, np.int64)}


def rows(premise: str, resolver: RowBuilder | None = None):
    resolver = resolver or RowBuilder(FeatureIndex(n_features=5), BLOCKS)
    (rule,) = parse_rules(f"{premise} => yes")
    return [
        (dict(zip(row.columns.tolist(), row.values.tolist(), strict=True)), row.bound)
        for row in resolver.rows(rule.conditions[0])
    ]


@pytest.mark.parametrize(
    ("premise", "expected"),
    [
        ("x0 <= 3", [({0: 1.0}, 3.0)]),
        ("x0 >= 3", [({0: -1.0}, -3.0)]),
        ("mean(K) <= 3", [({1: 0.5, 2: 0.5}, 3.0)]),
        ("sum(K) - x1 <= 3", [({2: 1.0}, 3.0)]),
        ("min(K) >= 3", [({1: -1.0}, -3.0), ({2: -1.0}, -3.0)]),
        ("1 <= x0 <= 3", [({0: -1.0}, -1.0), ({0: 1.0}, 3.0)]),
        ("0.1*x0 + 0.2*x0 - 0.3*x0 <= 1", [({}, 1.0)]),
        ("mean(x1:x3) <= 1", [({1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, 1.0)]),
    ],
)
def test_conditions_become_rows(premise, expected):
    assert rows(premise) == expected


@pytest.mark.parametrize(
    ("premise", "words"),
    [
        ("K >= 1", "is a block of features"),
        ("mean(none) >= 1", "has no features"),
        ("mean(x3:x1) >= 1", "runs backwards"),
        ("x9 >= 1", "no feature or block"),
    ],
)
def test_what_does_not_fit_is_said(premise, words):
    with pytest.raises(RuleError, match=words):
        rows(premise)


def test_too_many_rows_are_refused():
    wide = RowBuilder(FeatureIndex(n_features=MAX_ROWS + 1), {})
    with pytest.raises(RuleError, match="more than 2,000 rows"):
        rows(f"min(x0:x{MAX_ROWS}) >= 1", wide)


def test_a_feature_named_twice_counts_once_and_is_told():
    resolver = RowBuilder(FeatureIndex(n_features=5), BLOCKS)
    assert rows("sum(K, x1) <= 1", resolver) == [({1: 1.0, 2: 1.0}, 1.0)]
    assert resolver.remarks == ["sum(K, x1) names a feature twice; it counts once"]
