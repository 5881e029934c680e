from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.solvers import Status
from tests.small import data, fit
from tests.ui.pima import session
from ui.data.samples import synthetic
from ui.models import comparable_weights
from ui.run.result import (
    BEGINNINGS,
    TOP,
    block_weights,
    certificate_numbers,
    certificate_words,
    file_name,
    sentence,
    share,
    top_features,
)
from ui.state import AppState


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


@pytest.mark.parametrize(
    ("gap", "words"),
    [(0.0, "0.000001 %"), (2e-7, "0.00002 %"), (0.0009, "0.09 %"), (0.5, "50 %")],
)
def test_gaps_in_words(gap, words):
    assert share(gap) == words


def test_every_ending_of_a_fit_has_its_words():
    assert set(BEGINNINGS) == set(Status)


@pytest.mark.parametrize(("method", "over"), [("hipad", "these "), ("exact", "all 6 features")])
def test_the_certificate_says_over_which_features_it_holds(method, over):
    clf = fit(*data(), method=method)
    words = certificate_words(clf, 6)
    assert f"Certified optimal: no other weights on {over}" in words
    if method == "hipad":
        assert words.endswith("are certain.")


def test_the_numbers_of_the_certificates_stand_side_by_side():
    table = certificate_numbers(fit(*data()))
    assert "result" in table.columns
    assert "status" in table[""].tolist()


def test_the_sentence_stands_before_the_fit_without_rules_and_grows_with_it(state):
    state.settings = state.settings.changed(fewness="some")
    model = state.request().fit()
    assert model.without_rules is None
    assert "without rules" not in sentence(model)
    alone = state.request(settings=state.settings.changed(use_rules=False)).fit()
    gain = model.judgement.accuracy.k - alone.judgement.accuracy.k
    words = sentence(replace(model, without_rules=alone.judgement, gain=(-0.1, 0.1)))
    assert (f"{abs(gain)} right answer" in words) if gain else ("same number" in words)


def test_files_of_a_synthetic_draw_tell_its_seed(state):
    drawn = AppState()
    drawn.load(synthetic("10k", seed=7, n_train=10, n_test=4, n_features=60, block_size=5))
    assert file_name(drawn, "weights", "csv") == "weights_ksvm-s-10k_seed7.csv"
    assert file_name(state, "weights", "csv") == "weights.csv"
