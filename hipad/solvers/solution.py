"""Iterates, records of steps, runs that can be watched, and one BLAS thread inside all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from hipad.solvers.admm import AdmmSettings
from hipad.solvers.certificate import (
    SOLVED_GAP,
    Certainty,
    Certificate,
    FeatureState,
    Status,
    certainty,
    dual_value,
    feasible_duals,
    relative_gap,
)
from hipad.solvers.exact import Optimum, WarmStart, clear_of_the_brink
from hipad.solvers.losses import HINGE
from hipad.solvers.problem import Problem
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# What all phases share: a model, the record of a step that led to it, and its certificate.


ALL_FEATURES = "all features"


@dataclass(frozen=True)
class Iterate:
    """A model: weights on some features (zero elsewhere), intercept, rule multipliers, duals."""

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray

    @property
    def warm_start(self) -> WarmStart:
        """Where the search for the optimum may begin."""
        return WarmStart(self.features, self.w, self.u, self.alpha)

    @classmethod
    def of(cls, problem: Problem, found: Optimum) -> Iterate:
        """The model at an optimum: its features are those that are clearly in."""
        w = clear_of_the_brink(problem, found.features, found.w)
        kept = np.flatnonzero(w)
        return cls(found.features[kept], w[kept], found.b, found.u, found.alpha)


@dataclass(frozen=True)
class IterationInfo:
    """Progress of one step. `shared` is the objective without the l1 term of phase 1."""

    objective: float
    shared: float
    features: np.ndarray
    signs: FloatArray
    primal_residual: float
    dual_residual: float
    rule_slacks: FloatArray


def objective_of(problem: Problem, at: Iterate, X: FloatArray | None = None) -> float:
    """F at a model; `X` are the columns of its features, where they are at hand."""
    X = problem.design.columns(at.features) if X is None else X
    return problem.objective(at.features, at.w, X @ at.w, at.b, at.u)


def iteration_info(
    problem: Problem, at: Iterate, objective: float, primal: float, dual: float
) -> IterationInfo:
    """The record of a step that led to this model."""
    shared = objective - problem.limits(at.features).cost(at.w)
    slacks = problem.stack.slacks(at.b, at.u)
    return IterationInfo(objective, shared, at.features, np.sign(at.w), primal, dual, slacks)


class _Bounds(NamedTuple):
    """A model with duals that balance: its objective, and a lower bound of the least one."""

    place: FeatureState
    primal: float
    dual: float
    accuracy: float


def _bounds(
    problem: Problem, at: Iterate, lambda1: float, X: FloatArray, features: np.ndarray | None
) -> _Bounds:
    """Bounds over some features, which have the columns X, or over all."""
    scores = X @ at.w
    alpha = feasible_duals(problem, at.alpha)
    signed = problem.y * alpha[: problem.n_samples]
    gradient = problem.design.correlate(signed) if features is None else X.T @ signed
    return _Bounds(
        FeatureState(at.features, at.w, at.b, at.u, alpha, scores, gradient),
        problem.objective(at.features, at.w, scores, at.b, at.u),
        *dual_value(problem, alpha, at.u, lambda1=lambda1, features=features, gradient=gradient),
    )


def certify(
    problem: Problem,
    at: Iterate,
    lambda1: float,
    status: Status,
    *,
    covers: str,
    eps: float = SOLVED_GAP,
    X: FloatArray | None = None,
    counts: bool = True,
) -> Certificate:
    """Bounds for a point; "solved" becomes "inaccurate" when the relative gap exceeds eps.

    Over all features it also counts those that are certain and undecided, unless `counts` is off.
    """
    everything = covers == ALL_FEATURES
    X = problem.design.columns(at.features) if X is None else X
    place, primal, dual, accuracy = _bounds(
        problem, at, lambda1, X, None if everything else at.features
    )
    gap = relative_gap(primal, dual)
    certain = undecided = 0
    if everything and counts:
        known = certainty(problem, place, primal - dual)
        certain, undecided = known.inside.size, known.undecided.size
    if status is Status.SOLVED and not gap <= eps:
        status = Status.INACCURATE
    margins = np.r_[problem.y * (place.scores + at.b), 1.0 - problem.stack.slacks(at.b, at.u)]
    return Certificate(
        status=status,
        primal_objective=primal,
        dual_objective=dual,
        gap=gap,
        primal_residual=float(np.max(-at.u, initial=0.0)),
        dual_residual=float(np.max(np.abs(place.alpha - at.alpha), initial=0.0)) + accuracy,
        complementarity=complementarity(problem, place.alpha, margins),
        covers=covers,
        certain=certain,
        undecided=undecided,
    )


def certainty_of(problem: Problem, at: Iterate) -> Certainty:
    """What is certain of every feature at the optimum over all features, from this model."""
    X = problem.design.columns(at.features)
    place, primal, dual, _ = _bounds(problem, at, problem.lambda1, X, None)
    return certainty(problem, place, primal - dual)


def complementarity(problem: Problem, alpha: FloatArray, margins: FloatArray) -> float:
    """Return the largest Fenchel-Young gap of a row: how far its dual is from its margin's."""
    n, short = problem.n_samples, 1.0 - margins
    samples = problem.loss.fenchel_gap(short[:n], alpha[:n], problem.p)
    rules = HINGE.fenchel_gap(short[n:], alpha[n:], problem.stack.sigma)
    return float(np.max(np.concatenate([samples, rules]), initial=0.0))


# --------------------------------------------------------------------------------------------------
# The settings of a run, its record of every step, and its result.


Method = Literal["hipad", "admm", "exact"]


@dataclass(frozen=True)
class Settings:
    """How to run: method, solver of phase 2, end of phase 1, limits.

    `fastest` lets faster solvers choose the features where the ADMM would take longer. The model is
    the same; without it the ADMM can be watched.
    """

    method: Method = "hipad"
    fastest: bool = False
    phase2_solver: str = "ipm"
    phase1_stop: Literal["support", "paper"] = "support"
    tolerance: float = 1e-7
    max_sweeps: int = 5000
    max_iterations: int = 60
    admm: AdmmSettings = field(default_factory=AdmmSettings)


@dataclass(frozen=True)
class Progress:
    """One step of phase 1 or 2, at the sparse iterate.

    `objective` is that of the phase. `shared` leaves out the l1 term, which only phase 1 has: loss,
    rules and ridge, one line through both phases.
    """

    phase: int
    iteration: int
    objective: float
    support_size: int
    entered: np.ndarray
    left: np.ndarray
    sign_changes: int
    primal_residual: float
    dual_residual: float
    rule_slacks: FloatArray
    seconds: float
    shared: float = float("nan")


@dataclass(frozen=True)
class Solution:
    """A model in the design's units, and how far it can be trusted.

    `selection` certifies phase 1 over all features, where a phase 2 followed it.
    """

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    certificate: Certificate
    selection: Certificate | None
    passes: int


# --------------------------------------------------------------------------------------------------
# A run that can be watched: an iterator of records with a history, a stop and a way to go on.
#
# Leaving the loop is a pause, entering it again goes on. The optimisation and the fit around it
# share these verbs, so that they mean the same everywhere.


Record = TypeVar("Record")


class StepwiseSolver(ABC, Generic[Record]):
    """Subclasses say how the records come about in `_generate`."""

    def __init__(self) -> None:
        self.history: list[Record] = []
        self._stopping = False
        self._records = self._generate()

    @abstractmethod
    def _generate(self) -> Iterator[Record]:
        """All steps, one after the other."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Record:
        """Take one step."""
        if self._stopping:
            raise StopIteration
        return self._advance()

    def _advance(self) -> Record:
        record = next(self._records)
        self.history.append(record)
        return record

    def stop(self) -> None:
        """End the iteration after the present step; what was found so far stays."""
        self._stopping = True

    def resume(self) -> None:
        """Let a stopped run go on."""
        self._stopping = False

    def to_end(self) -> Self:
        """Take all steps that are left."""
        for _ in self:
            pass
        return self


# --------------------------------------------------------------------------------------------------
# One BLAS thread inside solves: the matrices are small, and a second thread makes them slower.
#
# Limits are global to the process, so nested and concurrent solves are counted: the first one sets
# the limit, the last one lifts it.


_lock = Lock()
_depth = 0
_limit: Any = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def single_thread() -> Iterator[None]:
    """Run the body with one BLAS thread."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _depth, _limit
    with _lock:
        if _depth == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
            _limit.__enter__()
        _depth += 1


def _leave() -> None:
    global _depth, _limit
    with _lock:
        _depth -= 1
        if _depth == 0:
            _limit.__exit__(None, None, None)
            _limit = None
