"""Certificates: how far from the optimum at most, and which features are surely in or out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from hipad.solvers.exact import least_gradient
from hipad.solvers.problem import Problem, SignPenalties
from hipad.utils import FloatArray, html_table

# --------------------------------------------------------------------------------------------------
# Certificates: how far a result is, at most, from the optimum, whatever found it.
#
# The primal value is F itself, evaluated at the result with u >= 0: an upper bound on the minimum.
# The dual value is a lower bound. For dual variables alpha of the rows (samples and rules) in [0,
# upper] with labels'alpha = 0 it is
#
#     D(alpha) = e'alpha + min over w and u >= 0 of
#                1/2 w'ridge w + penalty |w| + u'C w + 1/2 u'curvature u
#                - (Z'alpha)'w + (d alpha)'u.
#
# Given u the best w is a soft threshold, feature by feature (one-sided where a sign is forbidden),
# so what is left is a convex problem in the few multipliers u. It is solved by projected Newton
# steps; how far the last one still went is part of the certificate (`dual_residual`).


UNDECIDED = "phase 1 ended before its optimum: phase 2 is solved, on features that may change"
SOLVED_GAP = 1e-7  # relative: what "solved" means, whatever solved it


class Status(StrEnum):
    """How a run ended. Never shown as another one."""

    SOLVED = "solved"
    INACCURATE = "inaccurate"
    STOPPED = "stopped by the user"
    LIMIT = "iteration limit"


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimum, and what is missing to feasibility.

    Parameters
    ----------
    status : Status
        How the run ended.
    primal_objective : float
        The objective at the result: an upper bound of its minimum.
    dual_objective : float
        A lower bound of the minimum.
    gap : float
        The difference of the two, relative.
    primal_residual : float
        What the copies of the ADMM, or the slacks of the interior point, are short of.
    dual_residual : float
        What the stationarity of the dual point is short of.
    complementarity : float
        The largest product of a slack and its multiplier.
    covers : str
        What the bounds speak of: all features, or those that phase 1 kept.
    message : str, default=""
        A remark on how the run ended.
    selection_gap : float, default=0.0
        The gap of phase 1 over all features: how far their choice is, at most, from the best.
    certain : int, default=0
        Features that are proved to be in at the optimum of phase 1.
    undecided : int, default=0
        Features that may be in or out; all others are proved to be out. `Hipad.certainty()` names
        them.

    See Also
    --------
    HIPADClassifier : Keeps one in `certificate_`.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> clf = HIPADClassifier(lambda1=0.01).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> clf.certificate_.is_optimal(), str(clf.certificate_.status), clf.certificate_.undecided
    (True, 'solved', 0)
    """

    status: Status
    primal_objective: float
    dual_objective: float
    gap: float
    primal_residual: float
    dual_residual: float
    complementarity: float
    covers: str
    message: str = ""
    selection_gap: float = 0.0
    certain: int = 0
    undecided: int = 0

    def is_optimal(self, eps: float = 1e-6) -> bool:
        """Whether the relative gaps and the residuals are all within eps."""
        parts = (self.gap, self.selection_gap, self.primal_residual, self.dual_residual)
        return max(parts) <= eps

    def after(self, selection: Certificate) -> Certificate:
        """This certificate of phase 2, and what is known of the choice of its features."""
        status, message = self.status, self.message
        if status is Status.SOLVED and selection.status is not Status.SOLVED:
            status, message = selection.status, selection.message or UNDECIDED
        return replace(
            self,
            status=status,
            message=message,
            selection_gap=selection.gap,
            certain=selection.certain,
            undecided=selection.undecided,
        )

    def as_dict(self) -> dict[str, float | str]:
        """Plain numbers and words, for files and tables."""
        return {**asdict(self), "status": str(self.status)}

    def _repr_html_(self) -> str:
        """The certificate as a table, for notebooks."""
        rows = [
            ("objective", f"{self.primal_objective:.6g}"),
            ("optimum, at least", f"{self.dual_objective:.6g}"),
            ("at most above it, relative", f"{self.gap:.1e}, over {self.covers}"),
            ("choice of features, at most", f"{self.selection_gap:.1e} above the best"),
            ("features proved in", f"{self.certain:,}"),
            ("features undecided", f"{self.undecided:,}"),
            ("residuals", f"{self.primal_residual:.1e} and {self.dual_residual:.1e}"),
        ]
        return html_table(
            (),
            [*rows, *([("remark", self.message)] * bool(self.message))],
            (f"Certificate: {self.status}"),
        )

    def __str__(self) -> str:
        text = (
            f"{self.status}: objective {self.primal_objective:.6g}, at most "
            f"{self.gap:.1e} (relative) above the optimum over {self.covers}"
        )
        if self.selection_gap > 0:
            text += f"; their choice is at most {self.selection_gap:.1e} above the best one"
        if self.certain or self.undecided:
            text += f" ({self.certain:,} certain, {self.undecided:,} undecided)"
        return text


def relative_gap(primal: float, dual: float) -> float:
    """(primal - dual) / max(1e-10, |primal|), never negative."""
    return max(primal - dual, 0.0) / max(abs(primal), abs(dual), 1e-10)


def feasible_duals(problem: Problem, alpha: FloatArray) -> FloatArray:
    """Nearest duals (along the labels) that lie in their boxes and balance: labels'alpha = 0."""
    labels = np.r_[problem.y, problem.stack.of_b]
    ceiling = np.r_[problem.rows.upper[: problem.n_samples], problem.stack.ceilings]
    size = np.where(np.isfinite(ceiling), ceiling, np.maximum(alpha, 0.0))

    def clipped(theta: float) -> FloatArray:
        return np.clip(alpha - theta * labels, 0.0, ceiling)

    if abs(labels @ clipped(0.0)) <= 1e-16 * size.sum():
        return clipped(0.0)
    low, high = -float(size.max()) * 2, float(size.max()) * 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        if labels @ clipped(middle) > 0:
            low = middle
        else:
            high = middle
        if high - low <= 1e-18:
            break
    return clipped(0.5 * (low + high))


def dual_value(
    problem: Problem,
    alpha: FloatArray,
    u: FloatArray,
    *,
    lambda1: float,
    features: np.ndarray | None = None,
    gradient: FloatArray | None = None,
) -> tuple[float, float]:
    """D(alpha), less what its inner minimum may be short of, and that; from a guess u.

    `features` restricts the problem to some features; without it all of X is read once. `gradient`
    is X'Y alpha on these features, where it is known.
    """
    n, stack = problem.n_samples, problem.stack
    signed = problem.y * alpha[:n]
    if gradient is None and features is None:
        gradient = problem.design.correlate(signed)
    elif gradient is None:
        gradient = problem.design.columns(features).T @ signed
    features = np.arange(problem.n_features) if features is None else features
    at, of = problem.rule_positions(features)
    ridge = problem.ridge(features)
    outside = np.ones(features.size, dtype=bool)
    outside[at] = False
    limits = problem.limits(features, lambda1)
    rest = limits.shrink(gradient)[outside] ** 2 / ridge[outside]
    inner = _RuleMinimum(
        correlation=gradient[at],
        ridge=ridge[at],
        C=stack.coupling[:, of],
        curvature=stack.curvature,
        linear=stack.thresholds.T @ alpha[n:],
        limits=SignPenalties(limits.up[at], limits.down[at]),
    )
    value, accuracy = inner.solve(np.maximum(u, 0.0))
    linear = float(alpha.sum()) - problem.rows.conjugate(alpha)
    return float(linear - 0.5 * rest.sum() + value - accuracy), accuracy


@dataclass(frozen=True)
class _RuleMinimum:
    """Minimum over u >= 0 (and the weights of rule features, in closed form)."""

    correlation: FloatArray
    ridge: FloatArray
    C: FloatArray
    curvature: FloatArray
    linear: FloatArray
    limits: SignPenalties

    def weights(self, u: FloatArray) -> FloatArray:
        """The best weights of rule features for these multipliers."""
        return self.limits.shrink(self.correlation - self.C.T @ u) / self.ridge

    def value(self, u: FloatArray) -> float:
        """The function to be minimised, with the weights at their best."""
        w = self.weights(u)
        return float(0.5 * u @ self.curvature @ u + self.linear @ u - 0.5 * self.ridge @ (w * w))

    def gradient(self, u: FloatArray) -> FloatArray:
        return self.curvature @ u + self.linear + self.C @ self.weights(u)

    def solve(self, u: FloatArray) -> tuple[float, float]:
        """Projected Newton from u; returns the minimum and the last step's expected decrease."""
        expected = 0.0
        for _ in range(100):
            g = self.gradient(u)
            free = (u > 0) | (g < 0)
            if not free.any():
                return self.value(u), 0.0
            step = np.zeros_like(u)
            step[free] = -np.linalg.lstsq(self._hessian(u)[np.ix_(free, free)], g[free])[0]
            expected = float(-g @ (np.maximum(u + step, 0.0) - u))
            if 0 <= expected <= 1e-16:
                break
            # a Newton step that the bounds bend may lead nowhere; the gradient never does
            moved = self._search(u, step)
            moved = self._search(u, np.where(free, -g, 0.0)) if moved is None else moved
            if moved is None or self.value(u) - self.value(moved) <= 1e-16:
                break
            u = moved
        return self.value(u), max(expected, 0.0)

    def _hessian(self, u: FloatArray) -> FloatArray:
        """Of the value, over the weights that are not zero."""
        moving = self.weights(u) != 0
        C = self.C[:, moving]
        return self.curvature - (C / self.ridge[moving]) @ C.T

    def _search(self, u: FloatArray, step: FloatArray) -> FloatArray | None:
        """The first of ever shorter steps that lowers the value; None where none does."""
        now, length = self.value(u), 1.0
        for _ in range(40):
            trial = np.maximum(u + length * step, 0.0)
            if self.value(trial) < now:
                return trial
            length *= 0.5
        return None


# --------------------------------------------------------------------------------------------------
# Which features are certainly in at the optimum and which are certainly out, from any point.
#
# All follows from the gap g = F(w, b, u) - D(alpha) of a primal and a dual point. At the optimum
# (w*, b*, u*, alpha*) the gap of (w, b, u) and alpha* is a sum of terms that are not negative; g
# bounds it, and so each of them:
#
#     1/2 |(w, u) - (w*, u*)|_Q^2       Q: all quadratic terms
#     (penalty of w_k) - xi*_k w_k        xi* = X'Y alpha* - (Q (w*, u*))_w, within its penalties
#     |r_i| |alpha*_i - bound_i|        r: one minus margin; bound: the upper one if short, else 0
#     u_r pi*_r                         pi* = (Q (w*, u*))_u + d alpha*, not negative
#
# In. Minimised over u, the first is still 1/2 |w - w*|^2 in a matrix H: ridge, less what
# multipliers can make up for, which is rho_i along the conditions of rule i. So |w_j - w*_j| is at
# most sqrt(2 g (1/H)_jj): 1/ridge for features that no rule names, up to 1/lambda2 for those of
# rules.
#
# Out. w*_j = 0 where xi*_j lies strictly within its penalties. (Q (w*, u*))_j is known to sqrt(2 g
# ridge_j), so what is missing is alpha*. Let delta = alpha* - alpha. Rows off their margin: sum of
# |r_i delta_i| <= 2 g. Rows on it are held by the features that are in, as X_k'Y delta is known to
# |X_k'Y alpha - (Q (w, u))_k - its penalty| + sqrt(2 g ridge_k) + g/|w_k|. Together they bound
# |delta|, and with it every gradient. Where rows repeat each other |delta| has no bound, but the
# gradient on a feature does: its column, as far as columns of features that are in (and the
# intercept's) make it up.
#
# No feature at all. At w = 0 all rows of the larger class lie on the margin and hardly anything
# bounds delta. But there F falls apart: multipliers of centered rules are known to sqrt(2 g), and
# the loss is a linear program in b, whose minimum c = 2 min(P+, P-) is known, with P the weight of
# each class. Dual variables that balance and sum to c - s are within 4 s (in sum) of optimal ones.
# Where these leave every gradient within its penalties, w* = 0.


ROUNDING = 2e-15  # of the terms of an objective, relatively
LARGEST_SYSTEM = 3000  # rows on their margin
MOST_WORK = 4e9  # multiplications for features that need a look of their own
AT_ONCE = 4_000_000  # numbers of a block of columns
WIDTHS = (1.0, 10.0, 100.0)  # rows count as on their margin within these times sqrt(2 g)


class FeatureState(NamedTuple):
    """A primal point on some features, and duals of all rows that balance and keep their bounds.

    `scores` are Xw, `gradient` is X'Y alpha on every feature.
    """

    features: np.ndarray
    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray
    scores: FloatArray
    gradient: FloatArray


@dataclass(frozen=True)
class Certainty:
    """Features by what is certain of them at the optimum; `undecided` ones may be in or out."""

    inside: np.ndarray
    outside: np.ndarray
    undecided: np.ndarray = field(repr=False)


def certainty(problem: Problem, at: FeatureState, gap: float) -> Certainty:
    """What a gap, not relative, says of every feature."""
    gap = max(gap, 0.0) + ROUNDING * _size(problem, at)
    if not np.isfinite(gap) or problem.lambda2 <= 0:
        inside, outside = np.zeros((2, problem.n_features), dtype=bool)
        outside[problem.penalty_factors.excluded] = True
    else:
        inside, outside = _inside(problem, at, gap), _Outside(problem, at, gap).found()
        if not outside.all() and _none_is_in(problem, at, gap):
            outside[:] = True
    both = inside | outside
    return Certainty(*(np.flatnonzero(part) for part in (inside, outside & ~inside, ~both)))


def inverse_curvature(problem: Problem, features: np.ndarray) -> FloatArray:
    """The diagonal of 1/H on some features: 2 g times it bounds (w - w*)^2."""
    values = 1.0 / problem.ridge(features)
    at, of = problem.rule_positions(features)
    if at.size:
        values[at] = _on_rules(problem)[of]
    return values


def _on_rules(problem: Problem) -> FloatArray:
    """The same on all features that rules name, by their conditions' orthonormal directions."""
    stack, ridge = problem.stack, problem.ridge_rules
    directions = []
    for i in range(stack.n_rules):
        _, sizes, rows = np.linalg.svd(stack.B[stack.owner == i], full_matrices=False)
        kept = sizes > 1e-12 * np.max(sizes, initial=0.0)
        directions.append(np.sqrt(stack.rho[i]) * rows[kept])
    V = np.vstack(directions) / ridge
    middle = np.eye(len(V)) - V @ (V * ridge).T
    most = np.full(ridge.size, 1.0 / problem.lambda2)
    if not len(V) or not np.linalg.eigvalsh(middle)[0] > 1e-8:  # rounding would decide
        return most
    more = np.einsum("kj,kj->j", V, np.linalg.solve(middle, V))
    return np.minimum(most, (1.0 / ridge + more) * (1 + 1e-6))


def _size(problem: Problem, at: FeatureState) -> float:
    """Of the terms of both objectives, before they cancel."""
    stack = problem.stack
    here, of = problem.rule_positions(at.features)
    terms = (
        1.0
        + at.alpha.sum()
        + problem.rows.conjugate(at.alpha)
        + problem.ridge(at.features) @ (at.w * at.w)
    )
    terms += at.u @ (np.abs(stack.coupling[:, of]) @ np.abs(at.w[here]))
    return float(terms + at.u @ np.abs(stack.curvature) @ at.u)


def _inside(problem: Problem, at: FeatureState, gap: float) -> np.ndarray:
    inside = np.zeros(problem.n_features, dtype=bool)
    sure = at.w * at.w > 2.0 * gap * inverse_curvature(problem, at.features)
    inside[at.features[sure]] = True
    return inside


def _none_is_in(problem: Problem, at: FeatureState, gap: float) -> bool:
    """Whether w = 0 is certainly the optimum: by these dual variables, or those of least gradient.

    Not asked where rules meet the intercept: samples and multipliers then have no optima apart.
    """
    if at.w.any() or problem.stack.of_b.any() or problem.loss.curvature > 0:
        return False
    if _holds_all_out(problem, at.u, at.alpha, at.gradient, gap):
        return True
    largest, alpha = least_gradient(problem)
    if not largest < problem.lambda1:
        return False
    alpha = feasible_duals(problem, alpha)
    gradient = problem.design.correlate(problem.y * alpha[: problem.n_samples])
    return _holds_all_out(problem, at.u, alpha, gradient, gap)


def _holds_all_out(
    problem: Problem, u: FloatArray, alpha: FloatArray, gradient: FloatArray, gap: float
) -> bool:
    """Whether optimal duals near these leave every gradient within its penalties at w = 0."""
    y, own, stack = problem.y, alpha[: problem.n_samples], problem.stack
    p = problem.rows.upper[: problem.n_samples]
    least = 2.0 * min(p[y > 0].sum(), p[y < 0].sum())
    short = max(least - own.sum(), 0.0) + abs(y @ own) + ROUNDING * p.sum()
    gradient, norms = gradient.copy(), problem.design.column_norms()
    gradient[stack.features] -= stack.coupling.T @ u
    off = (4.0 * short + ROUNDING) * norms
    off[stack.features] += np.sqrt(2.0 * gap * problem.ridge_rules)
    limits = problem.limits(np.arange(problem.n_features))
    return bool(np.all(np.minimum(limits.up - gradient, limits.down + gradient) > off))


class _Known(NamedTuple):
    """Linear forms of delta: rows of `forms` (one a row of the problem) and their bounds.

    Forms are divided by the bounds, so that each of them is at most one.
    """

    forms: FloatArray
    shortfall: FloatArray
    bounds: FloatArray


class _Outside:
    """Features whose gradient stays within their penalties, whatever the duals at the optimum."""

    def __init__(self, problem: Problem, at: FeatureState, gap: float) -> None:
        self.problem, self.at, self.gap = problem, at, gap
        self.near = float(np.sqrt(2.0 * gap))
        stack = problem.stack
        self.ridge = problem.ridge(np.arange(problem.n_features))
        self.smooth = np.zeros(problem.n_features)
        self.smooth[at.features] = self.ridge[at.features] * at.w
        self.smooth[stack.features] += stack.coupling.T @ at.u
        curvature = problem.rows.curvature[: problem.n_samples]
        # a strongly concave dual bounds |delta| by itself
        self.strong = float(np.min(curvature, initial=np.inf))
        self.known = self._known() if self.strong == 0 else None

    def found(self) -> np.ndarray:
        """True where a feature is certainly out."""
        problem, named = self.problem, self.problem.stack.features
        limits = problem.limits(np.arange(problem.n_features))
        gradient, own = self.at.gradient.copy(), np.zeros(problem.n_features)
        # off the rules, xi is beyond its penalty exactly where the gradient is: no need to know w*
        gradient[named] -= self.smooth[named]
        own[named] = self.near * np.sqrt(self.ridge[named])
        norms = problem.design.column_norms()
        own += ROUNDING * norms
        slack = np.minimum(limits.up - gradient, limits.down + gradient) - own
        out = slack > norms * self._radius()
        nothing = norms == 0
        nothing[named] = False
        excluded = np.isinf(limits.up) & np.isinf(limits.down)
        out |= nothing | excluded
        if self.known is not None:
            self._look_closer(out, slack, self.known)
        return out

    def _known(self) -> _Known:
        """What is known of delta, over samples and those rules that have a say in the balance."""
        problem, at, stack = self.problem, self.at, self.problem.stack
        size = np.abs(at.w)
        strong = size * size * self.ridge[at.features] >= 0.5 * self.gap
        strong &= size > 0
        features, w = at.features[strong], at.w[strong]
        limits, ridge = problem.limits(features), self.ridge[features]
        penalty = np.where(w > 0, limits.up, -limits.down)
        missed = np.abs(self.smooth[features] + penalty - at.gradient[features])
        bounds = missed + self.near * np.sqrt(ridge) + self.gap / np.abs(w)
        Z = problem.design.columns(features) * problem.y[:, None]

        rules, held = np.flatnonzero(stack.of_b), np.flatnonzero(at.u > 0)
        here, of = problem.rule_positions(at.features)
        slope = stack.coupling[:, of] @ at.w[here] + stack.curvature @ at.u
        slope += stack.thresholds.T @ at.alpha[problem.n_samples :]
        own = np.abs(slope) + self.near * np.sqrt(np.diag(stack.curvature))
        own = (own[held] + self.gap / at.u[held]) if rules.size else np.zeros(0)
        held = held if rules.size else held[:0]

        labels = np.r_[problem.y, stack.of_b[rules]]
        forms = np.zeros((labels.size, bounds.size + held.size + 1))
        forms[: problem.n_samples, : bounds.size] = Z
        forms[problem.n_samples :, bounds.size : -1] = stack.thresholds[np.ix_(rules, held)]
        forms[:, -1] = labels
        bounds = np.r_[bounds, own]
        balance = max(ROUNDING * at.alpha.sum(), float(np.min(bounds, initial=self.near)))
        rows = np.r_[np.arange(problem.n_samples), problem.n_samples + rules]
        alpha, ceiling = at.alpha[rows], problem.rows.upper[rows]
        shortfall = np.r_[1.0 - problem.y * (at.scores + at.b), stack.slacks(at.b, at.u)[rules]]
        return _Known(
            forms / np.r_[bounds, balance], np.abs(shortfall), np.maximum(alpha, ceiling - alpha)
        )

    def _radius(self) -> float:
        """A bound of |delta| over the samples."""
        known = self.known
        if known is None:
            return self.near / float(np.sqrt(self.strong))
        best = float(np.linalg.norm(known.bounds[: self.problem.n_samples]))
        for on in self._margins(known):
            best = min(best, self._radius_with(on, known))
        return best

    def _margins(self, known: _Known) -> Iterator[np.ndarray]:
        """Rows that count as on their margin, in a few ways that all hold."""
        before = -1
        for width in WIDTHS:
            on = known.shortfall <= width * self.near
            if on.sum() != before:
                before = int(on.sum())
                yield on

    def _radius_with(self, on: np.ndarray, known: _Known) -> float:
        forms, shortfall, _ = known
        off = ~on
        rest = 2.0 * self.gap / np.min(shortfall[off], initial=np.inf)
        if not on.any():
            return float(rest)
        M = forms[on]
        if len(M) > min(M.shape[1], LARGEST_SYSTEM):
            return np.inf
        values = eigvalsh(M @ M.T)
        least = values[0] - 1e-14 * len(M) * values[-1]
        if least <= 0:
            return np.inf
        moved = np.linalg.norm(forms[off], axis=1) / shortfall[off]
        total = np.sqrt(M.shape[1]) + 2.0 * self.gap * np.max(moved, initial=0.0)
        return float(total / np.sqrt(least) + rest)

    def _look_closer(self, out: np.ndarray, slack: FloatArray, known: _Known) -> None:
        """Features that are still undecided, one by one, as far as that is affordable."""
        n = self.problem.n_samples
        left = np.flatnonzero(~out & (slack > 0))
        cost = n * known.forms.shape[1]
        left = left[np.argsort(-slack[left], kind="stable")][: int(MOST_WORK / cost)]
        for on in self._margins(known):
            if on.sum() > LARGEST_SYSTEM or not left.size:
                break
            inverse = np.linalg.pinv(known.forms[on], rcond=1e-10)
            step = max(1, AT_ONCE // n)
            for start in range(0, left.size, step):
                some = left[start : start + step]
                out[some] |= self._shift(some, on, inverse, known) < slack[some]
            left = left[~out[left]]

    def _shift(
        self, features: np.ndarray, on: np.ndarray, inverse: FloatArray, known: _Known
    ) -> FloatArray:
        """How far the gradient on these features may be off: a column as a sum of known forms."""
        n = self.problem.n_samples
        Z = np.zeros((known.shortfall.size, features.size))
        Z[:n] = self.problem.design.columns(features) * self.problem.y[:, None]
        shares = inverse @ Z[on]
        rest = np.abs(Z - known.forms @ shares)
        shift = np.abs(shares).sum(axis=0) + known.bounds[on] @ rest[on]
        far = rest[~on] / known.shortfall[~on, None]
        return np.asarray(shift + 2.0 * self.gap * np.max(far, axis=0, initial=0.0))
