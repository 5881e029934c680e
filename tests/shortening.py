"""Automatic choices made short, for tests that are not about what is chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hipad.estimator import settings


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three values of lambda1 on two folds, once: the same code, much sooner."""
    short = replace(settings.SELECTION, n_lambda1=3, n_folds=2, max_repeats=1)
    monkeypatch.setattr(settings, "SELECTION", short)
