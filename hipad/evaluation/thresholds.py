"""Thresholds that patients clearly support better than the one that an expert wrote."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from hipad.arrays import FloatArray
from hipad.evaluation.metrics import wilson_interval
from hipad.rules import CompiledRule, Threshold, best_threshold
from hipad.rules.analysis.advice import measured_rows

MOST_ROWS: Final = 6  # conditions of one rule for which a better threshold is looked for


def supported_thresholds(rule: CompiledRule, X: Any, y: FloatArray) -> tuple[Threshold, ...]:
    """The threshold that the data support best, if they speak clearly: of one condition at most.

    Clearly: the rule would be right more often than its outcome is common, beyond chance, and
    would fire for others than it does now.
    """
    known = measured_rows(rule, X)
    if not known.any():
        return ()
    common = float(np.mean(y[known] == rule.sign))
    rows = range(min(len(rule.d), MOST_ROWS))
    found = [best_threshold(rule, X, y, row) for row in rows]
    clear = [
        better
        for better in found
        if better is not None
        and wilson_interval(better.right, better.fires)[0] > common
        and (better.fires, better.right) != (better.fires_now, better.right_now)
    ]
    return (max(clear, key=lambda better: better.gain),) if clear else ()
