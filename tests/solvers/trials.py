"""Random problems of every kind, runs that are stopped or finished, and what they claim wrongly.

Clarabel solves the same problem. Its weights are trusted to `BLUR`; what lies within is not judged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from hipad.solvers import Hipad, Problem, Settings, Status
from hipad.solvers.problem import PenaltyFactors
from tests.oracles import Optimum, RandomProblem, clarabel_enk, objective, random_problem
from tests.solvers.problems import (
    full_prices,
    full_weights,
    random_prices,
    rule,
    to_problem,
    unit_rows,
)

BLUR = 2e-5
FALSE = 1e-6  # relative: nothing further from the minimum is to be called solved
METHODS = ("hipad", "admm", "exact")
ENGINES = ("ipm", "osqp")
CONDITIONS = ((), (1,), (2,), (1, 2), (2, 3, 1), (5,))


@dataclass(frozen=True)
class Trial:
    """One problem for both sides; `minimum` is that of phase 1."""

    raw: RandomProblem
    prices: PenaltyFactors
    problem: Problem
    minimum: Optimum


@dataclass
class Tally:
    """Counts over runs, and a line for each false claim."""

    counts: Counter = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)


def draw(seed: int) -> tuple[RandomProblem, PenaltyFactors]:
    """A problem with any rules, prices, weights, scope and repeated or contradicting rows."""
    rng = np.random.default_rng([7, seed])
    m = int(rng.integers(3, 50))
    raw = random_problem(
        seed,
        n=int(rng.integers(2, 40)),
        m=m,
        conditions=CONDITIONS[rng.integers(len(CONDITIONS))],
        named=int(rng.integers(1, 6)),
        weighted=bool(rng.integers(2)),
        lambda1=float(rng.choice([0.0, 0.005, 0.02, 0.05, 0.1, 0.3])),
        lambda2=float(rng.choice([0.01, 0.1, 0.5, 1.0, 10.0])),
        scope=str(rng.choice(["population", "typical"])),
        centered=bool(rng.integers(2)),
    )
    stiff, worth = rng.choice([0.1, 1.0, 10.0, 100.0]), rng.choice([0.1, 1.0, 5.0])
    rules = tuple(r._replace(rho=r.rho * stiff, sigma=r.sigma * worth) for r in raw.rules)
    kind = rng.integers(8)
    if kind == 1:
        rules = rules * 2
    elif kind == 2:
        rules = tuple(r._replace(d=-r.d) for r in rules)
    elif kind == 3:
        unit = np.eye(m)[0]
        rules = (*rules, rule(np.vstack([unit, -unit]), [0.0, -1.0], sign=-1.0))
    X, y, p = raw.X.copy(), raw.y.copy(), raw.p
    if rng.random() < 0.3:  # rows that come again, as they are or with the other label
        again = rng.choice(y.size, max(1, y.size // 3))
        other = rng.choice([1.0, -1.0], again.size)
        X, y, p = np.vstack([X, X[again]]), np.r_[y, y[again] * other], np.r_[p, p[again]]
    if rng.random() < 0.2:
        X[:, rng.integers(m)] = rng.choice([0.0, 1.0])
    if rng.random() < 0.3:  # few different values: many ties
        X = np.round(X)
    raw = raw._replace(X=X, y=y, p=p / p.sum(), rules=rules)
    prices = random_prices(seed, m) if rng.random() < 0.4 else PenaltyFactors()
    return raw, prices


def trial(seed: int) -> Trial | None:
    """A problem that Clarabel can solve, too; None for others."""
    raw, prices = draw(seed)
    try:
        minimum = oracle(raw, prices)
    except RuntimeError:
        return None
    return Trial(raw, prices, to_problem(raw, prices=prices), minimum)


def oracle(raw: RandomProblem, prices: PenaltyFactors) -> Optimum:
    """Clarabel's minimum of the whole problem."""
    return clarabel_enk(*raw, prices=full_prices(prices, raw.X.shape[1]))


def restricted(raw: RandomProblem, prices: PenaltyFactors, kept: np.ndarray) -> float:
    """Clarabel's minimum of phase 2 on some features: the others have no weight."""
    up, down = full_prices(prices, raw.X.shape[1])
    away = np.ones(up.size, dtype=bool)
    away[kept] = False
    up, down = (np.where(away | np.isinf(price), np.inf, 1.0) for price in (up, down))
    return clarabel_enk(*raw._replace(lambda1=0.0), prices=np.array([up, down])).objective


def check(seed: int, tally: Tally) -> None:
    """All methods and engines on one problem, stopped on the way and at their end."""
    one = trial(seed)
    if one is None:
        tally.counts["without an oracle"] += 1
        return
    rng = np.random.default_rng([11, seed])
    for method in METHODS:
        for engine in ENGINES if method == "hipad" else ENGINES[:1]:
            for quick in (False, True) if (method, engine) == ("hipad", "ipm") else (False,):
                settings = Settings(method=method, phase2_solver=engine, fastest=quick)
                steps = int(rng.integers(1, 40))
                name = f"{seed} {method} {engine} quick={quick}"
                for stop in (steps, None):
                    _check_run(one, Hipad(one.problem, settings), stop, name, tally)
    early = Hipad(one.problem, Settings(phase1_stop="paper"))
    _check_run(one, early, None, f"{seed} paper", tally)


def _check_run(one: Trial, run: Hipad, stop: int | None, name: str, tally: Tally) -> None:
    for _ in islice(run, stop):
        pass
    found, kind = run.solution(), "finished" if stop is None else "stopped"
    tally.counts[kind] += 1
    name = f"{name} {'' if stop is None else f'after {stop}'}"
    _check_features(one, run, name, kind, tally)
    status = found.certificate.status
    value = objective(
        *unit_rows(one.raw)._replace(lambda1=0.0 if run.selected is not None else one.raw.lambda1),
        full_weights(found, one.raw.X.shape[1]), found.b, _split(one, found.u),
        prices=full_prices(one.prices, one.raw.X.shape[1]),
    )  # fmt: skip
    if run.selected is None:
        best = one.minimum.objective
    else:
        try:
            best = restricted(one.raw, one.prices, run.selected.features)
        except RuntimeError:
            tally.counts["without an oracle of phase 2"] += 1
            return
    over = (value - best) / max(abs(best), 1e-3)
    if stop is None:
        tally.counts[f"finished: {status}"] += 1
    if status is Status.SOLVED and over > FALSE:
        tally.false.append(f"{name}: solved, but {over:.1e} above the minimum")
    if status is Status.INACCURATE and stop is None and "paper" not in name:
        tally.false.append(f"{name}: {found.certificate} ({over:.1e} above the minimum)")
    if over < -1e-7:
        tally.counts["below the oracle"] += 1


def _check_features(one: Trial, run: Hipad, name: str, kind: str, tally: Tally) -> None:
    known, w = run.certainty(), one.minimum.w
    parts = (known.inside, known.outside, known.undecided)
    assert sorted(np.concatenate(parts)) == list(range(w.size))
    certificate = run.solution().certificate
    assert (certificate.certain, certificate.undecided) == (parts[0].size, parts[2].size), name
    blurred = np.abs(w) <= BLUR
    exact = run.finished and "paper" not in name
    wrong_out = known.outside[~blurred[known.outside]]
    wrong_in = known.inside[blurred[known.inside]] if not exact else known.inside[:0]
    if wrong_in.size:  # a weight that is in by less than the blur shows at the end
        settled = Hipad(one.problem, Settings(method="exact")).run()
        wrong_in = np.setdiff1d(wrong_in, settled.features)
    tally.counts[f"{kind}: in"] += known.inside.size
    tally.counts[f"{kind}: out"] += known.outside.size
    tally.counts[f"{kind}: undecided"] += known.undecided.size
    tally.counts["false in"] += wrong_in.size
    tally.counts["false out"] += wrong_out.size
    if wrong_in.size + wrong_out.size:
        tally.false.append(f"{name}: in {wrong_in}, out {wrong_out}: {w[wrong_out]}")


def _split(one: Trial, u: np.ndarray) -> list[np.ndarray]:
    cuts = np.cumsum([len(r.d) for r in one.raw.rules])[:-1]
    return np.split(u, cuts) if one.raw.rules else []
