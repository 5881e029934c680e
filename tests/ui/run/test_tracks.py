from __future__ import annotations

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


def test_one_objective_runs_through_both_phases():
    assert tracks.shared(record(1, objective=1.8, shared=1.4)) == 1.4
    assert tracks.shared(record(1, objective=1.8, shared=float("nan"))) == 1.8
