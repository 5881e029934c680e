"""Phase 2 against Clarabel on the same features, whatever the engine and wherever it starts."""

import numpy as np
import pytest

from hipad.designs import make_design
from hipad.solvers import Hipad, Problem, Settings
from hipad.solvers import hipad as engines
from hipad.solvers.certificate import SOLVED_GAP, Status
from hipad.solvers.hipad import ENGINES, Engine, Phase2
from hipad.solvers.solution import Iterate
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import to_problem

RAW = random_problem(5, n=24, m=7, conditions=(1, 2), weighted=True)


def start(features, w=0.0):
    """A start that knows nothing of the optimum."""
    k = len(features)
    return Iterate(np.asarray(features), np.full(k, w), 0.0, np.zeros(3), np.zeros(26))


def polished(engine="ipm", at=None, max_iterations=60):
    phase = Phase2(
        to_problem(RAW),
        at or start(np.arange(7)),
        phase2_solver=engine,
        max_iterations=max_iterations,
    )
    return phase, list(phase.steps())


@pytest.mark.parametrize("engine", ENGINES)
def test_the_objective_is_the_least_without_the_l1_term(engine):
    phase, steps = polished(engine)
    best = clarabel_enk(*RAW._replace(lambda1=0.0))
    certificate = phase.certificate()
    assert certificate.status is Status.SOLVED
    assert certificate.primal_objective == pytest.approx(best.objective, rel=SOLVED_GAP)
    assert certificate.dual_objective <= best.objective + 1e-9
    assert steps[-1].objective == steps[-1].shared == certificate.primal_objective


def test_the_optimum_does_not_depend_on_the_start():
    cold, warm = polished()[0].point(), polished(at=start(np.arange(7), 3.0))[0].point()
    np.testing.assert_allclose(cold.w, warm.w, atol=1e-10)
    assert cold.b == pytest.approx(warm.b, abs=1e-10)
    best = clarabel_enk(*RAW._replace(lambda1=0.0))
    np.testing.assert_allclose(cold.w, best.w, atol=1e-5)


def test_other_features_stay_out():
    used = sorted({0, 4} | set(to_problem(RAW).stack.features.tolist()))[:5]
    phase, _ = polished(at=start(used))
    assert phase.point().features.tolist() == used
    assert phase.certificate().covers == "the 5 features kept"
    everything = polished()[0].certificate().primal_objective
    assert phase.certificate().primal_objective >= everything


def test_a_limit_is_told_and_its_model_certified_all_the_same():
    phase, steps = polished(max_iterations=2)
    certificate = phase.certificate()
    assert len(steps) == 2
    assert certificate.status is Status.LIMIT
    best = clarabel_enk(*RAW._replace(lambda1=0.0)).objective
    assert certificate.dual_objective <= best <= certificate.primal_objective


def test_the_interior_point_takes_over_from_an_engine_that_fails(monkeypatch):
    def nothing(problem, features, X):
        return np.zeros(7), 0.0, np.zeros(3), np.zeros(26)

    monkeypatch.setitem(engines.ENGINES, "none", Engine("No engine", nothing))
    phase, _ = polished("none")
    certificate = phase.certificate()
    assert "No engine did not reach the accuracy" in certificate.message
    assert certificate.status is Status.SOLVED
    assert certificate.gap <= 1e-8


def test_an_earlier_fit_on_other_features_leads_to_the_same_optimum():
    rng = np.random.default_rng(3)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    X = rng.standard_normal((40, 30)) + 0.4 * y[:, None]
    first = Problem(make_design(X), y, np.full(40, 1 / 40), 0.05, 1.0)
    quick = Settings(fastest=True)
    earlier = Hipad(first, quick)
    earlier.run()
    second = first.with_parameters(lambda1=0.04)
    cold, warm = Hipad(second, quick), Hipad(second, quick, warm=earlier)
    one, other = cold.run(), warm.run()
    assert sum(info.phase == 2 for info in warm.history) == 1 < len(cold.history)
    assert other.certificate.gap <= 1e-8
    np.testing.assert_array_equal(one.features, other.features)
    np.testing.assert_allclose(one.w, other.w, atol=1e-10)
    beside = Hipad(second, quick, beside=[earlier]).run()
    np.testing.assert_allclose(one.w, beside.w, atol=1e-10)
