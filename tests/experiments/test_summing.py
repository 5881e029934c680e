import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from hipad.experiments.tasks import Done, Task, difference, mean_of, select


def done(seed: int, method: str, value: float, error: str = "") -> Done:
    task = Task("contest", "d", seed, {"method": method})
    return Done(task, f"{method}{seed}", {"accuracy": value}, error=error)


def test_the_interval_is_students():
    values = np.random.default_rng(0).random(9)
    found, oracle = mean_of(values), ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert found.value == pytest.approx(values.mean())


def test_too_few_values_have_no_interval():
    assert math.isnan(mean_of([0.5]).low)
    assert math.isnan(mean_of([]).value)
    assert mean_of([0.5, math.nan]).n == 1


def test_differences_are_paired_by_draw():
    ours = [done(seed, "a", seed + 0.1) for seed in (2, 0, 1)]
    theirs = [done(seed, "b", float(seed)) for seed in (0, 1, 2, 3)]
    found = difference(ours, theirs, "accuracy")
    assert found.value == pytest.approx(0.1)
    assert found.high - found.low < 1e-9


def test_failed_fits_are_left_out():
    fits = [done(0, "a", 0.5), done(1, "a", 0.7, error="no"), done(0, "b", 0.5)]
    assert [one.task.seed for one in select(fits, method="a")] == [0]
