"""One fold of a grid search: fits on its training rows, scores on the rows held out.

Every fit is a `HIPADClassifier` of its own on the training rows alone, so that scaling, rules and
whatever else is learnt from rows never sees those held out. The fits share the scaled design and
its Gram matrix, and each begins where a neighbour in the grid ended. That changes the time that a
fit takes, not the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from hipad.arrays import IntArray
from hipad.designs.base import FloatArray
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.searching.grids import Params
from hipad.solver import Status
from hipad.solver.threads import single_thread

Scorer = Callable[..., Any]


class LabelledRows(NamedTuple):
    """Rows, their labels, and their weights and groups where they have some."""

    X: Any
    y: np.ndarray
    weights: FloatArray | None
    groups: IntArray | None = None

    def part(self, rows: np.ndarray) -> LabelledRows:
        """Some of them."""
        weights = None if self.weights is None else self.weights[rows]
        X = self.X[rows]
        X = np.asfortranarray(X) if isinstance(X, np.ndarray) else X  # fits take out columns
        groups = None if self.groups is None else self.groups[rows]
        return LabelledRows(X, self.y[rows], weights, groups)


@dataclass(frozen=True)
class Trial:
    """One candidate in one fold."""

    candidate: int
    fold: int
    score: float
    support_size: float
    fit_seconds: float
    score_seconds: float
    converged: bool = True
    failure: str = ""


@dataclass(frozen=True, eq=False)
class FoldTask:
    """Some chains of candidates on one fold: what one process does at a time."""

    fold: int
    train: np.ndarray
    test: np.ndarray
    chains: list[list[int]]

    def run(self, search: FoldSearch, rows: LabelledRows) -> list[Trial]:
        """Fit and score all candidates of the chains."""
        study = _Study(search, self.fold, rows.part(self.train), rows.part(self.test))
        with single_thread():
            return [trial for chain in self.chains for trial in study.along(chain)]


@dataclass(frozen=True, eq=False)
class FoldSearch:
    """What all folds have in common. `error_score` is "raise", or the score of a failed fit."""

    template: HIPADClassifier
    candidates: list[Params]
    scorer: Scorer
    names: Any
    error_score: float | str


class _Study:
    """The fits of one task, each with a neighbour at hand."""

    def __init__(
        self, search: FoldSearch, fold: int, train: LabelledRows, test: LabelledRows
    ) -> None:
        self.search, self.fold, self.train, self.test = search, fold, train, test
        self.weighted = test.weights is not None and takes_weights(search.scorer)
        self.beside: dict[int, HIPADClassifier] = {}  # the last chain, by place

    def along(self, chain: list[int]) -> Iterator[Trial]:
        """One trial for each candidate of a chain."""
        done: dict[int, HIPADClassifier] = {}
        for place, candidate in enumerate(chain):
            started = time.perf_counter()
            try:
                near = [done.get(place - 1), self.beside.get(place)]
                clf = self._fit(self.search.candidates[candidate], [c for c in near if c])
                done[place] = clf
                fitted = time.perf_counter()
                score = self._score(clf)
            except Exception as error:
                if isinstance(self.search.error_score, str):
                    raise
                yield self._failed(candidate, time.perf_counter() - started, error)
                continue
            times = fitted - started, time.perf_counter() - fitted
            converged = clf.certificate_.status is not Status.LIMIT
            yield Trial(candidate, self.fold, score, clf.support_.size, *times, converged)
        self.beside = done or self.beside

    def _fit(self, params: Params, like: list[HIPADClassifier]) -> HIPADClassifier:
        """A candidate on the training rows, from the nearest fits there are."""
        clf = clone(self.search.template).set_params(**params)
        X, y, weights, groups = self.train
        run = clf.start(
            X,
            y,
            sample_weight=weights,
            groups=groups,
            like=like,
            feature_names=self.search.names,
            quick=True,
        )
        return run.to_end().finish()

    def _score(self, clf: HIPADClassifier) -> float:
        """The score of a model on the rows held out, weighted where the scorer can."""
        X, y, weights, _ = self.test
        further = {"sample_weight": weights} if self.weighted else {}
        score = self.search.scorer(clf, X, y, **further)
        if isinstance(score, dict) or np.ndim(score):
            raise ValueError(f"expected one number as a score, got {score!r}: give another scorer")
        return float(score)

    def _failed(self, candidate: int, seconds: float, error: Exception) -> Trial:
        score, failure = float(self.search.error_score), f"{type(error).__name__}: {error}"
        return Trial(candidate, self.fold, score, np.nan, seconds, 0.0, failure=failure)


def takes_weights(scorer: Scorer) -> bool:
    """Whether a scorer can weigh the rows."""
    own = getattr(scorer, "_score_func", None) or getattr(scorer, "_estimator", None) or scorer
    own = getattr(own, "score", own)  # without a scorer, the classifier's own score
    return "sample_weight" in signature(own).parameters
