"""What few features cost, by patients who were held out while the model was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from hipad.estimator.choosing.choice import PathPoint
from hipad.wording import count, percent


def few_features_sentence(path: Sequence[PathPoint]) -> str:
    """Say what the fewest features within one standard error of the least loss would cost, or cost.

    Accuracy counts both classes alike. Empty where nothing was chosen, or the fewest are not fewer.
    """
    sparsest = next((point for point in path if point.sparsest and point.stable_size), None)
    chosen = next((point for point in path if point.chosen), None)
    if sparsest is None or chosen is None:
        return ""
    fewest = count(sparsest.stable_size, "feature")
    if chosen is sparsest:
        best = next(point for point in path if point.best)
        return (
            f"The fewest features within one standard error of the least error: about {fewest}, "
            f"which most folds keep. {_right(sparsest)}; with the least error "
            f"({count(best.support_size, 'feature')}), {percent(best.accuracy)}."
        )
    if sparsest.stable_size >= chosen.support_size:
        return ""
    return (
        f"About {fewest}, which most folds keep, would do within one standard error of the least "
        f"error. {_right(sparsest)}; with the {chosen.support_size:,} taken here, "
        f"{percent(chosen.accuracy)}."
    )


def _right(point: PathPoint) -> str:
    return f"Of held-out patients, {percent(point.accuracy)} are right, both classes counting alike"
