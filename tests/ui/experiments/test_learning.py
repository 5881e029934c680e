from __future__ import annotations

import pytest

from hipad.experiments.learning_curve import curve_tasks
from hipad.experiments.tasks import Done
from tests.experiments.small import table
from ui.experiments.learning_curve_view import warning, whole_draws, worth_so_far


def fits(gain: float, draws: int = 4) -> list[Done]:
    tasks = curve_tasks(table(), draws=draws, sizes=(4, 8))
    found = []
    for k, task in enumerate(tasks):
        rules = gain if task.settings["method"] == "HIPAD" else 0.0
        value = 0.7 + 0.01 * task.seed + 0.01 * task.settings["rows"]["labelled"] + rules
        found.append(Done(task, str(k), {"balanced": value}))
    return found


@pytest.mark.parametrize(("gain", "warned"), [(0.1, False), (-0.01, False), (-0.05, True)])
def test_rules_that_cost_two_points_are_warned_of(gain, warned):
    assert ("cost more than two points with 8 labelled patients" in warning(fits(gain))) is warned


def test_the_answer_needs_draws_that_are_whole():
    found = fits(0.03)
    assert worth_so_far(found[: 2 * 8]) is None
    assert len(whole_draws(found[: 3 * 8 + 5])) == 3 * 8
    worth = worth_so_far(found[: 3 * 8 + 5])
    assert worth is not None
    assert worth.value > 0
