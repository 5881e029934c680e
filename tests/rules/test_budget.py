from __future__ import annotations

import time

from hipad.rules import Budget


def test_steps_end_the_work():
    budget = Budget(steps=3)
    assert budget.spend(2)
    assert budget.spend(2)
    assert not budget.spend()
    assert budget.is_spent


def test_time_and_an_event_end_it_too():
    assert Budget(seconds=0.0).is_spent
    late = Budget(seconds=10.0, begun=time.monotonic() - 11)
    assert late.seconds_left < 0
    stopped = Budget()
    assert not stopped.is_spent
    stopped.stop.set()
    assert not stopped.spend()
