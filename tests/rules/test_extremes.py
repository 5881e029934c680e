from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import compile_rules
from tests.rules.settled import settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(K) >= 2", ["a >= 2", "b >= 2"]),
        ("min(K) >= 2", ["min(K) >= 2"]),
        ("max(K) - min(K) <= 3", ["max(K) - min(K) <= 3"]),
        ("max(K) between 1 and 2", ["a >= 1 and max(K) <= 2", "b >= 1 and max(K) <= 2"]),
    ],
)
def test_one_large_feature_is_enough_for_a_large_max(text, expected):
    assert settled(text) == expected


def test_a_max_of_very_many_features_is_refused():
    with pytest.raises(RuleError, match="100 features would make as many rules"):
        compile_rules("max(x0:x99) >= 2 => positive", n_features=100)
