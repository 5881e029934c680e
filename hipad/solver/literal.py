"""The paper's own ADMM-ENSVM and ADMM-ENK, block for block: a reference, not the product.

ADMM-ENK (in the appendix; ADMM-ENSVM is the same without rules) does in every sweep, in this order:

    1. (w, b)  from the structured linear system with kappa_1 I + mu_1 X'X
    2. u, then s = max(0, u - gamma_5/mu_5);  v, then t = max(0, v - gamma_6/mu_6)
    3. a by the hinge's proximal operator S, c by soft thresholding T
    4. q and p by S
    5. the multipliers gamma_1 .. gamma_6

The positive rule (B, d) and the negative one (D, g) differ by a sign only: v, t, p, gamma_4, gamma_6
of one are u, s, q, gamma_3, gamma_5 of the other, and the code is written once for the sign s_i.

Where this departs from the printed text: the Lagrangian has (a)_+ and not a; q and p use the u and
v of the same sweep (the text has those of the sweep before); and the linear system is solved
exactly, not by PCG: by Woodbury's formula on the Gram matrix when N <= m, else by the m x m matrix.
Everything starts at zero, the paper being silent on it. Three blocks in a row have no guarantee of
convergence: that is why the product updates (w, b, u) jointly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from hipad.designs.base import Design, FloatArray

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
    rhos, mus = np.broadcast_to(rho, 4), np.broadcast_to(mu, 6)
    rules = []
    for knowledge, sign, i in ((positive, 1.0, 0), (negative, -1.0, 1)):
        if knowledge is not None:
            B, d = sp.csr_array(knowledge[0]), np.atleast_1d(np.asarray(knowledge[1], dtype=float))
            rules.append(Rule(B, d, sign, rhos[2 * i], rhos[2 * i + 1], mus[2 + i], mus[4 + i]))
    sweeps = enk_iterates(design, y, tuple(rules), lambda1, lambda2, mus[0], mus[1])
    history, converged = [], False
    for _, (old, new) in zip(range(max_sweeps - 1), pairwise(sweeps), strict=False):
        history = history or [old.objective]
        history.append(new.objective)
        converged = has_converged(new, old, y, epsilon1, epsilon2)
        if converged:
            break
    u = {rule.sign: state.u for rule, state in zip(rules, new.rules, strict=True)}
    history = tuple(history)
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
        pull = y * (gamma1 + mu1 * (1 - a))
        r_w, r_b = design.correlate(pull) - gamma2 + mu2 * c, pull.sum()
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


def transition(w: FloatArray, w_old: FloatArray, tolerance: float = 1e-2) -> bool:
    """The paper's sign that phase 2 may begin: |w - w_old| / max(|w_old|, 1) < tolerance."""
    return bool(np.linalg.norm(w - w_old) < tolerance * max(float(np.linalg.norm(w_old)), 1.0))


class WeightSystem:
    """The (w, b) system  [kappa1 I + mu1 X'X, mu1 X'e; mu1 e'X, mu1 N + kappa2], factorised once.

    For N <= m the unknown is z = mu1 (Xw + be): w = (r_w - X'z) / kappa1 leaves the N x N matrix
    I/mu1 + XX'/kappa1. Both forms are a positive definite matrix bordered by b.
    """

    def __init__(self, design: Design, kappa1: float, kappa2: float, mu1: float) -> None:
        n, m = design.shape
        self.design, self.kappa1, self.kappa2, self.mu1 = design, kappa1, kappa2, mu1
        self.by_samples = n <= m
        if self.by_samples:
            self.factor = cho_factor(np.eye(n) / mu1 + design.gram() / kappa1)
            self.border, self.corner = np.ones(n), kappa2
        else:
            inner = design.correlate(design.columns(slice(None)))
            self.factor = cho_factor(kappa1 * np.eye(m) + mu1 * inner)
            self.border, self.corner = -mu1 * design.correlate(np.ones(n)), mu1 * n + kappa2
        self.column = cho_solve(self.factor, self.border)
        self.pivot = self.corner + (1 if self.by_samples else -1) * self.border @ self.column

    def solve(self, r_w: FloatArray, r_b: float) -> tuple[FloatArray, float, FloatArray]:
        """Return w, b and the scores Xw + be."""
        if not self.by_samples:
            w = cho_solve(self.factor, r_w)
            b = float((r_b + self.border @ w) / self.pivot)
            w = w + b * self.column
            return w, b, self.design.dot(w) + b
        z = cho_solve(self.factor, self.design.dot(r_w) / self.kappa1)
        b = float((r_b - self.border @ z) / self.pivot)
        z = z + b * self.column
        return (r_w - self.design.correlate(z)) / self.kappa1, b, z / self.mu1


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
    slack = d @ u - sign * b + 1
    q = float(_hinge(slack + old.gamma_q / mu_q, rule.sigma / mu_q))
    gamma_q = old.gamma_q + mu_q * (slack - q)
    return RuleIterate(u, s, q, gamma_q, old.gamma_u + mu_u * (s - u))


def _rule_cost(rule: Rule, u: FloatArray, w: FloatArray, b: float) -> float:
    residual = rule.B.T @ u + rule.sign * w
    slack = max(0.0, rule.d @ u - rule.sign * b + 1)
    return float(rule.rho / 2 * residual @ residual + rule.sigma * slack)


def _hinge(x: Any, threshold: float) -> Any:
    """The paper's S: x - threshold above it, 0 from 0 to the threshold, x below 0."""
    return np.where(x > threshold, x - threshold, np.minimum(x, 0.0))


def _shrink(x: FloatArray, threshold: float) -> FloatArray:
    """The paper's T, soft thresholding."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)
