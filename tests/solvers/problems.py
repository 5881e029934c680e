"""What the solver tests share: library problems built from the oracles' data, and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import scipy.sparse as sp
from hypothesis import reject

from hipad.designs import Design, make_design
from hipad.solvers import Hipad, Problem, RuleBlock, Settings, Solution
from hipad.solvers.admm import Admm
from hipad.solvers.problem import PenaltyFactors
from hipad.solvers.weight_blocks import Penalties, UpdateInfo
from tests.oracles import (
    Optimum,
    OracleRule,
    RandomProblem,
    Sweep,
    clarabel_enk,
    full_admm,
    objective,
)


def rule(B: Sequence | np.ndarray, d, sign=1.0, sigma=0.3, rho=2.0) -> OracleRule:
    """A rule from plain lists."""
    rows = sp.csr_array(np.atleast_2d(np.asarray(B, dtype=float)))
    return OracleRule(rows, np.atleast_1d(np.asarray(d, dtype=float)), sign, sigma, rho)


def full_prices(prices: PenaltyFactors, n_features: int) -> np.ndarray:
    """Multiples of lambda1 for both signs of every weight, as the oracles take them."""
    full = np.ones((2, n_features))
    full[:, prices.features] = prices.up, prices.down
    return full


KNOWN = {
    "raised": (1.0, np.inf),
    "lowered": (np.inf, 1.0),
    "ignored": (np.inf, np.inf),
    "certain": (0.0, 0.0),
    "certainly raised": (0.0, np.inf),
    "certainly lowered": (np.inf, 0.0),
    "raised at half the price": (0.5, np.inf),
}


def prices_of(kinds: dict[int, str]) -> PenaltyFactors:
    """Prices of features by what is known of each."""
    features = np.array(sorted(kinds), dtype=int)
    factors = np.array([KNOWN[kinds[j]] for j in features]).reshape(-1, 2)
    return PenaltyFactors(features, factors[:, 0], factors[:, 1])


def random_prices(seed: int, n_features: int) -> PenaltyFactors:
    """Something known of one to all features."""
    rng = np.random.default_rng([seed, n_features])
    chosen = rng.choice(n_features, int(rng.integers(1, n_features + 1)), replace=False)
    return prices_of({int(j): str(rng.choice(list(KNOWN))) for j in chosen})


def unit_rows(raw: RandomProblem) -> RandomProblem:
    """The same problem with conditions of unit norm: the library's own multipliers u."""
    rules = []
    for r in raw.rules:
        norms = np.sqrt(np.asarray(r.B.multiply(r.B).sum(axis=1)).ravel())
        norms[norms == 0] = 1.0
        rules.append(r._replace(B=sp.csr_array(r.B / norms[:, None]), d=r.d / norms))
    return raw._replace(rules=tuple(rules))


def to_problem(
    raw: RandomProblem, design: Design | None = None, prices: PenaltyFactors | None = None
) -> Problem:
    """The library's form of an oracle problem."""
    rules = tuple(RuleBlock(sp.csr_array(r.B), *r[1:]) for r in raw.rules)
    return Problem(
        design=make_design(raw.X) if design is None else design,
        y=raw.y,
        p=raw.p,
        lambda1=raw.lambda1,
        lambda2=raw.lambda2,
        rules=rules,
        scope=raw.scope,
        penalty_factors=prices or PenaltyFactors(),
    )


def solve(raw: RandomProblem, design: Design | None = None, **settings) -> Solution:
    """Run the driver to its end."""
    return Hipad(to_problem(raw, design), Settings(**settings)).run()


def trusted_optimum(raw: RandomProblem) -> Optimum:
    """Clarabel's answer; a drawn problem that it cannot solve itself is no test."""
    try:
        return clarabel_enk(*raw)
    except RuntimeError:
        reject()


def full_weights(solution: Solution, n_features: int) -> np.ndarray:
    """w over all features."""
    w = np.zeros(n_features)
    w[solution.features] = solution.w
    return w


def oracle_objective(raw: RandomProblem, solution: Solution) -> float:
    """F at a solution, by the oracle's own formula."""
    w = full_weights(solution, raw.X.shape[1])
    cuts = np.cumsum([len(r.d) for r in raw.rules])[:-1]
    us = np.split(solution.u, cuts) if raw.rules else []
    return objective(*unit_rows(raw), w, solution.b, us)


MU = Penalties(hinge=0.05, w=0.7, slack=0.3, u=0.4)


def sweeps_of(raw: RandomProblem, mu: Penalties, **state) -> Iterator[Sweep]:
    """The oracle's ADMM with the library's penalties."""
    return full_admm(*unit_rows(raw), mu1=mu.hinge, mu2=mu.w, mu3=mu.slack, mu5=mu.u, **state)


def state_of(admm: Admm) -> dict[str, np.ndarray]:
    """Copies and multipliers of a run, from which the oracle can go on."""
    _, c, gamma2 = admm.features.full()
    names = ("a", "gamma1", "q", "gamma3", "t", "gamma5")
    return {name: getattr(admm, name).copy() for name in names} | {"c": c, "gamma2": gamma2}


def follow(admm: Admm, oracle: Iterator[Sweep], sweeps: int, atol: float) -> list[UpdateInfo]:
    """Advance both and compare every iterate at every sweep."""
    shifts = []
    for expected in islice(oracle, sweeps):
        shifts.append(admm.sweep().shift)
        for name, value in iterates(admm).items():
            wanted = getattr(expected, name)
            wanted = np.concatenate([*wanted, []]) if isinstance(wanted, tuple) else wanted
            error = np.max(np.abs(value - wanted), initial=0.0)
            assert error <= atol, f"{name} differs by {error:.1e} at sweep {admm.sweeps}"
        check_norms(shifts[-1], expected, atol)
    return shifts


def iterates(admm: Admm) -> dict[str, np.ndarray]:
    """Everything an ADMM sweep computes, on every feature."""
    w, c, gamma2 = admm.features.full()
    names = ("b", "u", "a", "q", "t", "gamma1", "gamma3", "gamma5")
    return {"w": w, "c": c, "gamma2": gamma2} | {name: getattr(admm, name) for name in names}


def check_norms(shift: UpdateInfo, expected: Sweep, atol: float) -> None:
    """The norms behind the stopping tests, which lazy features know only through G."""
    wanted = [np.linalg.norm(v) for v in (expected.w - expected.c, expected.c, expected.gamma2)]
    found = [shift.primal, shift.norm, shift.multiplier]
    # a norm from a quadratic form has the root of the form's accuracy
    assert np.max(np.abs(np.subtract(found, wanted))) <= max(10 * atol, 1e-6)
