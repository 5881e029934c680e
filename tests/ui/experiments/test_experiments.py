from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from hipad.experiments.methods import ExperimentData
from hipad.experiments.runner import Done, ResultsCache
from hipad.experiments.sensitivity import curve_tasks
from tests.experiments.small import table
from tests.ui.pima import session
from ui.experiments.experiment_panel import everybody, training
from ui.experiments.experiments_state import WRONG, ExperimentsState, FitList
from ui.experiments.learning_curve_view import warning, whole_draws, worth_so_far
from ui.jobs import JobStatus


def plan(draws: int = 2):
    data = table()
    tasks = curve_tasks(data, draws=draws, sizes=(4,), methods=("rules alone",))
    return tasks, {data.name: data}


def test_an_experiment_goes_to_its_end():
    lab = ExperimentsState()
    lab.begin("worth", "asked", plan, note=1)
    work = lab.at["worth"]
    work.job.wait(30)
    assert work.job.status is JobStatus.FINISHED
    assert [done.failed for done in work.fits.found] == [False, False]
    assert work.notes == {"note": 1}
    assert str(work.fits.pace) == "2 of 2 fits"


def test_what_was_fitted_is_not_fitted_again(monkeypatch):
    lab = ExperimentsState()
    lab.begin("worth", "asked", plan)
    lab.at["worth"].job.wait(30)
    first = [done.figures for done in lab.at["worth"].fits.found]

    def no_fit(*_: object) -> Done:
        raise AssertionError("a fit was repeated")

    monkeypatch.setattr("hipad.experiments.runner.do", no_fit)
    lab.begin("worth", "asked", plan)
    lab.at["worth"].job.wait(30)
    assert lab.at["worth"].job.is_final
    assert [done.figures for done in lab.at["worth"].fits.found] == first


def test_stopped_and_taken_up_it_makes_only_the_rest(monkeypatch):
    from hipad.experiments import runner

    made: list[str] = []
    do = runner.do

    def slow(task: object, key: str, data: ExperimentData) -> Done:
        made.append(key)
        time.sleep(0.05)
        return do(task, key, data)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "do", slow)
    lab = ExperimentsState()
    lab.begin("worth", "asked", lambda: plan(12))
    job = lab.at["worth"].job
    while len(made) < 3:
        time.sleep(0.01)
    lab.stop("worth")
    job.wait(30)
    assert job.status is JobStatus.STOPPED
    assert len(made) < 12
    lab.go_on("worth")
    job.wait(30)
    assert job.is_final
    assert len(lab.at["worth"].fits.found) == len(made) == len(set(made)) == 12


def test_a_plan_that_cannot_be_made_is_a_sentence():
    lab = ExperimentsState()

    def bad():
        data = table(9)
        return curve_tasks(data, sizes=(8,)), {data.name: data}

    lab.begin("worth", "asked", bad)
    lab.at["worth"].job.wait(30)
    assert lab.at["worth"].job.status is JobStatus.FAILED
    assert "for a learning curve" in (lab.at["worth"].job.error or "")


def test_failed_fits_are_counted_and_told():
    data = table()
    tasks = curve_tasks(data, draws=1, sizes=(4,), methods=("no such method",))
    fits = FitList(lambda: (tasks, {data.name: data}), ResultsCache())
    assert len(list(fits.steps())) == 1
    assert "expected a method of" in fits.failures[0]


def test_other_data_end_all_and_another_page_chooses_a_rule():
    lab = ExperimentsState()
    lab.begin("worth", "asked", plan)
    lab.doubt(3)
    assert (lab.rule, lab.part, lab.rule_turn) == (3, WRONG, 1)
    lab.forget()
    assert lab.at == {}
    assert lab.rule == 0


@pytest.fixture(scope="module")
def state():
    return session()


def test_everybody_takes_part_in_experiments_about_rules(state):
    data = everybody(state)
    assert data.y.size == len(state.data.y_train) + len(state.data.y_test)
    assert data.labels == state.data.classes
    assert not data.apart
    assert set(np.unique(data.y)) == {-1.0, 1.0}
    positives = state.data.counts("train")[state.data.classes[1]]
    assert np.sum(data.y[: len(state.data.y_train)] > 0) == positives
    assert everybody(state) is data


def test_what_chooses_sees_training_patients_only(state):
    n, n_test = len(state.data.y_train), len(state.data.y_test)
    assert training(state).y.size == n
    assert training(state).groups is None
    groups = {"groups": np.arange(n) % 4, "groups_test": np.full(n_test, 4)}
    state.data = replace(state.data, group="who", **groups)
    data = training(state)
    assert np.array_equal(data.groups, np.arange(n) % 4)
    assert set(everybody(state).groups) == {0, 1, 2, 3, 4}
    state.data = replace(state.data, group="", groups=None, groups_test=None)


def test_rules_that_say_positive_get_the_class_they_mean(state):
    state.rules.change("Glucose >= 140 => positive\nInsulin does not matter", "test")
    told = everybody(state).rules
    assert told == f"Glucose >= 140 => {state.data.classes[1]}\nInsulin does not matter"


def fits(gain: float, draws: int = 4) -> list[Done]:
    tasks = curve_tasks(table(), draws=draws, sizes=(4, 8))
    found = []
    for k, task in enumerate(tasks):
        rules = gain if task.settings["method"] == "HIPAD" else 0.0
        value = 0.7 + 0.01 * task.seed + 0.01 * task.settings["rows"]["labelled"] + rules
        found.append(Done(task, str(k), {"balanced": value}))
    return found


@pytest.mark.parametrize(("gain", "warned"), [(0.1, False), (-0.01, False), (-0.05, True)])
def test_rules_that_cost_two_points_are_warned_of(gain, warned):
    told = warning(fits(gain), "parts")
    assert ("by more than two points with 8 labelled parts" in told) is warned


def test_the_answer_needs_draws_that_are_whole():
    found = fits(0.03)
    assert worth_so_far(found[:8]) is None
    assert len(whole_draws(found[: 3 * 8 + 5])) == 3 * 8
    worth = worth_so_far(found[: 3 * 8 + 5])
    assert worth is not None
    assert worth.value > 0
