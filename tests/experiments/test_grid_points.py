from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import DataError
from hipad.experiments.tasks import Mean, mean_of
from hipad.experiments.tuning import SettingPoint, choose, tuned


def point(score: float, agrees: float, holds: float, support: float) -> SettingPoint:
    known = mean_of([score - 0.02, score, score + 0.02])
    others = [Mean(value, value, value, 3) for value in (support, agrees, holds, 0.0)]
    return SettingPoint({"lambda1": support}, known, *others)


def test_among_equals_the_rules_decide_and_then_the_features():
    near, best = point(0.895, 1.0, 0.5, 9), point(0.9, 0.5, 0.5, 3)
    far = point(0.7, 1.0, 1.0, 1)
    assert choose([best, near, far]) is near
    assert choose([best, near, far], rules_count=False) is best
    assert choose([near, fewer := point(0.893, 1.0, 0.5, 2)]) is fewer


shares = st.floats(0, 1)


@given(st.lists(st.tuples(shares, shares, shares, st.integers(0, 50)), min_size=1, max_size=8))
def test_the_choice_is_within_one_standard_error_of_the_best(drawn):
    points = [point(*each) for each in drawn]
    best = max(p.score.value for p in points)
    error = 0.02 / math.sqrt(3)
    assert choose(points).score.value >= best - error - 1e-9


def test_nothing_judged_is_a_sentence():
    with pytest.raises(DataError, match="no setting could be judged"):
        choose([])
    assert tuned([]) == []
