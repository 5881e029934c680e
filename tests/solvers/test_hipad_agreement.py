"""300 random problems against an independent solver: the same features, and a truthful status."""

import numpy as np
import pytest

from hipad.solvers import Hipad, Settings, Status
from tests.oracles import RandomProblem, clarabel_enk, random_problem
from tests.solvers.problems import to_problem

WAYS = {
    "watched": Settings(),
    "quick": Settings(fastest=True),
    "admm": Settings(method="admm"),
    "exact": Settings(method="exact"),
}


def drawn(seed: int) -> RandomProblem:
    """Problems of every shape: weighted, unbalanced, with equal rows, from empty to full models.

    Half of the rules are centered.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(6, 70)), int(rng.integers(2, 150))
    raw = random_problem(
        seed,
        n=n,
        m=m,
        conditions=[(), (1,), (1, 2), (2, 1, 3)][seed % 4],
        weighted=bool(rng.random() < 0.5),
        lambda1=float(10 ** rng.uniform(-3, -0.3)),
        lambda2=float(10 ** rng.uniform(-2, 1.3)),
        scope=["population", "typical"][int(rng.random() < 0.5)],
    )
    if rng.random() < 0.3:
        y = np.where(rng.random(n) < 0.25, 1.0, -1.0)
        y[:2] = 1, -1
        raw = raw._replace(y=y)
    rules = tuple(rule._replace(centered=bool(rng.random() < 0.5)) for rule in raw.rules)
    raw = raw._replace(rules=rules)
    return raw._replace(X=np.round(raw.X)) if rng.random() < 0.2 else raw


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunk", range(5))
def test_the_features_are_those_of_the_optimum(way, chunk):
    first = list(WAYS).index(way)
    for seed in range(60 * chunk + first, 60 * (chunk + 1), len(WAYS)):
        check(drawn(seed), WAYS[way], seed)


def check(raw: RandomProblem, settings: Settings, seed: int) -> None:
    try:
        best = clarabel_enk(*raw)
    except RuntimeError:
        return  # the oracle itself did not solve it
    problem = to_problem(raw)
    found = Hipad(problem, settings).run()
    chosen = found.selection or found.certificate
    assert found.certificate.status is Status.SOLVED, seed
    assert found.certificate.is_optimal(1e-8), seed
    assert chosen.primal_objective == pytest.approx(best.objective, rel=1e-7, abs=1e-9), seed
    # how far Clarabel's weights can be from the optimum, by the objective that it reached
    excess = max(best.objective - chosen.dual_objective, 1e-11 * best.objective)
    radius = np.sqrt(2 * excess / problem.ridge(np.arange(problem.n_features)))
    kept = np.isin(np.arange(problem.n_features), found.features)
    assert np.all(kept[np.abs(best.w) > radius]), seed
    assert np.all(np.abs(best.w[kept]) > 1e-8), seed
