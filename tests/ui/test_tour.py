from __future__ import annotations

import pytest

from ui import tour
from ui.data.samples import CARDS
from ui.run import lie_detector
from ui.state import AppState


@pytest.fixture
def state():
    made = AppState()
    made.load(next(card for card in CARDS if card.key == tour.SAMPLE).load())
    yield made
    made.stop_work()


def test_there_are_eight_scenes_and_names_point_at_their_own():
    assert len(tour.SCENES) == 8
    assert [tour.SCENES[at].title for at in (tour.RUN, tour.APART, tour.WORTH)] == [
        "The run",
        "Without the rules",
        "What the rules are worth",
    ]
    assert tour.SCENES[tour.PATIENT].page == "pages/patients.py"
    assert tour.SCENES[tour.OWN].page == "pages/data.py"


def test_scenes_flip_the_first_rule_and_heal_it(state):
    before = state.rules.text
    flip, fit = tour.SCENES[tour.WRONG].enter, tour.SCENES[tour.RUN].enter
    flip(state)
    assert lie_detector.flipped(state).label == "abl_high"
    assert state.job.request.rules == state.rules.text != before
    flip(state)  # twice is once
    assert lie_detector.flipped(state).before == before
    fit(state)
    assert state.rules.text == before
    job = state.job
    fit(state)  # the run that is there is the one to show
    assert state.job is job


def test_scenes_without_data_wait_for_them():
    state = AppState()
    for scene in tour.SCENES[2:7]:
        scene.enter(state)
    assert state.job is None
    tour.SCENES[0].enter(state)
    assert state.loading is not None
    state.loading.wait(60)
    state.stop_work()
