"""From a good guess to the optimum itself, by its active sets.

At the optimum every row (sample or rule) is above its margin (price 0), on it, or short of it (full
price); every feature is out, or in with a sign (one that pays nothing is in); every multiplier u is
zero or positive. Once these sets are known, what is left is linear (kkt.py):

    1. solve for the present sets
    2. rows, features and multipliers whose sign is wrong change their set; go to 1 if any did
    3. look at all other features: those that are pulled beyond their price join; go to 1 if any

Sets that stand satisfy every condition of optimality, to rounding. From a guess that is not good
enough the sets may go round in circles. Then there is no answer here, and a solver that always
converges must come nearer first (exact.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.active.intercept import middle_intercept
from hipad.solver.active.kkt import KktSystem
from hipad.solver.interior.lifted import Lifted, Values
from hipad.solver.problem import Problem

MOST_CHANGES = 25  # a good guess needs two or three
LARGEST_SYSTEM = 3000
FEW_ROWS = 1000  # up to here Gram matrices of all rows are kept from one system to the next
EXACT = 1e-11  # what is within this of its bound, relatively, is on it


class Guess(NamedTuple):
    """Weights on some features (zero elsewhere), multipliers of rules, prices of all rows."""

    features: np.ndarray
    w: FloatArray
    u: FloatArray
    alpha: FloatArray


class Optimum(NamedTuple):
    """The optimum on the features looked at, many of them zero; and the pull on every feature."""

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray
    pull: FloatArray


@dataclass
class Sets:
    """Which features are in and with which sign, which rows are where, which u are positive."""

    signs: FloatArray
    on_margin: np.ndarray
    at_price: np.ndarray
    positive: np.ndarray

    def key(self) -> bytes:
        """Equal for equal sets."""
        parts = (self.signs > 0, self.signs < 0, self.on_margin, self.at_price, self.positive)
        return b"".join(np.packbits(part).tobytes() for part in parts)


def optimum_from(problem: Problem, guess: Guess) -> Optimum | None:
    """The minimum of F over all features; None when the guess was not good enough."""
    features = np.union1d(guess.features, problem.always_in).astype(int)
    part = Part(problem, features, problem.lambda1)
    sets = part.sets_of(guess)
    for _ in range(MOST_CHANGES):
        values = part.settle(sets)
        if values is None:
            return None
        pull = pull_on_all(problem, values.alpha, values.u)
        more = part.violators(pull)
        if more.size == 0:
            return Optimum(part.features, *values, pull)
        grown = Part(problem, np.union1d(part.features, more), problem.lambda1)
        signs = np.sign(pull[grown.features])
        signs[np.searchsorted(grown.features, part.features)] = sets.signs
        part, sets.signs = grown, signs
    return None


def refined(problem: Problem, guess: Guess) -> Values | None:
    """The minimum without lambda1 on exactly the features of the guess (phase 2).

    Weights whose sign is known may end at zero.
    """
    part = Part(problem, guess.features, 0.0)
    return part.settle(part.sets_of(guess))


def pull_on_all(problem: Problem, alpha: FloatArray, u: FloatArray) -> FloatArray:
    """X'Y alpha - C'u: how hard each feature is drawn away from zero; one pass over the data."""
    stack = problem.stack
    pull = problem.design.correlate(problem.y * alpha[: problem.n_samples])
    pull[stack.features] -= stack.coupling.T @ u
    return pull


class Part(Lifted):
    """The problem on some features as an SVM in (w, b, u), at some lambda1."""

    def __init__(self, problem: Problem, features: np.ndarray, lambda1: float) -> None:
        super().__init__(problem, features)
        self.problem, self.features, self.lambda1 = problem, features, lambda1
        self.limits = problem.limits(features, lambda1)
        self.free = self.limits.free
        self.norms = np.sqrt(np.einsum("ij,ij->j", self.Z, self.Z))

    def sets_of(self, guess: Guess) -> Sets:
        """The sets that a guess suggests."""
        signs = np.zeros(self.features.size)
        signs[np.searchsorted(self.features, guess.features)] = np.sign(guess.w)
        signs = np.where(self.free, 1.0, self.limits.allowed(signs))
        low, high = guess.alpha <= 0, guess.alpha >= self.prices
        return Sets(signs, ~low & ~high, high, guess.u > 0)

    def settle(self, sets: Sets) -> Values | None:
        """Correct the sets until they stand; None when they do not."""
        seen: set[bytes] = set()
        while len(seen) < MOST_CHANGES and sets.key() not in seen:
            seen.add(sets.key())
            if sets.on_margin.sum() + sets.positive.sum() > LARGEST_SYSTEM:
                return None
            values = self._solve(sets)
            if values is None:
                return None
            if not self._correct(sets, values):
                return self._cleaned(values)
        return None

    def violators(self, pull: FloatArray) -> np.ndarray:
        """Features outside that are pulled in."""
        noise = 1e-13 * self.problem.design.column_norms()
        over = self.problem.prices.over(pull, self.lambda1) > 1e-9 * self.lambda1 + noise
        over[self.features] = False
        return np.flatnonzero(over)

    def _solve(self, sets: Sets) -> Values | None:
        """Weights, intercept, multipliers and prices for these sets."""
        kept, positive = sets.signs != 0, sets.positive
        rows = np.flatnonzero(sets.on_margin)
        alpha = np.where(sets.at_price, self.prices, 0.0)
        system = self._system(kept, rows, positive)
        price = np.where(sets.signs > 0, self.limits.up, self.limits.down)[kept]
        forced = (self.Z.T @ alpha[: self.n])[kept] - price * sets.signs[kept]
        linear = (self.thresholds.T @ alpha[self.n :])[positive]
        found = system.solve(forced, -float(self.labels @ alpha), linear)
        if found is None:
            return None
        w, u = np.zeros(self.features.size), np.zeros(positive.size)
        w[kept], alpha[rows], b, u[positive] = found
        return Values(w, b if self.labels[rows].any() else self._middle(w, u), u, alpha)

    def _system(self, kept: np.ndarray, rows: np.ndarray, positive: np.ndarray) -> KktSystem:
        """The conditions that are left for these sets."""
        samples = rows[rows < self.n]
        # columns first: they lie together in memory
        Z = self.Z.T.take(np.flatnonzero(kept), axis=0).take(samples, axis=1).T
        if rows.size > samples.size:
            Z = np.vstack((Z, np.zeros((rows.size - samples.size, Z.shape[1]))))
        d = np.zeros((rows.size, int(positive.sum())))
        d[samples.size :] = self.thresholds[np.ix_(rows[samples.size :] - self.n, positive)]
        C, curvature = self.C[np.ix_(positive, kept)], self.curvature[np.ix_(positive, positive)]
        gram = self._gram(kept, rows)
        return KktSystem(Z, C, d, self.labels[rows], self.ridge[kept], curvature, gram)

    def _gram(self, kept: np.ndarray, rows: np.ndarray) -> FloatArray | None:
        """Z Z' of these rows where many features are in, most of which were in before."""
        if (
            self.n > FEW_ROWS
            or kept.sum() < self.n
            or np.ptp(self.ridge)
            or rows.size < self.n // 4
        ):
            return None
        samples = rows[rows < self.n]
        gram, y = np.zeros((rows.size, rows.size)), self.problem.y[samples]
        whole = self.problem.design.partial_gram.of(self.features[kept])
        gram[: samples.size, : samples.size] = y[:, None] * whole[np.ix_(samples, samples)] * y
        return gram

    def _middle(self, w: FloatArray, u: FloatArray) -> float:
        """The intercept for these weights: in the middle where several are best."""
        return middle_intercept(self.problem, self.problem.y * (self.Z @ w), u)

    def _correct(self, sets: Sets, at: Values) -> bool:
        """Move what has the wrong sign to its right set; False when nothing has."""
        before = sets.key()
        self._correct_rows(sets, at)
        self._correct_multipliers(sets, at)
        if not self.free.all():
            self._correct_features(sets, at)
        return sets.key() != before

    def _correct_rows(self, sets: Sets, at: Values) -> None:
        """Rows whose price left its bounds leave the margin; those on the wrong side of it join."""
        lack = 1.0 - np.r_[self.Z @ at.w, -self.thresholds @ at.u] - self.labels * at.b
        exact = EXACT * (1.0 + abs(at.b))
        low = sets.on_margin & (at.alpha < -EXACT * np.max(np.abs(at.alpha)))
        high = sets.on_margin & (at.alpha > (1 + EXACT) * self.prices)
        back = sets.at_price & (lack < -exact)
        enter = ~sets.on_margin & ~sets.at_price & (lack > exact)
        if abs(self.labels @ at.alpha) > EXACT * self.prices.sum():  # no row holds the intercept
            held = np.abs(lack) <= exact
            enter, back = enter | (held & ~sets.at_price), back | (held & sets.at_price)
        sets.on_margin = (sets.on_margin & ~low & ~high) | back | enter
        sets.at_price = (sets.at_price & ~back) | high

    def _correct_multipliers(self, sets: Sets, at: Values) -> None:
        """Multipliers below zero become zero; those that the gradient pulls up become positive."""
        parts = self.C @ at.w, self.curvature @ at.u, self.thresholds.T @ at.alpha[self.n :]
        noise = EXACT * (1.0 + sum(np.abs(part) for part in parts))
        size = EXACT * float(np.max(np.abs(at.u), initial=0.0))
        sets.positive = np.where(sets.positive, at.u >= -size, sum(parts) < -noise)

    def _correct_features(self, sets: Sets, at: Values) -> None:
        """Weights whose sign turned are out; features pulled beyond their price are in."""
        pull = self.Z.T @ at.alpha[: self.n] - self.C.T @ at.u
        out = sets.signs == 0
        enter = out & (self.limits.over(pull) > EXACT * self.lambda1 + 1e-13 * self.norms)
        sets.signs[~out & ~self.free & (at.w * sets.signs < 0)] = 0.0
        sets.signs[enter] = np.sign(pull[enter])

    def _cleaned(self, at: Values) -> Values | None:
        """Without the last rounding; None where the sets stand on numbers that are none."""
        alpha = np.clip(at.alpha, 0.0, self.prices)
        balanced = abs(self.labels @ alpha) <= 1e-10 * self.prices.sum()
        if not balanced or not np.isfinite(at.w).all():
            return None
        u = np.maximum(at.u, 0.0)
        return Values(at.w, self._middle(at.w, u), u, alpha)
