from __future__ import annotations

import numpy as np

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.metrics import ScoredRows
from hipad.evaluation.tuning import corrected_figure
from tests.ui.pima import fitted, session
from ui.results.tuning_correction import corrected, note, sentence, versions


def rows(seed, n=60):
    rng = np.random.default_rng(seed)
    return ScoredRows(np.arange(n) % 2 == 0, rng.normal(size=n), np.full(n, 0.5))


def test_versions_of_noise_are_corrected_towards_one_half():
    tried = [rows(seed).scores for seed in range(30)]
    found = corrected(tried, rows(0))
    assert found == corrected_figure(np.column_stack(tried), rows(0).positive)
    assert found.uncorrected > 0.58
    assert abs(found.corrected.value - 0.5) < 0.06
    assert f"{100 * found.corrected.value:.1f} %" in sentence(found, "patient", expert=False)
    assert "Uncorrected" not in sentence(found, "patient", expert=False)
    assert f"Uncorrected: {100 * found.uncorrected:.1f} %" in sentence(found, "row", expert=True)


def test_a_version_counts_once_and_test_rows_never():
    state, (_, model) = session(), fitted()
    judged = Assessment("cross-validated", rows(0), None, np.arange(60))
    note(state, model, judged)
    note(state, model.named("the same under another name"), judged)
    assert len(versions(state)) == 1
    note(state, model, Assessment("test", rows(1), None, np.arange(60)))
    (kept,) = versions(state).values()
    assert np.array_equal(kept, rows(0).scores)


def test_other_data_forget_the_versions():
    state, (_, model) = session(), fitted()
    note(state, model, Assessment("cross-validated", rows(0), None, np.arange(60)))
    state.load(state.loaded)
    assert not versions(state)


def test_one_class_has_no_corrected_figure():
    one = ScoredRows(np.ones(5, dtype=bool), np.zeros(5), np.full(5, 0.5))
    assert corrected([one.scores, one.scores], one) is None
