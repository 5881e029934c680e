from __future__ import annotations

import numpy as np
import pytest

from tests.ui.pima import session
from ui.models import comparable_weights
from ui.run.outcome import TOP, block_weights, top_features


@pytest.fixture(scope="module")
def state():
    return session()


def test_the_strongest_features_come_first_and_are_told(state):
    model = state.request().fit()
    chart, text = top_features(model, state.data)
    sizes = np.concatenate([np.asarray(bar.x, dtype=float) for bar in chart.data])
    assert len(sizes) == min(TOP, len(model.support))
    assert text.startswith("Strongest is Glucose (metabolic)")


def test_the_sums_of_the_blocks_add_up_to_all_weights(state):
    model = state.request().fit()
    (bars,) = block_weights(model, state.data)[0].data
    spread = state.data.summary["sd"].to_numpy()
    assert sum(bars.x) == pytest.approx((model.weights * spread).sum())


def test_a_feature_of_two_blocks_counts_in_both(state):
    model = state.request().fit()
    blocks = {"body": "BMI, Glucose", "sugar": "Glucose"}
    data = state.data.with_blocks(blocks)
    (bars,) = block_weights(model, data)[0].data
    weights = comparable_weights(model, data)
    sums = [weights[columns].sum() for columns in data.blocks.values()]
    assert list(bars.x)[:2] == pytest.approx(sums)


def test_a_model_without_features_is_told(state):
    empty = state.settings.changed(fewness="exact", lambda1=1e6, use_rules=False)
    model = state.request(settings=empty).fit()
    assert top_features(model, state.data)[1].startswith("No feature has a weight")
    assert block_weights(model, state.data)[1] == "Sum of the weights by block: no weights."
