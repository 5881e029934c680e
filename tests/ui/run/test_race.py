from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from tests.ui.pima import session
from ui.data.samples import synthetic
from ui.run.race import LANES, factor_of, race_of
from ui.state import AppState


@pytest.fixture(scope="module")
def state():
    state = AppState()
    state.load(synthetic("10k", n_train=60, n_test=80, n_features=500, block_size=10))
    state.launch()
    state.job.wait(60)
    return state


def test_the_lanes_show_what_the_methods_do(state):
    job, lanes = race_of(state)
    job.wait(60)
    assert job.error is None
    assert [lane.name for lane in lanes] == list(LANES)
    assert all(lane.seconds > 0 for lane in lanes)
    hipad, admm, libsvm = lanes
    model, data = state.model, state.data
    assert (hipad.right, hipad.features) == (model.judgement.accuracy.k, model.support.size)
    exact = state.settings.changed(method="admm")
    alone = state.request(settings=exact).fit()
    assert admm.features == alone.support.size
    svc = SVC(kernel="linear", class_weight="balanced").fit(data.X_train, data.y_train)
    assert libsvm.right == int(np.sum(svc.predict(data.X_test) == data.y_test))
    assert libsvm.features == 500


def test_one_factor_brings_the_slowest_lane_to_its_time_on_the_screen(state):
    job, lanes = race_of(state)
    job.wait(60)
    slowest = max(lane.seconds for lane in lanes)
    assert factor_of(lanes) * slowest == pytest.approx(8.0, rel=0.06)


def test_without_a_model_there_is_no_race():
    assert race_of(session()) is None
