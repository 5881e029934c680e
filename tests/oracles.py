"""Independent, slow and plain solvers of the elastic-net SVM with rules, to test others against.

    F(w,b,u) = l2/2 |w|^2 + l1 |w|_1 + sum_j p_j (1 - y_j (x_j'w + b))_+
             + sum_i [ rho_i/2 |M_i (B_i'u_i + s_i w)|^2 + sigma_i (d_i'u_i - e_i b + 1)_+ ]

with u_i >= 0 and e_i = s_i, or 0 for an centered rule.
M_i keeps every feature (scope "population") or those that B_i names ("typical").
Prices (up, down), in multiples of l1, replace l1 |w_j| by l1 (up_j (w_j)_+ + down_j (-w_j)_+); an
infinite one forbids the sign.
All functions take dense arrays, share no code with the library, and need of a rule only its
attributes B (k x m, dense or sparse), d, sign, sigma and rho.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp


class OracleRule(NamedTuple):
    B: Any
    d: np.ndarray
    sign: float
    sigma: float
    rho: float
    centered: bool = False

    @property
    def of_b(self) -> float:
        return 0.0 if self.centered else self.sign


class RandomProblem(NamedTuple):
    """Data in the order in which the oracles take them: `clarabel_enk(*problem)`."""

    X: np.ndarray
    y: np.ndarray
    p: np.ndarray
    rules: tuple[OracleRule, ...]
    lambda1: float
    lambda2: float
    scope: str


class Optimum(NamedTuple):
    w: np.ndarray
    b: float
    us: tuple[np.ndarray, ...]
    objective: float


class Sweep(NamedTuple):
    """All iterates after one sweep; u, t and gamma5 have one vector for each rule."""

    w: np.ndarray
    b: float
    u: tuple[np.ndarray, ...]
    a: np.ndarray
    c: np.ndarray
    q: np.ndarray
    t: tuple[np.ndarray, ...]
    gamma1: np.ndarray
    gamma2: np.ndarray
    gamma3: np.ndarray
    gamma5: tuple[np.ndarray, ...]


def random_problem(
    seed: int,
    *,
    n: int = 20,
    m: int = 12,
    conditions: Sequence[int] = (1, 2),
    named: int = 3,
    weighted: bool = False,
    lambda1: float = 0.05,
    lambda2: float = 0.5,
    scope: str = "population",
    centered: bool = False,
) -> RandomProblem:
    """Two noisy classes and one rule for each entry of `conditions` (its number of conditions).

    Every condition names `named` features; the rules' outcomes alternate, beginning with +1.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, m)) + 0.4 * y[:, None] * (np.arange(m) < 4)
    p = rng.uniform(0.5, 1.5, n) if weighted else np.ones(n)
    rules = tuple(_random_rule(rng, k, m, min(named, m), i) for i, k in enumerate(conditions))
    rules = tuple(rule._replace(centered=centered) for rule in rules)
    return RandomProblem(X, y, p / p.sum(), rules, lambda1, lambda2, scope)


def _random_rule(rng: np.random.Generator, k: int, m: int, named: int, i: int) -> OracleRule:
    B = np.zeros((k, m))
    for row in B:
        row[rng.choice(m, named, replace=False)] = rng.uniform(0.3, 1.0, named) * rng.choice(
            [-1, 1]
        )
    d = -rng.uniform(0.2, 2.0, k)
    sign = 1.0 if i % 2 == 0 else -1.0
    return OracleRule(sp.csr_array(B), d, sign, rng.uniform(0.1, 0.5), rng.uniform(0.5, 3.0))


def objective(
    X, y, p, rules, lambda1, lambda2, scope, w, b, us, prices=None, squared=False
) -> float:
    """F(w, b, u) as it is written above; u >= 0 and allowed signs are the caller's matter."""
    up, down = (
        np.where(np.isinf(f), 1.0, f) for f in (np.ones((2, w.size)) if prices is None else prices)
    )
    value = lambda2 / 2 * w @ w
    value += lambda1 * (up @ np.maximum(w, 0.0) + down @ np.maximum(-w, 0.0))
    value += p @ np.maximum(0.0, 1 - y * (X @ w + b)) ** (2 if squared else 1)
    for rule, u in zip(rules, us, strict=True):
        B = _dense(rule.B)
        residual = (B.T @ u + rule.sign * w) * _scope_mask(B, scope)
        value += rule.rho / 2 * residual @ residual
        value += rule.sigma * max(0.0, rule.d @ u - rule.of_b * b + 1)
    return float(value)


def clarabel_enk(
    X, y, p, rules, lambda1, lambda2, scope="population", prices=None, squared=False
) -> Optimum:
    """The minimum of F by a general interior-point solver; lambda1 = 0 is KSVM-P times lambda2.

    `squared` counts the square of what a sample is short of its margin; rules keep the hinge.

    Unknowns: x = (w, b, u), then the slacks xi of the samples, eta of the rules, and h >= |w|, or
    h >= up w and h >= -down w.
    """
    (n, m), ks = X.shape, [len(rule.d) for rule in rules]
    size, slacks, lasso = m + 1 + sum(ks), n + len(rules), m if lambda1 > 0 else 0
    Q = np.zeros((size + slacks + lasso,) * 2)
    Q[:size, :size] = _curvature(X, rules, lambda2, scope)
    Q[size : size + n, size : size + n] = np.diag(2 * p * squared)
    cost = np.concatenate(
        [np.zeros(size), p * (not squared), [q.sigma for q in rules], np.full(lasso, lambda1)]
    )

    A, offset = _images(X, y, rules)
    hinge = np.r_[0:n, n + m : n + m + len(rules)]  # rows of A that must not exceed their slack
    unit, xi, h = np.eye(size), np.eye(slacks), np.eye(lasso)
    up, down = np.ones((2, m)) if prices is None else prices
    paid_up, paid_down = (np.where(np.isinf(f), 0.0, f)[:lasso, None] for f in (up, down))
    rows = [
        (A[hinge], -xi, None),
        (None, -xi, None),
        (-unit[m + 1 :], None, None),
        (paid_up * unit[:lasso], None, -h),
        (-paid_down * unit[:lasso], None, -h),
        (unit[:m][np.isinf(up)], None, None),
        (-unit[:m][np.isinf(down)], None, None),
    ]
    G = np.vstack([_row(parts, (size, slacks, lasso)) for parts in rows])
    bound = np.concatenate([-offset[hinge], np.zeros(len(G) - slacks)])
    x = _solve_qp(Q, cost, G, bound)
    least, most = np.where(np.isinf(down), 0.0, -np.inf), np.where(np.isinf(up), 0.0, np.inf)
    w, b = np.clip(x[:m], least, most), float(x[m])
    us = tuple(np.maximum(0.0, u) for u in _split(x[m + 1 : size], ks))
    value = objective(X, y, p, rules, lambda1, lambda2, scope, w, b, us, prices, squared)
    return Optimum(w, b, us, value)


def _row(parts, widths) -> np.ndarray:
    """A block row in which None stands for zeros."""
    height = next(len(part) for part in parts if part is not None)
    zeros = [np.zeros((height, width)) for width in widths]
    return np.hstack([z if part is None else part for part, z in zip(parts, zeros, strict=True)])


def full_admm(
    X, y, p, rules, lambda1, lambda2, scope="population", *,
    mu1=1.0, mu2=1.0, mu3=1.0, mu5=1.0, omega=1.0,
    a=None, c=None, q=None, t=None, gamma1=None, gamma2=None, gamma3=None, gamma5=None,
) -> Iterator[Sweep]:  # fmt: skip
    """Two-block ADMM on full vectors, for ever; one record per sweep.

    With x = (w, b, u) and z = (a, c, q, t) the constraints are z = A x + k. A sweep is: x jointly,
    the images relaxed by omega, z by its proximal operators, the multipliers. t and gamma5 are
    given as one vector for all rules together. The start defaults to a = 1, gamma1 = p, zeros else.
    """
    (n, m), r = X.shape, len(rules)
    ks = [len(rule.d) for rule in rules]
    cuts = np.cumsum([n, m, r])
    A, k = _images(X, y, rules)
    mu = np.concatenate([np.full(n, mu1), np.full(m, mu2), np.full(r, mu3), np.full(sum(ks), mu5)])
    H = _curvature(X, rules, lambda2, scope) + A.T @ (mu[:, None] * A)
    z = _stack((a, c, q, t), (1.0, 0.0, 0.0, 0.0), (n, m, r, sum(ks)))
    gamma = _stack((gamma1, gamma2, gamma3, gamma5), (p, 0.0, 0.0, 0.0), (n, m, r, sum(ks)))
    price = np.concatenate([p, np.full(m, lambda1), [rule.sigma for rule in rules]]) / mu[: cuts[2]]
    while True:
        x = np.linalg.solve(H, -A.T @ (gamma + mu * (k - z)))
        image = omega * (A @ x + k) + (1 - omega) * z
        va, vc, vq, vt = np.split(image + gamma / mu, cuts)
        pa, pc, pq = np.split(price, cuts[:2])
        z = np.concatenate([_hinge(va, pa), _soft(vc, pc), _hinge(vq, pq), np.maximum(0.0, vt)])
        gamma = gamma + mu * (image - z)
        az, cz, qz, tz = np.split(z, cuts)
        g1, g2, g3, g5 = np.split(gamma, cuts)
        u = _split(x[m + 1 :], ks)
        yield Sweep(x[:m], x[m], u, az, cz, qz, _split(tz, ks), g1, g2, g3, _split(g5, ks))


def _images(X, y, rules) -> tuple[np.ndarray, np.ndarray]:
    """A and k of A x + k = (e - Y(Xw + be), w, d_i'u_i - e_i b + 1, u) for x = (w, b, u)."""
    (n, m), r, K = X.shape, len(rules), sum(len(rule.d) for rule in rules)
    D = np.zeros((r, K))
    for i, part in enumerate(_split(np.arange(K), [len(rule.d) for rule in rules])):
        D[i, part] = rules[i].d
    of_b = np.array([rule.of_b for rule in rules]).reshape(r, 1)
    A = np.block(
        [
            [-y[:, None] * X, -y[:, None], np.zeros((n, K))],
            [np.eye(m), np.zeros((m, 1 + K))],
            [np.zeros((r, m)), -of_b, D],
            [np.zeros((K, m + 1)), np.eye(K)],
        ]
    )
    return A, np.concatenate([np.ones(n), np.zeros(m), np.ones(r), np.zeros(K)])


def _curvature(X, rules, lambda2, scope) -> np.ndarray:
    """Hessian of the smooth terms l2/2 |w|^2 + sum_i rho_i/2 |M_i(B_i'u_i + s_i w)|^2."""
    m, K = X.shape[1], sum(len(rule.d) for rule in rules)
    H = np.zeros((m + 1 + K, m + 1 + K))
    H[:m, :m] = lambda2 * np.eye(m)
    for rule, part in zip(rules, _split(np.arange(K), [len(q.d) for q in rules]), strict=True):
        B = _dense(rule.B)
        R = np.zeros((m, m + 1 + K))
        R[:, :m] = rule.sign * np.eye(m)
        R[:, m + 1 + part] = B.T
        R *= _scope_mask(B, scope)[:, None]
        H += rule.rho * R.T @ R
    return H


def _solve_qp(Q, cost, G, bound) -> np.ndarray:
    """min x'Qx/2 + cost'x subject to G x <= bound."""
    cones = [clarabel.NonnegativeConeT(G.shape[0])]
    upper = sp.csc_matrix(np.triu(Q))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 200
    # Near the limit of rounding Clarabel may lose what it had: then a little less is asked of it.
    for tolerance in (1e-13, 1e-12, 1e-11):
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        solution = clarabel.DefaultSolver(
            upper, cost, sp.csc_matrix(G), bound, cones, settings
        ).solve()
        gap = abs(solution.obj_val - solution.obj_val_dual)
        if gap <= 1e-9 * max(1, abs(solution.obj_val)):
            break
    else:
        raise RuntimeError(f"Clarabel did not solve the problem: {solution.status}")
    return np.array(solution.x)


def _hinge(x, t) -> np.ndarray:
    """argmin_v t (v)_+ + (v - x)^2 / 2."""
    return np.where(x > t, x - t, np.minimum(x, 0.0))


def _soft(x, t) -> np.ndarray:
    """argmin_v t |v| + (v - x)^2 / 2."""
    return np.sign(x) * np.maximum(0.0, np.abs(x) - t)


def _dense(B) -> np.ndarray:
    return B.toarray() if sp.issparse(B) else np.asarray(B)


def _scope_mask(B, scope) -> np.ndarray:
    return np.ones(B.shape[1]) if scope == "population" else (B != 0).any(axis=0).astype(float)


def _split(vector, sizes) -> tuple[np.ndarray, ...]:
    return tuple(np.split(vector, np.cumsum(sizes)[:-1])) if len(sizes) else ()


def _stack(given, defaults, sizes) -> np.ndarray:
    """One vector of all parts: the given ones, else their defaults spread to size."""
    return np.concatenate(
        [
            np.broadcast_to(np.asarray(default if part is None else part, dtype=float), size)
            for part, default, size in zip(given, defaults, sizes, strict=True)
        ]
    )
