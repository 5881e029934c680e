"""Phase 2: predictor-corrector interior point for the SVM and KSVM-P on a few features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from hipad.solvers.losses import SMALLEST_WEIGHT
from hipad.solvers.problem import Problem, RuleStack, SignPenalties
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# The problem on a few features as a soft-margin SVM in x = (w, b, u): each rule is one more row.
#
#     rows A x:   Z w + y b            of samples, where Z has the rows y_j x_j'
#                 -thresholds u + e b  of rules, e = 0 where a rule is centered
#     x'Qx / 2:   ridge w^2 / 2 + u'C w + u'curvature u / 2
#
# Whatever solves the problem on features that are known starts from these operators.


class Values(NamedTuple):
    """A point: weights, intercept, multipliers of the rules' conditions, duals of all rows."""

    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray


class Lifted:
    """The operators; `labels` and `losses` are those of all rows, samples first, then rules."""

    def __init__(self, problem: Problem, features: np.ndarray) -> None:
        stack = problem.stack
        self.n = problem.n_samples
        self.Z = problem.design.columns(features)
        self.Z *= problem.y[:, None]
        self.labels = np.r_[problem.y, stack.of_b]
        self.losses = problem.rows
        self.ridge = problem.ridge(features)
        at, of = problem.rule_positions(features)
        self.C = np.zeros((stack.n_rows, features.size))
        self.C[:, at] = stack.coupling[:, of]
        self.curvature, self.thresholds = stack.curvature, stack.thresholds

    def gradient(
        self, w: FloatArray, u: FloatArray, alpha: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the Lagrangian in w and u; `alpha` are multipliers of the rows."""
        samples, rules = alpha[: self.n], alpha[self.n :]
        in_w = self.ridge * w + self.C.T @ u - self.Z.T @ samples
        return in_w, self.C @ w + self.curvature @ u + self.thresholds.T @ rules

    def rows(self, w: FloatArray, b: float, u: FloatArray) -> FloatArray:
        """A x: margins of the samples, then of the rules."""
        return np.r_[self.Z @ w, -self.thresholds @ u] + self.labels * b


# --------------------------------------------------------------------------------------------------
# Points of the interior method: weights, intercept, and pairs whose products go to zero.
#
# Every inequality of the problem has a vector x >= 0 and a multiplier z >= 0, and at the optimum
# one of the two is zero. Between, both are positive; a step may go as far as that holds.


class ComplementaryPair(NamedTuple):
    """Two vectors whose entrywise product goes to zero; or matrices, one column per problem."""

    x: FloatArray
    z: FloatArray

    @property
    def product(self) -> FloatArray:
        return self.x * self.z

    def moved(self, by: ComplementaryPair, step: float | FloatArray) -> ComplementaryPair:
        """Return the pair a step further in this direction."""
        return ComplementaryPair(self.x + step * by.x, self.z + step * by.z)

    def max_step(self, by: ComplementaryPair) -> FloatArray:
        """Return the longest step, of each problem, that keeps both non-negative."""
        return np.minimum(_max_step(self.x, by.x), _max_step(self.z, by.z))


class InteriorIterate(NamedTuple):
    """A primal-dual point: pairs (alpha, s), (t, xi), (u, pi), and w+ and w- where weights pay.

    A direction has the same form.
    """

    w: FloatArray
    b: float
    pairs: tuple[ComplementaryPair, ...]

    @property
    def alpha(self) -> FloatArray:
        """Dual variables of the rows."""
        return self.pairs[0].x

    @property
    def u(self) -> FloatArray:
        """Multipliers of the rules."""
        return self.pairs[2].x

    @property
    def split(self) -> tuple[ComplementaryPair, ...]:
        """The pairs of w+ and w-; empty where no weight pays."""
        return self.pairs[3:]

    @property
    def complementarity(self) -> float:
        """Mean product over all pairs."""
        return float(np.concatenate([pair.product for pair in self.pairs]).mean())

    def max_step(self, by: InteriorIterate, most: float) -> float:
        """Longest step, up to `most`, that keeps all pairs non-negative."""
        pairs = zip(self.pairs, by.pairs, strict=True)
        return min(most, *(float(pair.max_step(d)) for pair, d in pairs))

    def moved(self, by: InteriorIterate, step: float) -> InteriorIterate:
        """The point a step further in this direction."""
        pairs = tuple(pair.moved(d, step) for pair, d in zip(self.pairs, by.pairs, strict=True))
        return InteriorIterate(self.w + step * by.w, self.b + step * by.b, pairs)


def _max_step(x: FloatArray, dx: FloatArray) -> FloatArray:
    shrinking = dx < 0
    ratio = np.divide(-x, dx, out=np.full(x.shape, np.inf), where=shrinking)
    return np.asarray(np.min(ratio, axis=0, initial=np.inf))


# --------------------------------------------------------------------------------------------------
# Weights that are penalized, as differences of two parts: w = w+ - w-, both >= 0.
#
# The penalty is then linear: up on w+, down on w-. A part whose penalty is infinite is not there,
# so a weight with one forbidden sign has one part; a weight that pays nothing has none and stays as
# it is. Each part has a multiplier z, which is what the gradient lacks to its penalty:
#
#     gradient of the rest = z+ - up = down - z-
#
# The parts of all features are two pairs (w+, z+) and (w-, z-) of vectors, or none at all where no
# weight pays.


SIGNS = (1.0, -1.0)  # of w+ and w- in w
NONE = np.zeros(0)


class SignedParts:
    """Which features have a part w+, which a part w-: the two masks in `sides`, or no mask."""

    def __init__(self, limits: SignPenalties) -> None:
        self.limits = limits
        paying = ~limits.unpenalized
        parts = tuple(paying & np.isfinite(penalty) for penalty in limits)
        self.sides = parts if paying.any() else ()

    def start(self, size: float, level: float) -> list[ComplementaryPair]:
        """Return parts of one size, multipliers at the penalties (`level` where they are zero)."""
        pairs = []
        for side, penalty in zip(self.sides, self.limits, strict=False):
            z = np.where(penalty[side] > 0, penalty[side], level)
            pairs.append(ComplementaryPair(np.full(z.size, size), z))
        return pairs

    def near(self, w: FloatArray, least: float, level: float) -> list[ComplementaryPair]:
        """The parts of known weights, each at least `least`, and multipliers of product `level`."""
        pairs = []
        for side, sign in zip(self.sides, SIGNS, strict=False):
            x = np.maximum(sign * w[side], least)
            pairs.append(ComplementaryPair(x, level / x))
        return pairs

    def lacking_weights(self, w: FloatArray, split: Sequence[ComplementaryPair]) -> FloatArray:
        """What is missing in w = w+ - w-."""
        if not split:
            return NONE
        plus, minus = (spread(pair.x, side) for side, pair in self._own(split))
        return np.where(self.limits.unpenalized, 0.0, plus - minus - w)

    def lacking_penalties(
        self, gradient: FloatArray, split: Sequence[ComplementaryPair]
    ) -> tuple[FloatArray, ...]:
        """What is missing in: the gradient of each part of w is its multiplier less its penalty."""
        terms = zip(self.sides, self.limits, SIGNS, split, strict=False)
        return tuple(
            pair.z - penalty[side] - sign * gradient[side] for side, penalty, sign, pair in terms
        )

    def ratios(self, split: Sequence[ComplementaryPair]) -> tuple[FloatArray, ...]:
        """w+/z+ and w-/z- on all features, zero where there is no such part."""
        return tuple(spread(pair.x / pair.z, side) for side, pair in self._own(split))

    def weights(
        self, w: FloatArray, split: Sequence[ComplementaryPair], ridge: FloatArray
    ) -> FloatArray:
        """The weights, and exactly zero for those whose penalty holds them there."""
        if not split:
            return w
        (plus, z_plus), (minus, z_minus) = (
            [spread(values, side) for values in pair] for side, pair in self._own(split)
        )
        kept = (ridge * plus > z_plus) | (ridge * minus > z_minus)
        return np.where(self.limits.unpenalized, w, np.where(kept, plus - minus, 0.0))

    def _own(
        self, split: Sequence[ComplementaryPair]
    ) -> Iterator[tuple[np.ndarray, ComplementaryPair]]:
        return zip(self.sides, split, strict=True)


def spread(values: FloatArray, where: np.ndarray) -> FloatArray:
    """The values at the places that `where` marks, zero elsewhere."""
    full = np.zeros(where.size)
    full[where] = values
    return full


# --------------------------------------------------------------------------------------------------
# The Newton system of the interior point, and how a solution of it is made exact.
#
# Unknowns (dw, db, du, dalpha), with k weights, K multipliers of rules and N + R rows:
#
#  ridge' dw + C'du - Z'dalpha_N                 = r_w        ridge' = ridge (+ phi of the split)
#  C dw + (curvature + pi/u) du + d dalpha_R     = r_u
#  - labels'dalpha                               = r_b
#  A (dw, db, du) + D dalpha                     = r_rows     D = s/alpha + xi/t
#
# Where a weight is split, w = w+ - w-, its parts are eliminated first: phi = 1/(w+/z+ + w-/z-),
# with the parts that are there.
#
# What is left is solved in one of two forms (interior_point.py). The solution is then refined on
# the system above, which undoes what elimination lost.


class Residuals(NamedTuple):
    """Residuals of the optimality conditions; `parts` those of w+ and w-, where they are there."""

    w: FloatArray
    parts: tuple[FloatArray, ...]
    b: float
    u: FloatArray
    rows: FloatArray
    t: FloatArray
    split: FloatArray


class Scaling(NamedTuple):
    """Diagonals that change from iteration to iteration.

    `split` are w+/z+ and w-/z- on all features, zero where there is no such part; `sides` say which
    features have a part w+, and which a part w-. Both are empty where no feature has any.
    """

    rows: FloatArray
    u: FloatArray
    split: tuple[FloatArray, ...] = ()
    sides: tuple[np.ndarray, ...] = ()


class Step(NamedTuple):
    """A solution of the Newton system; `parts` are the steps of w+ and w- where w is split."""

    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray
    parts: tuple[FloatArray, ...] = ()

    def moved(self, by: Step) -> Step:
        """This step and another one on top of it; the parts are found afterwards."""
        return Step(self.w + by.w, self.b + by.b, self.u + by.u, self.alpha + by.alpha)


class Newton(Lifted):
    """What all ways to solve the system share: the split of |w| and the refinement."""

    def factorize(self, scaling: Scaling) -> None:
        """Prepare `solve` for these diagonals."""
        self.D, self.theta_u, self.split, self.sides = scaling
        self.effective_ridge = self.ridge
        if self.split:
            diagonal = self.split[0] + self.split[1]
            self.bounded = self.sides[0] | self.sides[1]
            self.phi = np.where(self.bounded, 1.0 / np.where(self.bounded, diagonal, 1.0), 0.0)
            self.effective_ridge = self.ridge + self.phi
        self._factorize()

    def solve(
        self, r: Residuals, *, rows: FloatArray, u: FloatArray, parts: list[FloatArray]
    ) -> Step:
        """Newton step; `rows`, `u` and `parts` already hold the complementarity targets."""
        if not self.split:
            return self._refined(r.w, r.b, u, rows)
        e_plus, e_minus = (spread(e, side) for e, side in zip(parts, self.sides, strict=True))
        plus, minus = self.split
        w = np.where(self.bounded, self.phi * (e_plus * plus - e_minus * minus + r.split), r.w)
        step = self._refined(w, r.b, u, rows)
        # g is the change of the gradient that w+ and w- share with opposite signs
        g = w - self.phi * step.w
        moved = (e_plus - g) * plus, (e_minus + g) * minus
        compact = tuple(part[side] for part, side in zip(moved, self.sides, strict=True))
        return step._replace(parts=compact)

    def _refined(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        step = self._solve(w, b, u, rows)
        size = largest(w, b, u, rows)
        for _ in range(3):
            residual = self._residual(step, w, b, u, rows)
            if not largest(*residual) > 1e-13 * size:
                break
            more = self._solve(*residual)
            better = step.moved(more)
            if not largest(*self._residual(better, w, b, u, rows)) < 0.5 * largest(*residual):
                break
            step = better
        return step

    def _residual(
        self, step: Step, w: FloatArray, b: float, u: FloatArray, rows: FloatArray
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        samples, rules = step.alpha[: self.n], step.alpha[self.n :]
        in_w = self.effective_ridge * step.w + self.C.T @ step.u - self.Z.T @ samples
        in_u = self.C @ step.w + self.curvature @ step.u + self.theta_u * step.u
        in_u += self.thresholds.T @ rules
        in_rows = self.rows(step.w, step.b, step.u) + self.D * step.alpha
        return w - in_w, b + float(self.labels @ step.alpha), u - in_u, rows - in_rows

    def _factorize(self) -> None:
        raise NotImplementedError

    def _solve(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        raise NotImplementedError


def largest(*parts: FloatArray | float) -> float:
    """Largest absolute value in any of the parts."""
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


# --------------------------------------------------------------------------------------------------
# The two ways to solve the Newton system by a Cholesky factor: which unknowns go first.
#
# `DualNewton` eliminates w and u: one factor of size N + R on a Gram matrix that is formed once, u
# by a K x K solve, b by bordering. `PrimalNewton` eliminates alpha: one factor of size k + K + 1.
# Which one is cheaper depends on the numbers of rows and features alone.


STATIC_REGULARISATION = 1e-16
LARGEST_OTHER = 4000


def newton_system(problem: Problem, features: np.ndarray) -> Newton:
    """The cheaper form: the dual while N is at most twice the number of features."""
    dual = problem.n_samples + problem.stack.n_rules <= 2 * features.size + 64
    return DualNewton(problem, features) if dual else PrimalNewton(problem, features)


def other_form(problem: Problem, features: np.ndarray, newton: Newton) -> Newton | None:
    """The form that is not this one, unless its factor would be large.

    A matrix that rounding spoils in one form is mostly a harmless one in the other.
    """
    rows = problem.n_samples + problem.stack.n_rules
    if isinstance(newton, DualNewton):
        small = features.size + problem.stack.n_rows < LARGEST_OTHER
        return PrimalNewton(problem, features) if small else None
    return DualNewton(problem, features) if rows < LARGEST_OTHER else None


class DualNewton(Newton):
    """Elimination of w and u: size N + R."""

    hC: FloatArray
    V: FloatArray
    _inner_base: FloatArray
    _of_rows: FloatArray
    _gram: FloatArray | None = None
    _ready = False

    def _factorize(self) -> None:
        if self.split or not self._ready:  # without a split the ridge stays as it is
            self._eliminate_w()
            self._ready = True
        K = self.C.shape[0]
        M = np.array(self._of_rows)
        if K:
            inner = self._inner_base.copy()
            inner.ravel()[:: K + 1] += self.theta_u
            self._inner = cholesky(inner)
            self._UV = solve_cholesky(self._inner, self.V.T)
            M += self.V @ self._UV
        M.ravel()[:: M.shape[0] + 1] += self.D
        self._factor = cholesky(M)
        self._border = solve_cholesky(self._factor, self.labels)
        self._pivot = float(self.labels @ self._border)

    def _eliminate_w(self) -> None:
        """What depends on the ridge alone."""
        h = 1.0 / self.effective_ridge
        self.hC = h * self.C
        self._inner_base = self._inner = self.curvature - self.hC @ self.C.T
        self.V = np.vstack([-self.Z @ self.hC.T, -self.thresholds])
        self._UV = self.V.T
        rows = self.V.shape[0]
        self._of_rows = np.zeros((rows, rows))
        self._of_rows[: self.n, : self.n] = self._weighted_gram(h)

    def _weighted_gram(self, h: FloatArray) -> FloatArray:
        """The upper triangle of Z diag(h) Z'; h only changes where w is split."""
        if self.split and self.bounded.all():
            return _gram_of(self.Z, h)
        if self._gram is None:
            free = ~self.bounded if self.split else slice(None)
            self._gram = _gram_of(self.Z[:, free], h[free])
        if not self.split:
            return self._gram
        return self._gram + _gram_of(self.Z[:, self.bounded], h[self.bounded])

    def _solve(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        hw = w / self.effective_ridge
        reduced_u = u - self.C @ hw
        reduced = rows - self._UV.T @ reduced_u
        reduced[: self.n] -= self.Z @ hw
        first = solve_cholesky(self._factor, reduced)
        db = (float(self.labels @ first) + b) / self._pivot
        alpha = first - db * self._border
        du = solve_cholesky(self._inner, reduced_u + self.V.T @ alpha)
        dw = (w - self.C.T @ du + self.Z.T @ alpha[: self.n]) / self.effective_ridge
        return Step(dw, db, du, alpha)


def _gram_of(Z: FloatArray, h: FloatArray) -> FloatArray:
    """The upper triangle of Z diag(h) Z', which is all that `cholesky` reads."""
    if Z.shape[1] == 0:
        return np.zeros((Z.shape[0], Z.shape[0]))
    return np.asarray(dsyrk(1.0, Z * np.sqrt(h), lower=1).T)


class PrimalNewton(Newton):
    """Elimination of alpha: size k + K + 1."""

    def _factorize(self) -> None:
        k, n = self.Z.shape[1], self.n
        K = self.curvature.shape[0]
        samples, rules = 1.0 / self.D[:n], 1.0 / self.D[n:]
        H = np.zeros((k + K + 1, k + K + 1), order="F")
        weighted = samples[:, None] * self.Z
        H[:k, :k] = self.Z.T @ weighted + np.diag(self.effective_ridge)
        H[k:-1, :k], H[:k, k:-1] = self.C, self.C.T
        H[k:-1, k:-1] = self.curvature + np.diag(self.theta_u)
        H[k:-1, k:-1] += (self.thresholds.T * rules) @ self.thresholds
        H[-1, :k] = self.labels[:n] @ weighted
        H[-1, k:-1] = -(self.labels[n:] * rules) @ self.thresholds
        H[:-1, -1] = H[-1, :-1]
        H[-1, -1] = samples.sum() + self.labels[n:] ** 2 @ rules
        self._factor = cholesky(H)

    def _solve(self, w: FloatArray, b: float, u: FloatArray, rows: FloatArray) -> Step:
        k, n, weighted = self.Z.shape[1], self.n, rows / self.D
        rhs = np.r_[
            w + self.Z.T @ weighted[:n],
            u - self.thresholds.T @ weighted[n:],
            b + self.labels @ weighted,
        ]
        x = solve_cholesky(self._factor, rhs)
        dw, du, db = x[:k], x[k:-1], float(x[-1])
        return Step(dw, db, du, (rows - self.rows(dw, db, du)) / self.D)


def cholesky(M: FloatArray) -> FloatArray:
    """Lower factor of a symmetric matrix, of which the upper triangle is read and overwritten;
    raises LinAlgError.
    """
    if M.shape[0] == 0:
        return M
    diagonal = np.einsum("ii->i", M)
    diagonal += STATIC_REGULARISATION * np.abs(diagonal)
    factor, info = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    if info != 0:
        raise np.linalg.LinAlgError("the Newton matrix is not positive definite")
    return factor


def solve_cholesky(factor: FloatArray, rhs: FloatArray) -> FloatArray:
    """Solution with a factor from `cholesky`."""
    if factor.shape[0] == 0:
        return np.zeros_like(rhs)
    solution, _ = dpotrs(factor, rhs, lower=1)
    return solution


# --------------------------------------------------------------------------------------------------
# Phase 2: predictor-corrector interior point for the SVM and KSVM-P on a few features.
#
# The problem is a soft-margin SVM in lifted variables x = (w, b, u): each rule is one more row.
#
#     minimise    1/2 x'Qx + lambda1 |w|_1 + C'xi
#     subject to  A x + xi >= 1,   xi >= 0,   u >= 0
#     rows of A:  [ y_j x_j', y_j, 0   ]   weight p_j          (samples)
#                 [ 0',      e_i, -d_i'] weight sigma_i      (rules)
#     Q:          diag(ridge) on w,  coupling C' between w and u,  curvature on u
#
# Dual:  maximise  e'alpha - 1/2 x'Qx   subject to   0 <= alpha <= C,   Qx - A'alpha = (0, 0, pi),
# pi >= 0. A weight that pays for its sign is split, w = w+ - w-, both >= 0, and its part of Qx -
# A'alpha may lie within its penalties (interior_point.py).
#
# Each iteration (Mehrotra):
#
#     1. factorise the Newton system (interior_point.py), once
#     2. predictor: aim at complementarity zero, and see how far the step goes
#     3. centring parameter sigma = (mu_affine / mu)^3
#     4. corrector: aim at sigma mu, with the second-order term of the predictor
#     5. one common step length, 0.995 of the way to the boundary
#
# Far from the path the second-order term can go in circles: where complementarity did not fall, the
# next step is a centred one without it.
#
# t = C - alpha is an iterate of its own: recomputing it cancels to zero near the bound.


STEP_FACTOR = 0.995
LONGEST = 1.0 / STEP_FACTOR
SHORTEST = 1e-12  # a step of less leads nowhere
WARM = 0.1  # how far inside a warm start begins
RESIDUALS = 1e-10
STALLED = 0.9  # of the least complementarity so far: where it is not below, the corrector failed,
CENTRED = 0.3  # and a plain step aims at this part of it, for all products alike


def typical_multiplier(stack: RuleStack) -> float:
    """Return a multiplier u with which the slack of a rule is about one."""
    d = np.abs(stack.d)
    return float(1.0 / max(np.median(d), 1e-3)) if d.size else 1.0


@dataclass(frozen=True)
class IpmStep:
    """Progress of one iteration, relative to the size of the problem."""

    iteration: int
    complementarity: float
    primal_residual: float
    dual_residual: float
    step: float


class InteriorPoint:
    """Solves the problem restricted to `features`; iterate over `steps()` or call `run()`.

    None of the features may be one that is kept out.
    """

    def __init__(
        self,
        problem: Problem,
        features: np.ndarray,
        *,
        lambda1: float = 0.0,
        tolerance: float = 1e-10,
        max_iterations: int = 60,
        warm: Values | None = None,
    ) -> None:
        self.problem, self.features = problem, features
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.newton = newton_system(problem, features)
        self.limits = problem.limits(features, lambda1)
        self.parts = SignedParts(self.limits)
        # A weight of zero leaves its row no interior; one of this size moves no objective.
        weights, upper, self.curvature = self.newton.losses
        self.weights_of_rows = np.maximum(weights, SMALLEST_WEIGHT)
        bounded = np.isfinite(upper)
        self.bounded = slice(None) if bounded.all() else np.flatnonzero(bounded)
        self.upper = np.maximum(upper, SMALLEST_WEIGHT)
        self.point = self._start() if warm is None else self._warm_start(warm)
        self.converged, self.iterations = False, 0
        self._least = np.inf
        self._known: tuple[InteriorIterate, Residuals] | None = None

    @property
    def limited(self) -> bool:
        """Whether the limit on iterations ended the run."""
        return not self.converged and self.iterations >= self.max_iterations

    def tighten(self, tolerance: float) -> None:
        """Let a run that has converged go on to a smaller tolerance."""
        self.tolerance, self.converged = tolerance, False

    def run(self) -> InteriorIterate:
        """Iterate to the tolerance, or as far as it goes."""
        for _ in self.steps():
            pass
        return self.point

    def steps(self) -> Iterator[IpmStep]:
        """One record for each iteration."""
        while self.iterations < self.max_iterations and not self.converged:
            record = self._advance()
            if record is None:
                return
            yield record

    def _advance(self) -> IpmStep | None:
        """One predictor-corrector step; None when rounding leaves no step to take."""
        now = self.point
        residuals, scaling = self.residuals(now), self._scaling(now)
        for newton in self._forms():
            self.newton = newton
            try:
                newton.factorize(scaling)
            except np.linalg.LinAlgError:
                continue
            direction = self._direction(now, residuals, self._targets(now, residuals))
            step = min(1.0, STEP_FACTOR * now.max_step(direction, LONGEST))
            if np.isfinite(step) and step >= SHORTEST and np.isfinite(direction.b):
                self.point = now.moved(direction, step)
                self._least = min(self._least, now.complementarity)
                self.iterations += 1
                return self._record(step)
        return None

    def _forms(self) -> Iterator[Newton]:
        """The present form of the Newton system, and the other one for when rounding spoils it."""
        yield self.newton
        other = other_form(self.problem, self.features, self.newton)
        if other is not None:
            yield other

    def _targets(self, now: InteriorIterate, residuals: Residuals) -> list[FloatArray]:
        """The change of all products that is aimed at: Mehrotra's, unless that goes in circles."""
        mu = now.complementarity
        if mu > STALLED * self._least:
            return [CENTRED * mu - pair.product for pair in now.pairs]
        affine = self._direction(now, residuals, [-pair.product for pair in now.pairs])
        mu_affine = now.moved(affine, now.max_step(affine, LONGEST)).complementarity
        centring = min((mu_affine / mu) ** 3, 1.0) * mu
        return [
            centring - pair.product - by.product
            for pair, by in zip(now.pairs, affine.pairs, strict=True)
        ]

    def residuals(self, at: InteriorIterate) -> Residuals:
        """What is missing to feasibility, row by row; kept, as a step asks where the last ended."""
        if self._known is None or self._known[0] is not at:
            self._known = at, self._residuals(at)
        return self._known[1]

    def _residuals(self, at: InteriorIterate) -> Residuals:
        (alpha, s), (t, xi), (u, pi) = at.pairs[:3]
        gradient_w, gradient_u = self.newton.gradient(at.w, u, alpha)
        rows = 1.0 - self.newton.rows(at.w, at.b, u) + s - self.curvature * alpha
        rows[self.bounded] -= xi
        return Residuals(
            w=-gradient_w,
            parts=self.parts.lacking_penalties(gradient_w, at.split),
            b=float(self.newton.labels @ alpha),
            u=pi - gradient_u,
            rows=rows,
            t=(self.upper - alpha)[self.bounded] - t,
            split=self.parts.lacking_weights(at.w, at.split),
        )

    def active_sets(self) -> tuple[FloatArray, FloatArray]:
        """Dual variables and u, each put on its bound where the other of its pair is larger."""
        (alpha, s), (t, xi), (u, pi), *_ = self.point.pairs
        weights, at_upper = self.weights_of_rows, np.zeros(alpha.size, dtype=bool)
        at_upper[self.bounded] = t < self.upper[self.bounded] * xi
        alpha = np.where(alpha < weights * s, 0.0, np.where(at_upper, self.upper, alpha))
        return alpha, np.where(u > pi, u, 0.0)

    def weights(self) -> FloatArray:
        """The weights, and exactly zero for those whose penalty holds them there."""
        return self.parts.weights(self.point.w, self.point.split, self.newton.ridge)

    def _record(self, step: float) -> IpmStep:
        r, mu = self.residuals(self.point), self.point.complementarity
        primal = largest(r.rows, r.split)
        free = r.w[self.limits.unpenalized]
        dual = largest(free, *r.parts, r.u, r.t, r.b) / self._dual_scale()
        gap = mu * sum(pair.x.size for pair in self.point.pairs) / self.scale
        residuals = max(RESIDUALS, 1e-2 * self.tolerance)
        self.converged = gap < self.tolerance and max(primal, dual) < residuals
        return IpmStep(self.iterations, gap, primal, dual, step)

    @property
    def scale(self) -> float:
        """Size of the objective, for relative gaps; with one class alone its minimum is zero."""
        return max(float(self.point.alpha.sum()), 1e-8 * float(self.weights_of_rows.sum()))

    def _dual_scale(self) -> float:
        """The weights of rows, unless stiff rules make terms whose rounding is more."""
        terms = largest(self.newton.ridge * self.point.w, self.newton.curvature @ self.point.u)
        return max(float(self.weights_of_rows.max()), 1e-4 * terms)

    def _start(self) -> InteriorIterate:
        """Well inside: every row slack by one, every dual in the middle."""
        k, half = self.features.size, 0.5 * self.weights_of_rows
        ones = np.ones(half.size)
        level = float(np.mean(half)) if half.size else 1.0
        u = np.full(self.problem.stack.n_rows, typical_multiplier(self.problem.stack))
        pairs = (
            ComplementaryPair(half, ones),
            self._cap(half, ones),
            ComplementaryPair(u, level / u),
        )
        split = self.parts.start(1.0 / max(np.sqrt(k), 1.0), level)
        return InteriorIterate(np.zeros(k), 0.0, (*pairs, *split))

    def _warm_start(self, near: Values) -> InteriorIterate:
        """Near a known point, but well inside: duals, slacks and multipliers keep some room."""
        level = WARM * float(np.mean(self.weights_of_rows))
        alpha = np.clip(near.alpha, WARM * self.weights_of_rows, (1 - WARM) * self.upper)
        u = np.maximum(near.u, WARM * typical_multiplier(self.problem.stack))
        residual = 1.0 - self.newton.rows(near.w, near.b, u) - self.curvature * alpha
        short, over = np.maximum(residual, 0.0) + WARM, np.maximum(-residual, 0.0) + WARM
        pairs = (
            ComplementaryPair(alpha, over),
            self._cap(alpha, short),
            ComplementaryPair(u, level / u),
        )
        split = self.parts.near(near.w, WARM / max(np.sqrt(near.w.size), 1.0), level)
        return InteriorIterate(near.w, near.b, (*pairs, *split))

    def _cap(self, alpha: FloatArray, xi: FloatArray) -> ComplementaryPair:
        """The pair (t, xi) of the rows whose dual variable is bounded, t = upper - alpha."""
        return ComplementaryPair((self.upper - alpha)[self.bounded], xi[self.bounded])

    def _scaling(self, at: InteriorIterate) -> Scaling:
        (alpha, s), (t, xi), (u, pi) = at.pairs[:3]
        rows = s / alpha + self.curvature
        rows[self.bounded] += xi / t
        return Scaling(
            rows=rows,
            u=pi / u,
            split=self.parts.ratios(at.split),
            sides=self.parts.sides,
        )

    def _direction(
        self, at: InteriorIterate, r: Residuals, targets: list[FloatArray]
    ) -> InteriorIterate:
        """Newton step for the given residuals and complementarity targets."""
        (alpha, s), (t, xi), (u, pi), *split = at.pairs
        goal_alpha, goal_t, goal_u, *goal_split = targets
        rows = r.rows + goal_alpha / alpha
        rows[self.bounded] -= (goal_t - xi * r.t) / t
        dw, db, du, dalpha, parts = self.newton.solve(
            r,
            rows=rows,
            u=r.u + goal_u / u,
            parts=[
                residual + goal / pair.x
                for residual, goal, pair in zip(r.parts, goal_split, split, strict=True)
            ],
        )
        dt = r.t - dalpha[self.bounded]
        pairs = [
            ComplementaryPair(dalpha, (goal_alpha - s * dalpha) / alpha),
            ComplementaryPair(dt, (goal_t - xi * dt) / t),
            ComplementaryPair(du, (goal_u - pi * du) / u),
        ]
        for pair, goal, dx in zip(split, goal_split, parts, strict=True):
            pairs.append(ComplementaryPair(dx, (goal - pair.z * dx) / pair.x))
        return InteriorIterate(dw, db, tuple(pairs))
