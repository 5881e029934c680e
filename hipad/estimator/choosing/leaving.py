"""When a path is left before its end: values that cannot help are not tried.

Large models cost most of the time of a choice, and where they are no better than sparse ones they
must not outvote them either: on a path there are more of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from hipad.estimator.choosing.weighing import Opinion

ALIKE = 0.01  # share of a loss: nobody would notice a smaller difference
PATIENCE = 2  # values clearly worse than the best before a path is left,
GAINLESS = 2  # or no better, with more features than patients;
LARGE = 250_000  # numbers in the columns of a model: before such a one, one value is enough


def is_over(done: Sequence[Opinion], ahead: int, patients: float) -> bool:
    """Whether a path is to be left: the next model is expected to have `ahead` features."""
    return is_hopeless(done) or gains_nothing(done, ahead, patients)


def is_hopeless(done: Sequence[Opinion]) -> bool:
    """Whether the last few values were all clearly worse than the best."""
    if len(done) <= PATIENCE:
        return False
    best = min(done, key=lambda one: one.loss)
    last = [one.behind(best) for one in done[-PATIENCE:]]
    return all(mean > 2 * error > 0 for mean, error in last)


def gains_nothing(done: Sequence[Opinion], ahead: int, patients: float) -> bool:
    """Whether models with more features than patients have them for nothing.

    These are the last few, or the one ahead if it will be large: then the last one tells enough.
    """
    large = ahead * patients > LARGE
    count = 1 if large else GAINLESS
    last, before = done[-count:], done[:-count]
    sizes = [ahead] if large else [one.support_size for one in last]
    if not before or min(sizes) <= patients:
        return False
    least = min(one.loss for one in before)
    return all(one.loss > (1 - ALIKE) * least for one in last)
