"""The elastic-net SVM with rules, solved to a certificate by working and active sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dsytrf, dsytrs
from scipy.optimize import linprog

from hipad.solvers.interior_point import InteriorPoint, IpmStep, Lifted, Values, largest
from hipad.solvers.losses import RowLosses
from hipad.solvers.problem import Problem
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# The intercept where several are equally good: the middle of them.
#
# Given w and u the objective is convex in b, and piecewise linear or quadratic, with a break where
# a row meets its margin or its upper bound. Where it is flat at its least, an iterative method
# stops anywhere between; the middle depends on the problem alone.


FLAT = 1e-12  # a slope of this size is that of rounding: weights of samples sum to one


def middle_intercept(problem: Problem, scores: FloatArray, u: FloatArray) -> float:
    """The middle of the best intercepts for weights with these scores (Xw) and multipliers u."""
    stack = problem.stack
    # sample: y (score + b) = 1 at b = y - score; rule: s b = d'u + 1 at b = s (d'u + 1)
    rows = np.r_[np.ones(problem.n_samples, dtype=bool), stack.of_b != 0]
    breaks = np.r_[problem.y - scores, stack.of_b * (stack.thresholds @ u + 1.0)][rows]
    labels = np.r_[problem.y, stack.of_b][rows]
    return least_loss_intercept(breaks, labels, RowLosses(*(own[rows] for own in problem.rows)))


def least_loss_intercept(breaks: FloatArray, labels: FloatArray, losses: RowLosses) -> float:
    """Return the middle of the intercepts of least loss; a row meets its margin at its break."""
    if losses.curvature.any():
        return _curved_intercept(breaks, labels, losses)
    upper = losses.upper
    order = np.argsort(breaks, kind="stable")
    slope = np.cumsum(upper[order]) - upper[labels > 0].sum()
    first = int(np.searchsorted(slope, -FLAT * max(1.0, float(upper.sum()))))
    first = min(first, order.size - 1)
    flat = slope[first] <= FLAT * max(1.0, float(upper.sum())) and first + 1 < order.size
    ends = breaks[order[[first, first + 1 if flat else first]]]
    return float(ends.mean())


def _curved_intercept(breaks: FloatArray, labels: FloatArray, losses: RowLosses) -> float:
    """The same where duals grow with what is missing: the middle of where they balance.

    A row's dual variable is zero on one side of its break (the label says which one), and grows to
    its upper bound on the other.
    """
    ends = breaks - labels * losses.curvature * losses.upper
    marks = np.unique(np.concatenate([breaks, ends[np.isfinite(ends)]]))
    curved = losses.curvature > 0
    rate = np.divide(1.0, losses.curvature, out=np.zeros(curved.size), where=curved)

    def slope(b: float, side: float) -> float:
        """Derivative of the losses in b, just after (side 1) or just before (side -1) it."""
        short = labels * (breaks - b)
        # at its break a row without curvature is short just before it, for a label of +1
        full = np.where(short == 0, labels * side < 0, short > 0)
        alpha = np.where(curved, np.clip(short * rate, 0.0, losses.upper), 0.0)
        alpha = np.where(~curved & full, losses.upper, alpha)
        return -float(labels @ alpha)

    flat = FLAT * max(1.0, float(losses.weights.sum()))
    return 0.5 * sum(_crossing(marks, slope, level) for level in (-flat, flat))


def _crossing(marks: FloatArray, slope: Callable[[float, float], float], level: float) -> float:
    """Where a rising function, linear between its marks, first is above (or at) a level."""
    low, high = -1, marks.size  # above at marks[high], and not at marks[low]
    while high - low > 1:
        middle = (low + high) // 2
        if slope(marks[middle], 1.0) >= level:
            high = middle
        else:
            low = middle
    if high < marks.size and slope(marks[high], -1.0) < level:
        return float(marks[high])
    # linear on this piece, which may be the first or the last one and have no end
    start = marks[low] if low >= 0 else marks[0] - 1.0
    end = marks[high] if high < marks.size else marks[-1] + 1.0
    at_start, at_end = slope(start, 1.0), slope(end, -1.0)
    if at_end == at_start:
        return float(end if low < 0 else start)
    return float(start + (level - at_start) * (end - start) / (at_end - at_start))


# --------------------------------------------------------------------------------------------------
# The conditions of optimality once the active sets are known: a linear system.
#
# Unknown are the weights w of the features that are in, the dual variables alpha of the rows that
# are strictly between their bounds, the intercept b and the multipliers u that are positive. With
# h = 1/ridge and q the curvatures of the conjugate losses (zero for the hinge),
#
#     ridge w + C'u - Z'alpha          = forced       rows at their upper bound, and signed lambda1
#     Z w + labels b - d u + q alpha   = 1
#     labels'alpha                     = balance      what rows at their bound leave
#     C w + curvature u + d'alpha      = -linear
#
# w is eliminated, and then the solution is refined on the conditions above, w included. With data
# of large numbers w is a small difference of large gradients: without the refinement margins would
# be missed by what is lost in it.


SHARED = 1e-9
REFINEMENTS = 5


@dataclass(frozen=True)
class KktSystem:
    """Z, d, labels and q of the rows, ridge of the features, C and curvature of the multipliers.

    `gram` is Z Z' where it is at hand; the ridge must then be the same for all features.
    """

    Z: FloatArray
    C: FloatArray
    d: FloatArray
    labels: FloatArray
    ridge: FloatArray
    curvature: FloatArray
    gram: FloatArray | None = None
    q: FloatArray | float = 0.0

    def solve(
        self, forced: FloatArray, balance: float, linear: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, FloatArray] | None:
        """(w, alpha, b, u) for what rows at their bound add; None where the system is singular."""
        matrix = self._matrix()
        size = np.max(np.abs(matrix), axis=1)
        if not (size > 0).all():
            return None
        scale = 1.0 / np.sqrt(size)
        r = self.labels.size
        scaled = scale[:, None] * matrix * scale
        # equal rows, or conditions that repeat each other: any share of their duals is as good
        scaled[np.diag_indices(r)] += SHARED
        scaled[np.diag_indices(scale.size)] -= SHARED * (np.arange(scale.size) > r)
        factor, pivots, info = dsytrf(scaled, lower=1, lwork=64 * scale.size, overwrite_a=1)
        w, x = np.zeros(self.ridge.size), np.zeros(scale.size)
        in_w, residual = self._residual(w, x, forced, balance, linear)
        left = largest(residual)
        for _ in range(REFINEMENTS if info == 0 else 0):
            step = scale * dsytrs(factor, pivots, scale * residual, lower=1)[0]
            w = w + (in_w + self.Z.T @ step[:r] - self.C.T @ step[r + 1 :]) / self.ridge
            x = x + step
            in_w, residual = self._residual(w, x, forced, balance, linear)
            before, left = left, largest(residual)
            if not left > 1e-16 or (left >= before and left < 1e-14):  # all that rounding lets
                break
        if info != 0 or not largest(residual) <= 1e-9:
            return None
        return w, x[:r], float(x[r]), x[r + 1 :]

    def _matrix(self) -> FloatArray:
        r = self.labels.size
        matrix = np.zeros((r + 1 + self.C.shape[0],) * 2)
        if self.gram is not None:
            matrix[:r, :r] = self.gram / self.ridge[0]
        elif self.ridge.size and not np.ptp(self.ridge):  # half the work, and no copy of Z
            matrix[:r, :r] = self.Z @ self.Z.T / self.ridge[0]
        else:
            matrix[:r, :r] = (self.Z / self.ridge) @ self.Z.T
        matrix[np.arange(r), np.arange(r)] += self.q
        matrix[:r, r] = matrix[r, :r] = self.labels
        # without a sample on its margin nothing holds the intercept: it is chosen afterwards
        matrix[r, r] = float(not self.labels.any())
        matrix[:r, r + 1 :] = -(self.Z @ (self.C / self.ridge).T + self.d)
        matrix[r + 1 :, :r] = matrix[:r, r + 1 :].T
        matrix[r + 1 :, r + 1 :] = (self.C / self.ridge) @ self.C.T - self.curvature
        return matrix

    def _residual(
        self, w: FloatArray, x: FloatArray, forced: FloatArray, balance: float, linear: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What is missing in the condition on w, and in the others once w is eliminated."""
        r = self.labels.size
        alpha, b, u = x[:r], x[r], x[r + 1 :]
        in_w = forced + self.Z.T @ alpha - self.C.T @ u - self.ridge * w
        in_rows = 1.0 - (self.Z @ w + self.labels * b - self.d @ u) - self.q * alpha
        in_b = balance - float(self.labels @ alpha) if self.labels.any() else 0.0
        in_u = linear + self.C @ w + self.curvature @ u + self.d.T @ alpha
        h = in_w / self.ridge
        return in_w, np.concatenate((in_rows - self.Z @ h, [in_b], in_u + self.C @ h))


# --------------------------------------------------------------------------------------------------
# From a good guess to the optimum itself, by its active sets.
#
# At the optimum every row (sample or rule) is above its margin (dual 0), on it, or short of it
# (dual at its bound); every feature is out, or in with a sign (one that pays nothing is in); every
# multiplier u is zero or positive. Once these sets are known, what is left is linear (exact.py):
#
#     1. solve for the present sets
#     2. rows, features and multipliers whose sign is wrong change their set; go to 1 if any did
#     3. look at all other features: those whose gradient exceeds their penalty join; go to 1 if any
#
# Sets that stand satisfy every condition of optimality, to rounding. From a guess that is not good
# enough the sets may go round in circles. Then there is no answer here, and a solver that always
# converges must come nearer first (exact.py).


MOST_CHANGES = 25  # a good guess needs two or three
LARGEST_SYSTEM = 3000
EXACT = 1e-11  # what is within this of its bound, relatively, is on it


class WarmStart(NamedTuple):
    """Weights on some features (zero elsewhere), multipliers of rules, duals of all rows."""

    features: np.ndarray
    w: FloatArray
    u: FloatArray
    alpha: FloatArray


class Optimum(NamedTuple):
    """The optimum on the features looked at, many of them zero; and the gradient on all."""

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray
    gradient: FloatArray


@dataclass
class Sets:
    """Which features are in and with which sign, which rows are where, which u are positive."""

    signs: FloatArray
    on_margin: np.ndarray
    at_upper: np.ndarray
    positive: np.ndarray

    def key(self) -> bytes:
        """Equal for equal sets."""
        parts = (self.signs > 0, self.signs < 0, self.on_margin, self.at_upper, self.positive)
        return b"".join(np.packbits(part).tobytes() for part in parts)


def optimum_from(problem: Problem, warm_start: WarmStart) -> Optimum | None:
    """The minimum of F over all features; None when the guess was not good enough."""
    features = np.union1d(warm_start.features, problem.always_in).astype(int)
    part = Part(problem, features, problem.lambda1)
    sets = part.sets_of(warm_start)
    for _ in range(MOST_CHANGES):
        values = part.settle(sets)
        if values is None:
            return None
        gradient = gradient_on_all(problem, values.alpha, values.u)
        more = part.violators(gradient)
        if more.size == 0:
            return Optimum(part.features, *values, gradient)
        grown = Part(problem, np.union1d(part.features, more), problem.lambda1)
        signs = np.sign(gradient[grown.features])
        signs[np.searchsorted(grown.features, part.features)] = sets.signs
        part, sets.signs = grown, signs
    return None


def refined(problem: Problem, warm_start: WarmStart) -> Values | None:
    """The minimum without lambda1 on exactly the features of the guess (phase 2).

    Weights whose sign is known may end at zero.
    """
    part = Part(problem, warm_start.features, 0.0)
    return part.settle(part.sets_of(warm_start))


def gradient_on_all(problem: Problem, alpha: FloatArray, u: FloatArray) -> FloatArray:
    """X'Y alpha - C'u, the negative gradient at zero weights; one pass over the data."""
    stack = problem.stack
    gradient = problem.design.correlate(problem.y * alpha[: problem.n_samples])
    gradient[stack.features] -= stack.coupling.T @ u
    return gradient


class Part(Lifted):
    """The problem on some features as an SVM in (w, b, u), at some lambda1."""

    def __init__(self, problem: Problem, features: np.ndarray, lambda1: float) -> None:
        super().__init__(problem, features)
        self.problem, self.features, self.lambda1 = problem, features, lambda1
        self.limits = problem.limits(features, lambda1)
        self.unpenalized = self.limits.unpenalized
        self.norms = np.sqrt(np.einsum("ij,ij->j", self.Z, self.Z))

    def sets_of(self, warm_start: WarmStart) -> Sets:
        """The sets that a guess suggests."""
        signs = np.zeros(self.features.size)
        signs[np.searchsorted(self.features, warm_start.features)] = np.sign(warm_start.w)
        signs = np.where(self.unpenalized, 1.0, self.limits.allowed(signs))
        low, high = warm_start.alpha <= 0, warm_start.alpha >= self.losses.upper
        return Sets(signs, ~low & ~high, high, warm_start.u > 0)

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

    def violators(self, gradient: FloatArray) -> np.ndarray:
        """Features outside that must join."""
        noise = 1e-13 * self.problem.design.column_norms()
        over = (
            self.problem.penalty_factors.over(gradient, self.lambda1) > 1e-9 * self.lambda1 + noise
        )
        over[self.features] = False
        return np.flatnonzero(over)

    def _solve(self, sets: Sets) -> Values | None:
        """Weights, intercept, multipliers and dual variables for these sets."""
        kept, positive = sets.signs != 0, sets.positive
        rows = np.flatnonzero(sets.on_margin)
        alpha = np.where(sets.at_upper, self.losses.upper, 0.0)
        system = self._system(kept, rows, positive)
        penalty = np.where(sets.signs > 0, self.limits.up, self.limits.down)[kept]
        forced = (self.Z.T @ alpha[: self.n])[kept] - penalty * sets.signs[kept]
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
        q = self.losses.curvature[rows]
        return KktSystem(Z, C, d, self.labels[rows], self.ridge[kept], curvature, gram, q)

    def _gram(self, kept: np.ndarray, rows: np.ndarray) -> FloatArray | None:
        """Z Z' of these rows where many features are in, most of which were in before."""
        if (
            self.n > LARGEST_SYSTEM
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
        if not self.unpenalized.all():
            self._correct_features(sets, at)
        return sets.key() != before

    def _correct_rows(self, sets: Sets, at: Values) -> None:
        """Rows whose dual left its bounds leave the margin; those on the wrong side of it join."""
        residual = 1.0 - self.rows(at.w, at.b, at.u) - self.losses.curvature * at.alpha
        exact = EXACT * (1.0 + abs(at.b))
        low = sets.on_margin & (at.alpha < -EXACT * np.max(np.abs(at.alpha)))
        high = sets.on_margin & (at.alpha > (1 + EXACT) * self.losses.upper)
        back = sets.at_upper & (residual < -exact)
        enter = ~sets.on_margin & ~sets.at_upper & (residual > exact)
        if abs(self.labels @ at.alpha) > EXACT * self.losses.weights.sum():
            # no row holds the intercept; one that now leaves the margin must not join it as well
            held = ~sets.on_margin & (np.abs(residual) <= exact)
            enter, back = enter | (held & ~sets.at_upper), back | (held & sets.at_upper)
        sets.on_margin = (sets.on_margin & ~low & ~high) | back | enter
        sets.at_upper = (sets.at_upper & ~back) | high

    def _correct_multipliers(self, sets: Sets, at: Values) -> None:
        """Multipliers below zero become zero; those that the gradient raises become positive."""
        parts = self.C @ at.w, self.curvature @ at.u, self.thresholds.T @ at.alpha[self.n :]
        noise = EXACT * (1.0 + sum(np.abs(part) for part in parts))
        # where all of them are zero, none is compared with its rounding: what it adds to rows and
        # gradients, whose terms are about one, is
        effect = 1.0 + np.diag(self.curvature) + np.abs(self.thresholds).sum(axis=0)
        size = EXACT * np.maximum(np.max(np.abs(at.u), initial=0.0), 1.0 / effect)
        sets.positive = np.where(sets.positive, at.u >= -size, sum(parts) < -noise)

    def _correct_features(self, sets: Sets, at: Values) -> None:
        """Weights whose sign turned are out; those whose gradient exceeds it are in."""
        gradient = self.Z.T @ at.alpha[: self.n] - self.C.T @ at.u
        out = sets.signs == 0
        enter = out & (self.limits.over(gradient) > EXACT * self.lambda1 + 1e-13 * self.norms)
        sets.signs[~out & ~self.unpenalized & (at.w * sets.signs < 0)] = 0.0
        sets.signs[enter] = np.sign(gradient[enter])

    def _cleaned(self, at: Values) -> Values | None:
        """Without the last rounding; None where the sets stand on numbers that are none."""
        alpha = np.clip(at.alpha, 0.0, self.losses.upper)
        balanced = abs(self.labels @ alpha) <= 1e-10 * self.losses.weights.sum()
        if not balanced or not np.isfinite(at.w).all():
            return None
        u = np.maximum(at.u, 0.0)
        return Values(at.w, self._middle(at.w, u), u, alpha)


# --------------------------------------------------------------------------------------------------
# The elastic-net SVM (with rules) solved to a certificate over every feature.
#
# Working set: solve the problem on a few features with the interior point, as far as its active
# sets show; from there go to the optimum over all features (exact.py). Where that fails, check all
# features with one pass over X, add those whose gradient exceeds their penalty, and repeat with the
# interior point alone. At the end the duality gap covers every feature. This is the judge of phase
# 1, and a method of its own.


FIRST_SET = 64
LOOSE = (1e-2, 1e-5)  # by the first the active sets mostly show, by the second nearly always
FINE = 1e-13  # a feature on the brink is told apart by the root of this
SLACK = 1e-9  # a gradient may exceed lambda1 by this fraction before a feature counts as a violator
BRINK = 1e-9  # a feature whose gradient exceeds lambda1 by less is out


@dataclass(frozen=True)
class WorkingSetStep:
    """One round of the working set."""

    features: np.ndarray
    added: np.ndarray
    step: IpmStep


class WorkingSet:
    """Grows a set of features until no other one must join the model.

    After a round, `gradient` holds that of each weight at zero: at least lambda1 for those kept. It
    is counted so that this holds for features with penalties of their own, too.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        start: np.ndarray | None = None,
        tolerance: float = FINE,
        max_iterations: int = 60,
        max_rounds: int = 50,
        max_steps: int | None = None,
    ) -> None:
        self.problem, self.tolerance = problem, tolerance
        self.max_iterations, self.max_rounds = max_iterations, max_rounds
        self.left = max_steps if max_steps is not None else max_iterations * max_rounds
        self.passes, self._accuracy = 0, LOOSE[0]
        chosen = self._first_features() if start is None else start
        allowed = np.setdiff1d(chosen, problem.penalty_factors.excluded)
        self.features = np.union1d(allowed, problem.always_in).astype(int)
        self.ipm = self._solver()
        self.optimum: Optimum | None = None
        self.complete = False
        self.gradient = np.zeros(problem.n_features)

    def steps(self) -> Iterator[WorkingSetStep]:
        """One record for each interior-point iteration, over all rounds."""
        added = self.features
        for _ in range(self.max_rounds):
            for step in self.ipm.steps():
                self.left -= 1
                yield WorkingSetStep(self.features, added, step)
                added = np.zeros(0, dtype=int)
                if self.left <= 0:
                    return
            if self._reach_optimum():
                return
            added = self._violators()
            if added.size:
                self.features = np.union1d(self.features, added)
                self.ipm = self._solver()
            elif self.ipm.tolerance > self.tolerance:
                self._accuracy = next((t for t in LOOSE if t < self.ipm.tolerance), 0.0)
                self.ipm.tighten(max(self._accuracy, self.tolerance))
            else:
                self.complete = True
                return

    @property
    def limited(self) -> bool:
        """Whether a limit ended the run, and neither the tolerance nor rounding did."""
        return not self.complete or (self.optimum is None and self.ipm.limited)

    @property
    def weights(self) -> FloatArray:
        """The weights of `features`, and exactly zero for those that are out."""
        if self.optimum is not None:
            return clear_of_the_brink(self.problem, self.features, self.optimum.w)
        return clear_of_the_brink(self.problem, self.features, self.ipm.weights())

    @property
    def u(self) -> FloatArray:
        """Multipliers of the rules."""
        return np.maximum(self.ipm.point.u if self.optimum is None else self.optimum.u, 0.0)

    @property
    def alpha(self) -> FloatArray:
        """Dual variables of samples and rules."""
        return self.ipm.point.alpha if self.optimum is None else self.optimum.alpha

    @property
    def b(self) -> float:
        """The intercept; in the middle where several are best."""
        if self.optimum is not None:
            return self.optimum.b
        if not self.complete:
            return self.ipm.point.b
        scores = self.problem.design.columns(self.features) @ self.weights
        return middle_intercept(self.problem, scores, self.u)

    def _reach_optimum(self) -> bool:
        """Whether the active sets of the present iterate lead to the optimum over all features."""
        alpha, u = self.ipm.active_sets()
        w = self.weights
        kept = np.flatnonzero(w)
        found = optimum_from(self.problem, WarmStart(self.features[kept], w[kept], u, alpha))
        if found is None:
            return False
        self.optimum, self.features, self.complete = found, found.features, True
        self.gradient = self._drawn(found.gradient)
        return True

    def _first_features(self) -> np.ndarray:
        """Those of the largest gradient of the samples at w = 0."""
        loss, p = self.problem.loss, self.problem.p
        dual = np.r_[loss.dual(np.ones_like(p), p), np.zeros(self.problem.stack.n_rules)]
        gradient = self._gradient(dual, np.zeros(self.problem.stack.n_rows))
        count = min(FIRST_SET + self.problem.n_samples // 2, gradient.size)
        strongest = np.argpartition(-gradient, count - 1)[:count]
        return strongest[gradient[strongest] > 0]

    def _violators(self) -> np.ndarray:
        """Features outside whose gradient exceeds their penalty; of too many the strongest."""
        point = self.ipm.point
        self.gradient = self._gradient(point.alpha, point.u)
        gradient = self.gradient.copy()
        gradient[self.features] = -np.inf
        over = np.flatnonzero(gradient > self.problem.lambda1 * (1 + SLACK) + 1e-12)
        most = max(self.features.size, FIRST_SET)
        return over if over.size <= most else over[np.argpartition(-gradient[over], most)[:most]]

    def _gradient(self, alpha: FloatArray, u: FloatArray) -> FloatArray:
        """The gradients at these dual variables: one pass over the data."""
        self.passes += 1
        return self._drawn(gradient_on_all(self.problem, alpha, u))

    def _drawn(self, gradient: FloatArray) -> FloatArray:
        """The gradient, counted so that lambda1 is what lets any feature in."""
        lambda1 = self.problem.lambda1
        return self.problem.penalty_factors.over(gradient, lambda1) + lambda1

    def _solver(self) -> InteriorPoint:
        return InteriorPoint(
            self.problem,
            self.features,
            lambda1=self.problem.lambda1,
            tolerance=max(self.tolerance, self._accuracy),
            max_iterations=self.max_iterations,
        )


def clear_of_the_brink(problem: Problem, features: np.ndarray, w: FloatArray) -> FloatArray:
    """Without weights that are too small to tell from zero, so that all solvers agree on them.

    ridge |w| is what its gradient exceeds lambda1 by.
    """
    if problem.lambda1 == 0:
        return w
    return np.where(problem.ridge(features) * np.abs(w) > BRINK * problem.lambda1, w, 0.0)


# --------------------------------------------------------------------------------------------------
# The model without features: its dual variables, and the smallest lambda1 that leaves no feature.
#
# w = 0 is the optimum exactly when some optimal dual variables of the problem in (b, u)
# alone give no gradient beyond lambda1. They need not be unique: where one class outweighs the
# other, all patients of the larger class lie on their margin, and any share of the dual among them
# is optimal. The smallest lambda1 is then a linear program over the dual variables,
#
#     minimise t  subject to  -t <= X'Y alpha - C'u <= t,   alpha optimal for w = 0,
#
# solved on a few features at a time: those with a gradient beyond t join, until there are none.
#
# Features that pay nothing are in at every lambda1. The model is then the best one on these alone,
# and the smallest lambda1 is that which leaves no other feature. Where a feature has penalties of
# its own, t is that multiple of lambda1.


NONE = np.zeros(0, dtype=int)
ON_MARGIN = 1e-8
ABOVE = 1e-9  # relatively: gradients and objectives that differ by less are equal
AT_ONCE = 100  # features that join the linear program in one round


def empty_optimum(problem: Problem) -> Values:
    """The best model of the features that pay nothing (mostly none), and duals that prove it."""
    features = problem.penalty_factors.costless
    ipm = InteriorPoint(problem, features)
    point = ipm.run()
    alpha, u = ipm.active_sets()
    found = refined(problem, WarmStart(features, ipm.weights(), u, alpha))
    return found or Values(ipm.weights(), point.b, np.maximum(point.u, 0.0), point.alpha)


def lambda1_max(problem: Problem) -> float:
    """The smallest lambda1 that gives w = 0 on all features that pay."""
    return least_gradient(problem)[0]


def least_gradient(problem: Problem) -> tuple[float, FloatArray]:
    """The smallest lambda1 that gives w = 0 on all features that pay, and duals that show it."""
    at = empty_optimum(problem)
    at = at._replace(u=np.where(at.u > ON_MARGIN * np.max(at.u, initial=1.0), at.u, 0.0))
    stack, labels = problem.stack, np.r_[problem.y, problem.stack.of_b]
    scores = problem.design.columns(problem.penalty_factors.costless) @ at.w
    residual = np.r_[1.0 - problem.y * (scores + at.b), stack.slacks(at.b, at.u)]
    # with a curved conjugate a margin has one dual variable only
    free = (np.abs(residual) <= ON_MARGIN * (1.0 + abs(at.b))) & (problem.rows.curvature == 0)
    size = _needed(problem, gradient_on_all(problem, at.alpha, at.u))
    largest = float(np.max(size, initial=0.0))
    if free.sum() < 2 or largest == 0.0:
        return largest, at.alpha
    return _least_gradient(problem, at, free, labels, size)


def empty_answer(problem: Problem, objective: float) -> Optimum | None:
    """The model without features that pay, if it is the optimum; None where it is not.

    For where active sets go round in circles: at w = 0 the duals of rows on their margin are many,
    and few of them hold all features out. `objective` is that of a model near the optimum, which a
    model without features must reach before its duals are looked for.
    """
    at, features = empty_optimum(problem), problem.penalty_factors.costless
    scores = problem.design.columns(features) @ at.w
    b = middle_intercept(problem, scores, at.u)
    if problem.objective(features, at.w, scores, b, at.u) > objective * (1 + ABOVE):
        return None
    largest, alpha = least_gradient(problem)
    if largest > problem.lambda1 * (1 + ABOVE):
        return None
    return Optimum(features, at.w, b, at.u, alpha, gradient_on_all(problem, alpha, at.u))


def _needed(problem: Problem, gradient: FloatArray) -> FloatArray:
    """The lambda1 that holds each feature out at its gradient; zero for those that pay nothing."""
    needed = problem.penalty_factors.needed(gradient)
    needed[problem.penalty_factors.costless] = 0.0
    return needed


def _least_gradient(
    problem: Problem, at: Values, free: np.ndarray, labels: FloatArray, size: FloatArray
) -> tuple[float, FloatArray]:
    """The linear program; its value grows with the features until no other gradient is larger."""
    upper = problem.rows.upper
    best, found, working = float(np.max(size)), at.alpha, problem.penalty_factors.costless
    for _ in range(100):
        size[working] = 0.0
        working = np.union1d(working, np.argsort(-size)[:AT_ONCE])
        t, alpha_free = _solve(problem, at, free, labels, upper, working)
        if alpha_free is None:
            break
        alpha = at.alpha.copy()
        alpha[free] = alpha_free
        size = _needed(problem, gradient_on_all(problem, alpha, at.u))
        if float(size.max()) < best:
            best, found = float(size.max()), alpha
        if best <= t * (1 + 1e-9) + 1e-12:
            break
    return best, found


def _solve(
    problem: Problem,
    at: Values,
    free: np.ndarray,
    labels: FloatArray,
    upper: FloatArray,
    working: np.ndarray,
) -> tuple[float, FloatArray | None]:
    """Least largest gradient of the working features, and the duals of the free rows there."""
    n, stack, count = problem.n_samples, problem.stack, int(free.sum())
    fixed = np.where(free, 0.0, at.alpha)
    Z = np.zeros((free.size, working.size))
    Z[:n] = problem.design.columns(working) * problem.y[:, None]
    here, of = problem.rule_positions(working)
    base = Z.T @ fixed
    base[here] -= stack.coupling[:, of].T @ at.u
    up, down, own = _shares(problem, at, working)
    base -= own
    A = np.vstack([np.c_[Z[free].T, -up], np.c_[-Z[free].T, -down]])
    finite = np.isfinite(np.r_[up, down])
    # the multipliers u must stay optimal too: their gradient is zero, or not below it where u is
    D = np.vstack([np.zeros((n, stack.n_rows)), stack.thresholds])
    gradient, positive = D.T @ fixed + stack.curvature @ at.u, at.u > 0
    inside = np.hstack([D[free].T, np.zeros((stack.n_rows, 1))])
    found = linprog(
        np.r_[np.zeros(count), 1.0],
        A_ub=np.vstack([A[finite], -inside[~positive]]),
        b_ub=np.r_[np.r_[-base, base][finite], gradient[~positive]],
        A_eq=np.vstack([np.r_[labels[free], 0.0], inside[positive]]),
        b_eq=np.r_[-labels @ fixed, -gradient[positive]],
        bounds=[*((0.0, bound) for bound in upper[free]), (0.0, None)],
        method="highs",
    )
    return (float(found.fun), found.x[:-1]) if found.status == 0 else (0.0, None)


def _shares(
    problem: Problem, at: Values, working: np.ndarray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bounds of each gradient in multiples of t, and the part of it that the model balances."""
    up, down = problem.limits(working, 1.0)
    own, place = np.zeros(working.size), np.searchsorted(working, problem.penalty_factors.costless)
    own[place] = problem.ridge(problem.penalty_factors.costless) * at.w
    inside = own != 0
    return np.where(inside, 0.0, up), np.where(inside, 0.0, down), own
