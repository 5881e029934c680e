"""Paths that are left before their end."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.estimator.cross_validation import CVResult
from hipad.estimator.path import gains_nothing, is_hopeless, is_over
from hipad.estimator.settings import SELECTION


def results(*found: tuple[float, int]) -> list[CVResult]:
    """Values of these losses and numbers of features, in the order of a path."""
    one, none = np.ones(1), np.zeros(0)
    return [CVResult(1.0, 1.0, loss * one, one, one, none, 0.0, size) for loss, size in found]


@pytest.mark.parametrize(
    ("patients", "sizes", "ahead", "losses", "ends"),
    [
        (60, (10, 70, 80), 90, (0.5, 0.5, 0.499), True),
        (60, (10, 70, 80), 90, (0.5, 0.5, 0.49), False),  # it gains
        (60, (10, 50, 80), 90, (0.5, 0.5, 0.5), False),  # once is not enough,
        (1000, (10, 900), 1100, (0.5, 0.5), True),  # but before a large model
        (1000, (10, 800), 900, (0.5, 0.5), False),  # with more features than patients
        (60, (10, 80), 1000, (0.5, 0.5), False),  # and many numbers
        (1000, (900,), 5000, (0.5,), False),  # nothing to compare with
    ],
)
def test_a_path_ends_where_large_models_gain_nothing(patients, sizes, ahead, losses, ends):
    done = results(*zip(losses, sizes, strict=True))
    assert gains_nothing(done, ahead, patients, SELECTION) is ends


def of_patients(*losses: np.ndarray) -> list[CVResult]:
    """Small models with these losses of each patient."""
    n, none = len(losses[0]), np.zeros(0)
    ones = np.ones(n)
    return [CVResult(1.0, 1.0, loss, ones / n, ones, none, 0.0, 3) for loss in losses]


def test_a_path_ends_after_two_values_that_are_clearly_worse():
    noise = 0.1 * np.linspace(-1, 1, 20)
    good, bad = 0.3 + noise, 0.6 - noise
    assert is_hopeless(of_patients(good, bad, bad), SELECTION)
    assert not is_hopeless(of_patients(good, bad), SELECTION), "once may be chance"
    assert not is_hopeless(of_patients(bad, good, bad), SELECTION)
    assert not is_hopeless(of_patients(good, good + 0.3 * noise, good - 0.3 * noise), SELECTION)
    assert not is_hopeless(of_patients(good, good, good), SELECTION), "equal is not worse"


def test_either_reason_ends_a_path():
    good, bad = np.full(20, 0.3), 0.6 + 0.1 * np.linspace(-1, 1, 20)
    assert is_over(of_patients(good, bad, bad), 5, 100, SELECTION)
    assert is_over(of_patients(good, good), 5000, 100, SELECTION)
    assert not is_over(of_patients(good, good), 5, 100, SELECTION)
    assert not is_over([], 5000, 100, SELECTION)
