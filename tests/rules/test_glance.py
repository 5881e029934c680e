from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import Box, Budget, compile_rules
from hipad.rules.overlap import PairScreen, Regions

SIDES = st.sampled_from(["x0", "x1", "x0 + x1", "x0 - x2", "mean(x0:x2)"])
LINES = st.builds(
    "{} {} {} => positive".format, SIDES, st.sampled_from([">=", "<="]), st.integers(0, 9)
)


@given(st.lists(LINES, min_size=2, max_size=5))
def test_what_a_glance_says_is_so(lines: list[str]):
    rules = compile_rules("\n".join(lines), n_features=3)
    regions = Regions.of(rules, Box(np.zeros(3), np.full(3, 10.0)))
    alive = [i for i, region in enumerate(regions.regions) if region.point is not None]
    if not alive:
        return
    glance = PairScreen.of(regions, alive)
    meet, outside = glance.meetings(Budget()), glance.outside(Budget())
    for a, b in itertools.permutations(range(len(alive)), 2):
        if meet[a, b]:
            assert regions.meeting(alive[a], alive[b]) is not None
        if outside[a, b]:
            assert not regions.inside(alive[a], alive[b])


def test_a_spent_budget_says_nothing():
    rules = compile_rules("x0 >= 1 => positive\nx0 >= 2 => positive", n_features=1)
    glance = PairScreen.of(Regions.of(rules, Box(np.zeros(1), np.full(1, 9.0))), [0, 1])
    assert glance.meetings(Budget()).all()
    assert not glance.meetings(Budget(steps=0)).any()
