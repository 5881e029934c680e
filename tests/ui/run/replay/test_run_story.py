from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hipad.rules import RuleTrust
from tests.ui.run.records import record
from ui.data.samples import clinical
from ui.jobs import JobStatus
from ui.run.replay.mosaic import Mosaic
from ui.run.replay.run_story import (
    averaged_words,
    charts_of,
    counted_rules,
    short_trust,
    story_of,
)
from ui.run.replay.story import Line, LineChart
from ui.run.tracks import Track
from ui.state import AppState


@pytest.fixture(scope="module")
def state():
    state = AppState()
    state.load(clinical("pima"))
    state.settings = state.settings.changed(fewness="some")
    return state


def finished(state):
    job = state.request().job()
    job.launch()
    job.wait(60)
    return job


def test_a_finished_run_is_told_from_its_first_to_its_last_step(state):
    job, mosaic = finished(state), Mosaic.of(state.data, None)
    story = story_of(job, mosaic, title="")
    n = job.outcome.classifier.n_iter_
    assert list(story.places) == list(range(1, n + 1))
    assert story.words[-1] == f"Step {n} of {n}, phase 2: fit them accurately"
    leading = max(job.outcome.classifier.members_, key=lambda member: member.share)
    assert story.moves.inside[-1] == leading.support_size
    assert [chart.title.split(" (")[0] for chart in story.charts][:2] == [
        "Objective", "Features in the model",
    ]  # fmt: skip
    assert "patients right" in story.headline
    assert "without the rules" in story.aside
    assert "trust" in story.aside
    assert not story.live


def test_before_the_first_run_there_is_nothing_but_features(state):
    story = story_of(None, Mosaic.of(state.data, None), title="")
    assert (list(story.places), story.state) == ([], "Not run yet")
    assert story.told()["field"]["regions"]


def test_a_failed_run_says_so(state):
    job = state.request(rules="Glukose >= 1 => diabetic").job()
    job.launch()
    job.wait(60)
    assert job.status is JobStatus.FAILED
    assert story_of(job, Mosaic.of(state.data, None), title="").state == "failed"


def test_rules_have_a_line_each_and_experts_see_residuals():
    track = Track.of([replace(record(1), rule_slacks=np.array([0.5, -1.0]))])
    rules = charts_of(track, ["a", "b"], expert=False)[2]
    assert [(line.name, list(line.values)) for line in rules.lines] == [("a", [0.5]), ("b", [0.0])]
    assert charts_of(track, [], expert=True)[-1].logarithmic


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
    assert "candidates; their average has" in averaged_words(model)


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
