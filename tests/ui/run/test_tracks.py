from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.ui.run.records import record
from ui.run import tracks
from ui.run.tracks import Track


def test_the_switch_is_where_phase_two_begins_and_phase_zero_is_left_out():
    history = [record(1, phase=0), record(1), record(2), record(1, phase=2)]
    track = Track.of(history)
    assert track.steps == [1, 2, 3]
    assert track.switch == 2.5


def test_long_runs_are_thinned_to_their_true_numbers():
    track = Track.of([record(n) for n in range(1, 5_001)], most=100)
    assert len(track.records) == 100
    assert (track.steps[0], track.steps[-1]) == (1, 5_000)
    assert [r.iteration for r in track.records] == track.steps


def test_the_texts_say_what_the_charts_show():
    history = [record(1, [3, 7]), record(2, [5], [3])]
    track = Track.of(history)
    assert tracks.objective(track)[1] == "The objective went from 1 to 1 in 2 steps."
    assert tracks.residuals(track)[1].startswith("The last residuals are 0.1 (primal)")
    assert "3 entries and 1 exit so far" in tracks.support(track, history)[1]


def test_the_degree_with_the_smallest_loss_is_named():
    tried = (record(n, phase=0) for n in (1, 2, 3))
    history = [
        replace(r, objective=abs(r.iteration - 2.0), support_size=r.iteration) for r in tried
    ]
    assert "3 degrees of sparsity" in tracks.path(history)[1]
    assert "(0) was at about 2 features" in tracks.path(history)[1]


def test_rules_that_hold_are_counted():
    history = [replace(record(1), rule_slacks=np.array([0.0, 0.3]))]
    chart, text = tracks.slacks(Track.of(history), ["a", "<b>"])
    assert text == "1 of 2 rules fully met at the last step."
    assert [line.name for line in chart.data] == ["a", "&lt;b&gt;"]


def test_one_objective_runs_through_both_phases():
    history = [
        record(1, objective=1.8, shared=1.4), record(2, objective=1.7, shared=1.35),
        record(1, phase=2, objective=1.33, shared=1.33),
    ]  # fmt: skip
    chart, text = tracks.objective(Track.of(history))
    assert list(chart.data[0].y) == [1.4, 1.35, 1.33]
    assert list(chart.data[1].y) == [1.8, 1.7, None]
    assert "from 1.4 to 1.33 in 3 steps" in text


def test_the_reader_at_a_step_reads_of_that_step():
    track = Track.of([record(1, shared=3.0), record(2, shared=2.0), record(1, phase=2, shared=1.0)])
    assert "from 3 to 2 in 2 steps" in tracks.objective(track, at=2)[1]
    assert track.until(2).records[-1].shared == 2.0
