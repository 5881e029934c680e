"""Automatic choices made short, for tests that are not about what is chosen."""

from __future__ import annotations

import pytest

from hipad.estimator import cross_validation as jury
from hipad.estimator import path as tried_values


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three values of lambda1 on two folds, once: the same code, much sooner."""
    monkeypatch.setattr(tried_values, "N_STEPS", 3)
    monkeypatch.setattr(jury, "FOLDS", 2)
    monkeypatch.setattr(jury, "MOST_REPEATS", 1)
