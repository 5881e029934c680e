"""The paper's own ADMM-ENSVM and ADMM-ENK, block for block: a reference, not the product.

ADMM-ENK (in the appendix; ADMM-ENSVM is the same without rules) does in every sweep, in this order:

    1. (w, b)  from the structured linear system with kappa_1 I + mu_1 X'X
    2. u, then s = max(0, u - gamma_5/mu_5);  v, then t = max(0, v - gamma_6/mu_6)
    3. a by the hinge's proximal operator S, c by soft thresholding T
    4. q and p by S
    5. the multipliers gamma_1 .. gamma_6

The positive rule (B, d) and the negative one (D, g) differ by a sign only: v, t, p, gamma_4 and
gamma_6 of one are u, s, q, gamma_3 and gamma_5 of the other, and the code is written once.

Where this departs from the printed text: the Lagrangian has (a)_+ and not a; q and p use the u and
v of the same sweep (the text has those of the sweep before); and the linear system is solved
exactly, not by PCG: by Woodbury's formula on the Gram matrix when N <= m, else by the m x m matrix.
Everything starts at zero, the paper being silent on it. Three blocks in a row have no guarantee of
convergence: that is why the product updates (w, b, u) jointly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve

from hipad.designs import Design
from hipad.utils import FloatArray

Knowledge = tuple[Any, npt.ArrayLike]  # (B, d) of the premise B x <= d, in the design's units


@dataclass(frozen=True)
class Rule:
    """A premise and its constants: rho_1, rho_2, mu_3, mu_5 (or rho_3, rho_4, mu_4, mu_6)."""

    B: sp.csr_array
    d: FloatArray
    sign: float
    rho: float
    sigma: float
    mu_q: float
    mu_u: float


@dataclass(frozen=True)
class RuleIterate:
    """u, s, q, gamma_3, gamma_5 of the positive rule, or v, t, p, gamma_4, gamma_6."""

    u: FloatArray
    s: FloatArray
    q: float
    gamma_q: float
    gamma_u: FloatArray


@dataclass(frozen=True)
class Iterate:
    """All variables after one sweep; `scores` is Xw + be, `objective` is F(w, b, u, v)."""

    w: FloatArray
    b: float
    scores: FloatArray
    a: FloatArray
    c: FloatArray
    gamma1: FloatArray
    gamma2: FloatArray
    rules: tuple[RuleIterate, ...]
    objective: float


@dataclass(frozen=True)
class LiteralResult:
    """The last iterate, the objective after every sweep, and whether the paper's rules were met.

    The sparse weights are c; u and v are None without the rule that they belong to.
    """

    w: FloatArray
    b: float
    u: FloatArray | None
    v: FloatArray | None
    c: FloatArray
    sweeps: int
    converged: bool
    objectives: tuple[float, ...]


def admm_ensvm(design: Design, y: FloatArray, **parameters: Any) -> LiteralResult:
    """Run ADMM-ENSVM: `admm_enk` without rules, with the same parameters."""
    return admm_enk(design, y, **parameters)


def admm_enk(
    design: Design,
    y: FloatArray,
    positive: Knowledge | None = None,
    negative: Knowledge | None = None,
    *,
    lambda1: float,
    lambda2: float,
    rho: npt.ArrayLike = 1.0,
    mu: npt.ArrayLike = 1.0,
    epsilon1: float = 1e-5,
    epsilon2: float = 1e-3,
    max_sweeps: int = 1000,
) -> LiteralResult:
    """Run ADMM-ENK until the paper's stopping rules hold.

    `positive` is (B, d) and `negative` is (D, g); `rho` holds rho_1 to rho_4 and `mu` holds mu_1 to
    mu_6, or one number for all of them as the paper suggests.
    """
    mus = np.broadcast_to(np.asarray(mu, dtype=float), 6)
    rules = _rules(positive, negative, np.broadcast_to(np.asarray(rho, dtype=float), 4), mus)
    objectives: list[float] = []
    old, converged = None, False
    for new in islice(enk_iterates(design, y, rules, lambda1, lambda2, *mus[:2]), max_sweeps):
        objectives.append(new.objective)
        converged = old is not None and has_converged(new, old, y, epsilon1, epsilon2)
        if converged:
            break
        old = new
    u = {rule.sign: state.u for rule, state in zip(rules, new.rules, strict=True)}
    history = tuple(objectives)
    return LiteralResult(
        new.w, new.b, u.get(1.0), u.get(-1.0), new.c, len(history), converged, history
    )


def enk_iterates(
    design: Design,
    y: FloatArray,
    rules: tuple[Rule, ...],
    lambda1: float,
    lambda2: float,
    mu1: float,
    mu2: float,
) -> Iterator[Iterate]:
    """Yield the iterates of ADMM-ENK for ever."""
    n, m = design.shape
    kappa1 = lambda2 + mu2 + sum(rule.rho for rule in rules)
    system = WeightSystem(design, kappa1, sum(rule.mu_q for rule in rules), mu1)
    a, c, gamma1, gamma2 = np.zeros(n), np.zeros(m), np.zeros(n), np.zeros(m)
    states = [_start(rule) for rule in rules]
    while True:
        gradient = y * (gamma1 + mu1 * (1 - a))
        r_w, r_b = design.correlate(gradient) - gamma2 + mu2 * c, gradient.sum()
        for rule, state in zip(rules, states, strict=True):
            r_w -= rule.sign * rule.rho * (rule.B.T @ state.u)
            r_b += rule.sign * (state.gamma_q + rule.mu_q * (rule.d @ state.u + 1 - state.q))
        w, b, scores = system.solve(r_w, r_b)
        states = [_rule_step(r, state, w, b) for r, state in zip(rules, states, strict=True)]
        a = _hinge(1 + gamma1 / mu1 - y * scores, 1 / (n * mu1))
        c = _shrink(gamma2 / mu2 + w, lambda1 / mu2)
        gamma1 = gamma1 + mu1 * (1 - y * scores - a)
        gamma2 = gamma2 + mu2 * (w - c)
        F = lambda2 / 2 * w @ w + lambda1 * np.abs(w).sum() + np.maximum(1 - y * scores, 0).mean()
        F += sum(_rule_cost(r, state.u, w, b) for r, state in zip(rules, states, strict=True))
        yield Iterate(w, b, scores, a, c, gamma1, gamma2, tuple(states), float(F))


def has_converged(
    new: Iterate, old: Iterate, y: FloatArray, epsilon1: float = 1e-5, epsilon2: float = 1e-3
) -> bool:
    """The paper's stopping rules: objective, both primal residuals, and the change of w."""
    norm = np.linalg.norm
    return bool(
        abs(new.objective - old.objective) <= epsilon1 * max(1.0, abs(old.objective))
        and norm(new.a - (1 - y * new.scores)) <= epsilon1
        and norm(new.c - new.w) <= epsilon1
        and norm(new.w - old.w) <= epsilon2 * norm(old.w)
    )


class WeightSystem:
    """The (w, b) system  [kappa1 I + mu1 X'X, mu1 X'e; mu1 e'X, mu1 N + kappa2], factorised once.

    For N <= m its unknowns are b and z = mu1 (Xw + be), from which w = (r_w - X'z) / kappa1.
    """

    def __init__(self, design: Design, kappa1: float, kappa2: float, mu1: float) -> None:
        n, m = design.shape
        e = np.ones((n, 1))
        self.design, self.kappa1, self.mu1, self.by_samples = design, kappa1, mu1, n <= m
        if self.by_samples:
            inner = np.eye(n) / mu1 + design.gram() / kappa1
            matrix = np.block([[inner, -e], [e.T, np.array([[kappa2]])]])
        else:
            inner = kappa1 * np.eye(m) + mu1 * design.correlate(design.columns(slice(None)))
            border = mu1 * design.correlate(e)
            matrix = np.block([[inner, border], [border.T, np.array([[mu1 * n + kappa2]])]])
        self.factor = lu_factor(matrix)

    def solve(self, r_w: FloatArray, r_b: float) -> tuple[FloatArray, float, FloatArray]:
        """Return w, b and the scores Xw + be."""
        first = self.design.dot(r_w) / self.kappa1 if self.by_samples else r_w
        solution = lu_solve(self.factor, np.append(first, r_b))
        x, b = solution[:-1], float(solution[-1])
        if self.by_samples:
            return (r_w - self.design.correlate(x)) / self.kappa1, b, x / self.mu1
        return x, b, self.design.dot(x) + b


def _rules(
    positive: Knowledge | None, negative: Knowledge | None, rho: FloatArray, mu: FloatArray
) -> tuple[Rule, ...]:
    rules = []
    for knowledge, sign, i in ((positive, 1.0, 0), (negative, -1.0, 1)):
        if knowledge is not None:
            B, d = sp.csr_array(knowledge[0]), np.atleast_1d(np.asarray(knowledge[1], dtype=float))
            rules.append(Rule(B, d, sign, rho[2 * i], rho[2 * i + 1], mu[2 + i], mu[4 + i]))
    return tuple(rules)


def _start(rule: Rule) -> RuleIterate:
    zeros = np.zeros(rule.d.size)
    return RuleIterate(zeros, zeros, 0.0, 0.0, zeros)


def _rule_step(rule: Rule, old: RuleIterate, w: FloatArray, b: float) -> RuleIterate:
    """u by its k x k system, s, then q at the new u, then both multipliers."""
    B, d, sign, mu_q, mu_u = rule.B, rule.d, rule.sign, rule.mu_q, rule.mu_u
    system = rule.rho * (B @ B.T).toarray() + mu_q * np.outer(d, d) + mu_u * np.eye(d.size)
    rhs = -sign * rule.rho * (B @ w) + d * (mu_q * (sign * b + old.q - 1) - old.gamma_q)
    u = np.linalg.solve(system, rhs + old.gamma_u + mu_u * old.s)
    s = np.maximum(0.0, u - old.gamma_u / mu_u)
    slack = float(d @ u - sign * b + 1)
    q = float(_hinge(slack + old.gamma_q / mu_q, rule.sigma / mu_q))
    gamma_q = old.gamma_q + mu_q * (slack - q)
    return RuleIterate(u, s, q, gamma_q, old.gamma_u + mu_u * (s - u))


def _rule_cost(rule: Rule, u: FloatArray, w: FloatArray, b: float) -> float:
    residual = rule.B.T @ u + rule.sign * w
    slack = max(0.0, float(rule.d @ u - rule.sign * b + 1))
    return float(rule.rho / 2 * residual @ residual + rule.sigma * slack)


def _hinge(x: Any, threshold: float) -> Any:
    """The paper's S: x - threshold above it, 0 from 0 to the threshold, x below 0."""
    return np.where(x > threshold, x - threshold, np.minimum(x, 0.0))


def _shrink(x: FloatArray, threshold: float) -> FloatArray:
    """The paper's T, soft thresholding."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)
