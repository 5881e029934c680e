from __future__ import annotations

import numpy as np
import pytest

from hipad.evaluation.stability import stability
from tests.ui.pima import fitted
from ui.jobs import BackgroundJob
from ui.results.stability_view import (
    feature_table,
    features_sentence,
    instability,
    instability_charts,
    spread_sentence,
    stability_job,
)
from ui.workbench.cross_validation import request_of

N = 10


@pytest.fixture(scope="module")
def job() -> BackgroundJob:
    """Refits of the pima sample, stopped after the first batch and gone on with."""
    state, model = fitted()
    job = stability_job(model, request_of(model, state.data), "cross-validated", N)
    job.launch()
    job.stop()
    job.watch(60)
    assert job.was_stopped
    job.go_on()
    job.watch(120)
    assert job.is_final, job.exception
    return job


def test_stability_job_gives_what_the_library_gives_with_rules_and_without(job):
    state, model = fitted()
    found = stability(model.classifier, N).seen_from(model.oriented.sign)
    pair = job.outcome
    assert np.array_equal(pair.own.selected, found.selected)
    assert np.array_equal(pair.own.risks, found.risks)
    alone = state.request(settings=model.own_settings.changed(use_rules=False)).fit()
    other = stability(alone.classifier, N).seen_from(alone.oriented.sign)
    assert np.allclose(pair.without.risks, other.risks, atol=1e-6)
    assert pair.own.is_done
    assert pair.without.is_done
    assert job.progress == 1.0


def test_stability_job_of_the_test_set_has_its_rows():
    state, model = fitted()
    job = stability_job(model, request_of(model, state.data), "test", 4)
    job.launch()
    job.watch(120)
    assert job.outcome.own.risks.shape[1] == len(state.data.y_test)


def test_sentences_say_the_figures_of_the_refits(job):
    pair = job.outcome
    told = spread_sentence(pair, "patient")
    for figure in (pair.own.mean_spread, pair.without.mean_spread):
        assert f"**{100 * figure:.1f}" in told
    assert f"{100 * pair.own.mean_flip_share:.1f} %" in told
    often = (pair.own.frequency >= 0.5).sum()
    told = features_sentence(pair.own)
    assert f"**{often}** of 8 features" in told
    assert f"**{100 * pair.own.false_discovery_share(0.5):.0f} %**" in told


def test_feature_table_counts_the_sign_towards_the_positive_class(job):
    state, _ = fitted()
    found = job.outcome.own
    table = feature_table(found, state.data)
    assert table["feature"][0] == state.data.index.name(found.table(1)[0].column)
    glucose = table.set_index("feature").loc["Glucose"]
    assert glucose["of these, for diabetic"] == "100 %"


def test_instability_plots_have_one_line_per_refit(job):
    state, _ = fitted()
    positive = state.data.y_train == state.data.classes[1]
    drawn = instability(job.outcome.own, positive)
    shown = instability_charts(drawn, "patient")
    assert [chart.layout.title.text for chart, _ in shown] == [
        "Risk", "Answer", "Calibration", "Net benefit",
    ]  # fmt: skip
    lines = np.isnan(np.asarray(shown[3][0].data[0].x, dtype=float)).sum()
    assert lines == N
