"""What the records of a run say, replayed, is what the run ended with."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.solvers import Hipad, Settings
from tests.oracles import random_problem
from tests.solvers.problems import to_problem


@pytest.mark.parametrize("method", ["hipad", "admm", "exact"])
def test_entries_and_exits_replay_the_support(method):
    run = Hipad(to_problem(random_problem(3)), Settings(method=method))
    found = run.run()
    inside: set[int] = set()
    for record in run.history:
        came, went = set(record.entered.tolist()), set(record.left.tolist())
        assert not came & inside
        assert went <= inside
        inside = (inside | came) - went
        assert len(inside) == record.support_size
    assert inside == set(found.features[found.w != 0].tolist())


def test_phases_follow_each_other_and_time_only_grows():
    run = Hipad(to_problem(random_problem(5)))
    run.run()
    phases = [record.phase for record in run.history]
    assert phases == sorted(phases)
    assert np.all(np.diff([record.seconds for record in run.history]) >= 0)
    shared = [record.shared for record in run.history]
    assert np.all(np.isfinite(shared))
