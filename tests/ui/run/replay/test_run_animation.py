from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hipad.rules import RuleTrust
from tests.ui.run.records import record
from ui.data.samples import clinical, synthetic
from ui.jobs import JobStatus
from ui.recording import RecordedStep
from ui.run.replay.feature_grid import FeatureGrid, true_signs
from ui.run.replay.run_animation import (
    algorithm_charts,
    averaged_words,
    blamed_block,
    counted_rules,
    run_story,
    short_trust,
    state_of,
)
from ui.run.replay.story import Line, LineChart, with_shared_axes
from ui.run.run_view import WITH, WITHOUT, run_stories
from ui.state import AppState


@pytest.fixture(scope="module")
def state():
    state = AppState()
    state.load(clinical("pima"))
    state.settings = state.settings.changed(fewness="some")
    return state


@pytest.fixture(scope="module")
def synthetic_run():
    """A finished run of a synthetic draw with its rules."""
    state = AppState()
    state.load(synthetic("10k", n_train=100, n_test=100, n_features=2_000, block_size=25))
    state.launch()
    state.job.wait(60)
    return state


def finished(state):
    job = state.request().job()
    job.launch()
    job.wait(60)
    return job


def story(job, state, **more):
    grid = FeatureGrid.of(state.data, true_signs(state.loaded, state.data))
    return run_story(job.history, job.outcome, grid, state.data, **more)


def lit(told):
    """The cells that are lit in the last frame."""
    levels = dict(zip(told.moves.cells.tolist(), told.moves.levels.tolist(), strict=True))
    return {cell for cell, level in levels.items() if level}


@pytest.mark.parametrize("side", [0, 1])
def test_run_with_and_without_rules_moves_and_ends_on_the_fitted_model(synthetic_run, side):
    stories = run_stories(synthetic_run, synthetic_run.data)
    assert [one.title for one in stories] == [WITH, WITHOUT]
    job = synthetic_run.job
    model, told = (job.outcome, job.alone)[side], stories[side]
    sizes = told.moves.inside.tolist()
    assert len(set(sizes)) >= 10
    assert told.grid.cell_of[model.support].tolist() == sorted(lit(told))
    assert sizes[-1] == model.support.size
    assert told.right[-1] == model.judgement.accuracy.k
    assert (sizes[0], told.right[0]) == (0, (synthetic_run.data.y_test == "negative").sum())


def test_a_watched_run_has_the_model_of_an_unwatched_one(synthetic_run):
    model, again = synthetic_run.model, synthetic_run.request().fit(quick=True)
    assert np.array_equal(model.support, again.support)
    np.testing.assert_allclose(model.weights, again.weights, atol=1e-9)
    ours, theirs = (one.classifier.certificate_.primal_objective for one in (model, again))
    assert ours == pytest.approx(theirs, rel=1e-9)


def test_right_answers_of_the_last_step_are_those_of_the_model(synthetic_run):
    last = synthetic_run.job.history[-1]
    assert last.right == synthetic_run.model.judgement.accuracy.k


def test_terms_of_the_objective_add_up_to_the_certificates(synthetic_run):
    classifier = synthetic_run.model.classifier
    steps = [step for step in synthetic_run.job.history if isinstance(step, RecordedStep)]
    for phase, certificate in (
        (1, classifier.selection_certificate_),
        (2, classifier.certificate_),
    ):
        last = [step for step in steps if step.phase == phase][-1]
        assert sum(last.parts) == pytest.approx(certificate.primal_objective, rel=1e-9)
        assert last.objective == pytest.approx(certificate.primal_objective, rel=1e-9)
        assert (last.parts.l1 > 0) == (phase == 1)
        assert last.parts.loss >= 0


def test_stories_side_by_side_have_one_clock_and_the_same_axes(synthetic_run):
    first, second = with_shared_axes(run_stories(synthetic_run, synthetic_run.data))
    assert first.span == second.span
    assert [chart.span for chart in first.charts[:2]] == [chart.span for chart in second.charts[:2]]
    assert first.span[1] == max(len(one.places) - 1 for one in (first, second))


def test_a_finished_run_is_told_from_its_first_to_its_last_step(state):
    job = finished(state)
    told = story(job, state)
    n = job.outcome.classifier.n_iter_
    assert list(told.places) == list(range(n + 2))
    assert told.words[0].startswith("Before the first step")
    assert told.words[-1] == "The model"
    assert told.words[-2] == f"Step {n} of {n}, phase 2: fine-tune the chosen features"
    assert told.moves.inside[-1] == job.outcome.support.size
    assert [chart.title.split(" (")[0] for chart in told.charts][:2] == [
        "Right answers", "Features in the model",
    ]  # fmt: skip
    assert "patients right" in told.headline
    assert "without the rules" in told.aside
    assert "trust" in told.aside
    assert not told.live


def test_before_the_first_run_there_is_nothing_but_features(state):
    told = run_story((), None, FeatureGrid.of(state.data, None), state.data, state=state_of(None))
    assert (list(told.places), told.state) == ([], "Not run yet")
    assert told.as_dict()["field"]["regions"]


def test_a_failed_run_says_so(state):
    job = state.request(rules="Glukose >= 1 => diabetic").job()
    job.launch()
    job.wait(60)
    assert job.status is JobStatus.FAILED
    assert state_of(job) == "failed"


def test_rules_have_a_line_each_and_experts_see_terms_and_residuals():
    steps = [replace(record(1), rule_slacks=np.array([0.5, -1.0]))]
    *_, rules = algorithm_charts(steps, 3, ["a", "b"], expert=False)
    values = [(line.name, list(line.values)[1]) for line in rules.lines]
    assert values == [("a", 0.5), ("b", 0.0)]
    first, second, residuals = algorithm_charts(steps, 3, [], expert=True)
    assert [line.name for line in first.lines] == ["whole", "loss", "ridge", "rules", "l1"]
    assert "l1" not in [line.name for line in second.lines]
    assert residuals.logarithmic


def test_objectives_of_both_phases_are_never_on_one_scale():
    steps = [record(1, objective=9.0), record(2, phase=2, objective=1.0)]
    first, second = algorithm_charts(steps, 4, [], expert=True)[:2]
    told = [[v for v in chart.lines[0].values if np.isfinite(v)] for chart in (first, second)]
    assert told == [[9.0], [1.0]]


def test_the_block_of_a_harmful_rule_is_named(synthetic_run):
    model = synthetic_run.model
    assert blamed_block(model, synthetic_run.data) == ""
    blamed = replace(model, harm=SimpleNamespace(rule=1))
    assert blamed_block(blamed, synthetic_run.data) == "K4"


@pytest.mark.parametrize(
    ("chart", "low", "high"),
    [
        (LineChart("", (Line("", [1.0, 3.0], 0),)), 0.5, 3.5),
        (LineChart("", (Line("", [2.0, 4.0], 0),), from_zero=True), 0.0, 5.0),
        (LineChart("", (Line("", [1e-5, 1.0], 0),), logarithmic=True), 1e-5, 2.0),
        (LineChart("", (Line("", [float("nan")], 0),)), 0.0, 1.0),
        (LineChart("", (Line("", [0.0, 0.0], 0),), from_zero=True), 0.0, 1.0),
    ],
)
def test_an_axis_holds_all_values(chart, low, high):
    bottom, top = chart.span
    values = [v for line in chart.lines for v in line.values if np.isfinite(v)]
    assert low <= bottom < top <= high
    assert all(bottom <= value <= top for value in values)


def test_rules_that_the_most_probable_candidate_leaves_out_have_no_line(state):
    job = finished(state)
    model = job.outcome
    names = counted_rules(job, model)
    leading = max(model.classifier.members_, key=lambda member: member.share)
    labels = [record.label for record in model.classifier.rule_report_]
    counted = [name for name, w in zip(labels, leading.weights, strict=True) if w]
    assert names == counted
    assert len(job.history[-1].rule_slacks) == len(counted)
    assert "candidates; the last picture is their average" in averaged_words(model)


def test_the_trust_is_told_in_few_words():
    def told(*shares):
        records = [
            SimpleNamespace(label=f"r{k}", trust=RuleTrust(0.5, share, 16.0))
            for k, share in enumerate(shares, start=1)
        ]
        return short_trust(SimpleNamespace(classifier=SimpleNamespace(rule_report_=records)))

    assert told() == ""
    assert told(0.91) == "; trust in the rule: 91 %"
    assert told(0.91, 0.4) == "; trust: r1 91 %, r2 40 %"
    assert told(0.9, 0.9) == "; trust in each rule: 90 %"
    assert told(0.9, 0.1, 0.5, 0.3) == "; trust in the rules: 10 to 90 %"


def test_no_axis_of_right_answers_goes_beyond_all_of_them():
    flat = LineChart("Right", (Line("", [994.0, 994.0], 0),), whole=True, most=1_000)
    low, high = flat.span
    assert 0 <= low < 994 < high < 1_050
    assert LineChart("Right", (Line("", [3.0, 4.0], 0),), most=4).span[1] == pytest.approx(4.06)
