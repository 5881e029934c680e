"""All methods on one table, by the same folds: figures, features and seconds.

    for found in compare_methods(data):
        ...                           # one `MethodResult` after each method

Every method is judged by the same outer folds and chooses its parameters by the same inner folds of
what is left to learn from; groups are never split. Data with a split of their own are judged by its
test rows instead. Without a rule in the data, methods that need rules are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.experiments.methods import FOLDS, METHODS, ExperimentData, inner_folds
from hipad.utils import FloatArray

# What is compared: the name that people read, and the method.
COMPARED: Final[dict[str, str]] = {
    "HIPAD-ENK": "HIPAD",
    "HIPAD": "no rules",
    "ADMM-ENK": "ADMM",
    "ADMM-ENSVM": "ADMM without rules",
    "exact elastic net": "exact elastic net",
    "LIBSVM": "LIBSVM",
    "l1 logistic regression": "l1 logistic regression",
    "elastic-net SGD": "elastic-net SGD",
    "rules alone": "rules alone",
    "rules as features": "rules as features",
}
NEEDS_RULES: Final = ("HIPAD-ENK", "ADMM-ENK", "rules alone", "rules as features")
FIGURES: Final = ("accuracy", "balanced_accuracy", "roc_auc")


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method: figures with intervals, mean number of features, processor seconds, scores.

    `scores` are those of rows that were not learnt from, else NaN; `rows` are the rows that are
    judged, so that two methods can be compared row by row.
    """

    name: str
    figures: dict[str, Estimate]
    support: float
    seconds: float
    scores: FloatArray
    rows: ScoredRows


def compare_methods(
    data: ExperimentData,
    names: Sequence[str] | None = None,
    *,
    n_folds: int = FOLDS,
    random_state: int = 0,
    options: Mapping[str, Any] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Iterator[MethodResult]:
    """Fit every method to all folds but one, again and again, and yield what it does.

    Parameters
    ----------
    data : ExperimentData
        The table; its labels, rules and groups.
    names : sequence of str, default=None
        Methods of `COMPARED`; None for all that the data allow.
    n_folds, random_state
        Of the outer folds; without a meaning where the data have a split.
    options : mapping, default=None
        Parameters of `HIPADClassifier`; of the others only whether columns are scaled.
    on_progress : callable, default=None
        Called with the number of fits done and of all.
    should_stop : callable, default=None
        Asked before each fit; True ends the work, and a method that is not done is not told.
    """
    usable = [name for name in COMPARED if data.rules.strip() or name not in NEEDS_RULES]
    asked = usable if names is None else list(names)
    for name in asked:
        if name not in usable:
            why = "rules for it" if name in NEEDS_RULES else f"a method of {', '.join(usable)}"
            raise DataError(f"expected {why}, got {name!r}: choose others")
    if data.split is None:
        draws = [data.draw(random_state, fold=(k, n_folds)) for k in range(n_folds)]
        held = [rows[1] for rows in data.folds(random_state, n_folds)]
    else:
        draws, held = [data.draw(random_state)], [np.asarray(data.split[1])]
    inner = [inner_folds(draw) for draw in draws]
    done, total = 0, len(asked) * len(draws)
    for name in asked:
        scores, sizes = np.full(data.y.size, np.nan), []
        start = time.thread_time()
        for draw, judged_rows, parts in zip(draws, held, inner, strict=True):
            if should_stop is not None and should_stop():
                return
            own: dict[str, Any] = {**(options or {}), **({"cv": parts} if parts else {})}
            found = METHODS[COMPARED[name]].score(draw, draw.rules, own)
            scores[judged_rows] = found.scores
            sizes.append(float(found.figures.get("support", 0.0)))
            done += 1
            if on_progress is not None:
                on_progress(done, total)
        known = np.flatnonzero(np.isfinite(scores))
        groups = None if data.groups is None else data.groups[known]
        rows = ScoredRows(data.y[known] > 0, scores[known], groups=groups)
        judged = replace(rows, folds=len(draws))
        yield MethodResult(
            name=name,
            figures={figure: judged.measure(figure) for figure in FIGURES},
            support=float(np.mean(sizes)),
            seconds=time.thread_time() - start,
            scores=scores,
            rows=judged,
        )
