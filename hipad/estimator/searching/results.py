"""The outcome of a grid search in the layout of scikit-learn's `cv_results_`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from hipad.designs.base import FloatArray
from hipad.errors import HipadError
from hipad.estimator.searching.grids import Params
from hipad.estimator.searching.trials import Trial


def results_of(candidates: list[Params], trials: Iterable[Trial], n_splits: int) -> dict[str, Any]:
    """Times, settings, scores of every fold, their mean, deviation and rank, support sizes."""
    shape = (len(candidates), n_splits)
    score, size, fit, scoring = (np.full(shape, np.nan) for _ in range(4))
    for trial in trials:
        at = trial.candidate, trial.fold
        score[at], size[at] = trial.score, trial.support_size
        fit[at], scoring[at] = trial.fit_seconds, trial.score_seconds
    results: dict[str, Any] = {}
    for name, seconds in (("fit_time", fit), ("score_time", scoring)):
        results[f"mean_{name}"], results[f"std_{name}"] = seconds.mean(1), seconds.std(1)
    for name in candidates[0]:
        results[f"param_{name}"] = _column([candidate[name] for candidate in candidates])
    results["params"] = candidates
    results |= _splits("test_score", score)
    results["rank_test_score"] = ranks(results["mean_test_score"])
    return results | _splits("support_size", size)


def ranks(means: FloatArray) -> np.ndarray:
    """1 for the largest mean; equal ones share a rank, and what is no number comes last.

    >>> ranks(np.array([0.5, 0.9, np.nan, 0.9])).tolist()
    [3, 1, 4, 1]
    """
    least = np.nanmin(means, initial=0.0) - 1.0
    return rankdata(-np.where(np.isnan(means), least, means), method="min").astype(np.int32)


def best_of(results: dict[str, Any], refit: Any) -> int:
    """The place of the best candidate: the first of rank 1, or what the function `refit` says."""
    if not callable(refit):
        return int(results["rank_test_score"].argmin())
    index = refit(results)
    if not isinstance(index, int | np.integer) or not 0 <= index < len(results["params"]):
        most = len(results["params"])
        raise HipadError(f"expected refit to give an index below {most}, got {index!r}: change it")
    return int(index)


def warn_of_failures(trials: list[Trial]) -> None:
    """Say once how many fits failed or did not converge."""
    failures = [trial.failure for trial in trials if trial.failure]
    if failures:
        text = f"{len(failures)} of {len(trials)} fits failed, the first with {failures[0]}"
        if len(failures) == len(trials):
            raise HipadError(f"{text}: give error_score='raise' to see where")
        warnings.warn(text, FitFailedWarning, stacklevel=3)
    if limited := sum(not trial.converged for trial in trials):
        text = f"{limited} of {len(trials)} fits did not converge: raise max_iter"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


def _splits(name: str, values: FloatArray) -> dict[str, FloatArray]:
    each = {f"split{k}_{name}": column for k, column in enumerate(values.T)}
    return each | {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}


def _column(values: list[Any]) -> np.ma.MaskedArray:
    """A masked array of numbers where all are, as scikit-learn has it."""
    words = any(isinstance(value, str) for value in values)
    column = np.ma.MaskedArray(np.empty(len(values)), dtype=object if words else float)
    column[:] = values
    column.mask = False
    return column
