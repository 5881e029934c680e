"""How many answers are right, with the uncertainty that few patients bring."""

from __future__ import annotations

import numpy as np

from hipad.evaluation.metrics import wilson_interval


def accuracy_line(part: str, y: np.ndarray, answers: np.ndarray, classes: tuple[str, ...]) -> str:
    """Accuracy with Wilson's 95 % interval, and the share found of each class.

    >>> y = np.array(["ill", "ill", "well", "well"])
    >>> accuracy_line("test", y, np.array(["ill", "well", "well", "well"]), ("well", "ill"))
    'test: 3 of 4 right, 75.0 % (30.1 to 95.4); well 2 of 2, ill 1 of 2'
    """
    right = y == answers
    k, n = int(right.sum()), len(y)
    low, high = wilson_interval(k, n)
    each = ", ".join(
        f"{name} {int(right[y == name].sum()):,} of {int((y == name).sum()):,}" for name in classes
    )
    interval = f"({100 * low:.1f} to {100 * high:.1f})"
    return f"{part}: {k:,} of {n:,} right, {100 * k / n:.1f} % {interval}; {each}"
