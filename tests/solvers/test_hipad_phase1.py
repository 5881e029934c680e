"""Phase 1 by either way: the same optimum, and a status that tells how it ended."""

import numpy as np
import pytest

from hipad.solvers.admm import AdmmSettings
from hipad.solvers.certificate import Status
from hipad.solvers.hipad import AFFORDABLE, AdmmPhase, ExactPhase, is_affordable
from tests.oracles import clarabel_enk, random_problem
from tests.solvers.problems import to_problem

RAW = random_problem(2, n=24, m=40, conditions=(1, 2), weighted=True)


def admm(goal="optimum", max_sweeps=5000, warm=None):
    return AdmmPhase(
        to_problem(RAW), goal=goal, tolerance=1e-7, max_sweeps=max_sweeps,
        settings=AdmmSettings(), warm=warm,
    )  # fmt: skip


def exact(**options):
    return ExactPhase(to_problem(RAW), max_iterations=60, **options)


WAYS = {"admm": admm, "exact": exact}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_ends_at_the_optimum_itself(way):
    phase = WAYS[way]()
    steps = list(phase.steps())
    best, at, certificate = clarabel_enk(*RAW), phase.point(), phase.certificate()
    assert at.features.tolist() == np.flatnonzero(np.abs(best.w) > 1e-6).tolist()
    np.testing.assert_allclose(at.w, best.w[at.features], atol=1e-5)
    assert certificate.status is Status.SOLVED
    assert certificate.gap <= 1e-9
    assert steps[-1].objective == pytest.approx(best.objective, rel=1e-8)
    assert steps[-1].features.tolist() == at.features.tolist()


def test_both_ways_end_at_the_same_numbers():
    phases = [make() for make in WAYS.values()]
    one, other = (list(phase.steps()) and phase.point() for phase in phases)
    np.testing.assert_allclose(one.w, other.w, atol=1e-11)
    assert one.b == pytest.approx(other.b, abs=1e-11)


def test_from_the_optimum_of_a_fit_a_second_one_is_a_single_step():
    first = exact()
    assert len(list(first.steps())) > 1
    again = exact(warm_starts=(first.point().warm_start,))
    assert len(list(again.steps())) == 1
    np.testing.assert_allclose(again.point().w, first.point().w, atol=1e-12)


def test_a_guess_that_leads_nowhere_costs_only_itself():
    first = exact()
    list(first.steps())
    warm_start = first.point().warm_start
    wrong = warm_start._replace(alpha=np.zeros_like(warm_start.alpha), w=-warm_start.w)
    phase = exact(warm_starts=(wrong,))
    list(phase.steps())
    np.testing.assert_allclose(phase.point().w, first.point().w, atol=1e-10)


@pytest.mark.parametrize("goal", ["optimum", "convergence", "paper"])
def test_too_few_sweeps_are_told(goal):
    phase = admm(goal, max_sweeps=2)
    assert len(list(phase.steps())) == 2
    certificate = phase.certificate()
    assert certificate.status is Status.LIMIT
    best = clarabel_enk(*RAW).objective
    assert certificate.dual_objective <= best <= certificate.primal_objective


def test_the_papers_test_leaves_early_and_says_so():
    phase = admm("paper")
    sweeps = list(phase.steps())
    certificate = phase.certificate()
    assert phase.settled
    assert not phase.decided
    assert len(sweeps) < 5000
    if certificate.status is Status.INACCURATE:
        assert "left by the paper's test" in certificate.message
    else:
        assert certificate.gap <= 1e-5


def test_a_working_set_that_may_not_finish_is_told():
    phase = exact(max_steps=1)
    list(phase.steps())
    assert phase.certificate().status is Status.LIMIT


def test_a_status_from_outside_is_kept():
    phase = admm(max_sweeps=3)
    list(phase.steps())
    assert phase.certificate(Status.STOPPED).status is Status.STOPPED


def test_few_rows_or_few_columns_are_affordable_and_many_of_both_are_not():
    class Shaped:
        def __init__(self, *shape):
            self.design = self
            self.shape = shape

    assert is_affordable(Shaped(100, 10**6))
    assert is_affordable(Shaped(10**6, 100))
    assert not is_affordable(Shaped(10**5, 10**5))
    edge = round(AFFORDABLE ** (1 / 3))
    assert not is_affordable(Shaped(edge + 10, edge + 10))
