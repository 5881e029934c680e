from __future__ import annotations

import itertools

import numpy as np
import pytest

from hipad.rules import Box, compile_rules
from hipad.rules import overlap as module
from hipad.rules.overlap import Regions, RegionTable
from tests.rules.test_pairs import HI, LO, rules_text


def regions_of(seed: int) -> tuple[Regions, list[int]]:
    rules = compile_rules(rules_text(seed, 20), n_features=9)
    regions = Regions.of(rules, Box(LO, HI))
    return regions, [i for i, each in enumerate(regions.regions) if each.point is not None]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_seen_of_all_pairs_holds_for_each(seed):
    regions, alive = regions_of(seed)
    together = RegionTable(regions, [regions.regions[i] for i in alive])
    (inside, outside), steps = together.within, np.arange(len(alive))
    for a, b in itertools.permutations(range(len(alive)), 2):
        meets = regions.meeting(alive[a], alive[b]) is not None
        assert not (together.apart[a, b] and meets)
        assert meets or not together.unbound[a, b]
        assert not inside[a, b] or regions.inside(alive[a], alive[b])
        assert not (outside[a, b] and regions.inside(alive[a], alive[b]))
    for a in steps:
        met = together.met_by_steps(a, steps)
        assert not (met & together.apart[a]).any()
    assert together.apart.any()
    assert together.unbound.any()
    assert inside.any()
    assert outside.any()


def test_without_room_for_matrices_nothing_false_is_said(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 10)
    regions, alive = regions_of(0)
    together = RegionTable(regions, [regions.regions[i] for i in alive])
    assert together.ranges is None
    assert not together.within[0].any()
    assert not together.met_by_steps(0, np.arange(len(alive))).any()
    for a, b in itertools.permutations(range(len(alive)), 2):
        meets = regions.meeting(alive[a], alive[b]) is not None
        assert meets or not together.unbound[a, b]
        assert not (together.apart[a, b] and meets)
