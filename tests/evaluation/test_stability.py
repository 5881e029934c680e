from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad import HIPADClassifier
from hipad.evaluation.stability import stability, stability_steps
from hipad.exceptions import DataError

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 40)
X = RNG.normal(size=(80, 12))
X[40:, 0] += 2.0
X[40:, 1] -= 1.0
CLF = HIPADClassifier(lambda1=0.15, lambda2=1.0).fit(X, Y)


def test_a_refit_is_the_classifier_fitted_to_the_same_half():
    found = stability(CLF, 6, decoys=False)
    for scores, fresh in zip(found.scores, found.fresh, strict=True):
        half = np.flatnonzero(~fresh)
        assert half.size == 40
        alone = HIPADClassifier(lambda1=0.15, lambda2=1.0).fit(X[half], Y[half])
        assert scores == pytest.approx(alone.decision_function(X), abs=0.02)


def test_refits_with_rules_are_those_of_the_averaged_model():
    clf = HIPADClassifier("x0 >= 1 => 1\nx2 >= 1 => 0", cv=3).fit(X, Y)
    assert len(clf.members_) > 1
    found = stability(clf, 4, decoys=False)
    for scores, fresh in zip(found.scores, found.fresh, strict=True):
        half = np.flatnonzero(~fresh)
        same = {"lambda1": clf.lambda1_, "lambda2": clf.lambda2_, "rule_trust": clf.members_}
        alone = HIPADClassifier(clf.rules, **same).fit(X[half], Y[half]).decision_function(X)
        assert np.corrcoef(scores, alone)[0, 1] > 0.99


def test_features_that_tell_are_selected_always_and_with_their_sign():
    found = stability(CLF, 30)
    first, second = found.table(2)
    assert (first.column, first.frequency, first.positive_share) == (0, 1.0, 1.0)
    assert (second.column, second.positive_share) == (1, 0.0)
    assert found.is_done
    assert 0 <= found.false_discovery_share(0.5) <= 1
    assert found.false_discoveries(1.0) <= found.false_discoveries(0.2)


def test_decoys_tell_how_many_features_are_false():
    rng, told, true = np.random.default_rng(1), [], []
    for _ in range(4):
        wide = rng.normal(size=(80, 300))
        wide[40:, :5] += 1.5
        clf = HIPADClassifier(lambda1=0.2, lambda2=1.0).fit(wide, Y)
        found = stability(clf, 30)
        told.append(found.false_share)
        true.append(found.selected[5:].sum() / found.selected.sum())
    assert np.mean(told) == pytest.approx(np.mean(true), abs=0.1)


def test_sparse_rows_give_the_figures_of_dense_ones():
    holes = np.where(RNG.random(X.shape) < 0.5, 0.0, X)
    each = []
    for rows in (holes, sparse.csr_array(holes)):
        clf = HIPADClassifier(lambda1=0.1, lambda2=1.0).fit(rows, Y)
        each.append(stability(clf, 5, X_rows=rows[:7]))
    dense, thin = each
    assert thin.risks == pytest.approx(dense.risks, abs=1e-3)
    assert np.array_equal(thin.selected, dense.selected)
    assert dense.fresh.all()


def test_halves_keep_patients_whole():
    groups = np.repeat(np.arange(40), 2)
    clf = HIPADClassifier(lambda1=0.15, lambda2=1.0).fit(X, Y, groups=groups)
    found = stability(clf, 5)
    assert np.array_equal(found.fresh[:, ::2], found.fresh[:, 1::2])


def test_it_tells_how_far_it_is_and_can_be_stopped():
    evidence: list[tuple[int, int]] = []
    found = stability(
        CLF,
        120,
        on_progress=lambda done, total: evidence.append((done, total)),
        should_stop=lambda: len(evidence) == 2,
    )
    assert evidence == [(50, 144), (100, 144)]
    assert found.done == 100
    assert not found.is_done
    with pytest.raises(DataError, match="with decoys, got none yet"):
        found.false_discoveries()


def test_the_four_plots_and_the_other_class():
    found = stability(CLF, 20, decoys=False)
    risk, low, high = found.risk_instability()
    assert (np.diff(risk) >= 0).all()
    assert (low <= high).all()
    assert np.sort(found.flip_share) == pytest.approx(
        np.sort(found.classification_instability()[1])
    )
    assert len(found.calibration_instability(Y == 1)) == 20
    thresholds, benefit = found.decision_instability(Y == 1)
    assert benefit.shape == (20, thresholds.size)
    other = found.seen_from(-1.0)
    assert other.risk == pytest.approx(1 - found.risk)
    assert other.mean_spread == pytest.approx(found.mean_spread)
    assert other.table(1)[0].positive_share == 0.0


def test_a_model_without_rows_is_refused():
    with pytest.raises(DataError, match="training rows"):
        next(stability_steps(HIPADClassifier()))
