from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from hipad.evaluation.curves import (
    calibration_bins,
    calibration_curve,
    decision_curve,
    precision_recall_curve,
    risk_distribution,
    roc_curve,
)
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError

RNG = np.random.default_rng(0)
POSITIVE = RNG.random(300) < 0.3
SCORES = np.round(RNG.normal(size=300) + 1.2 * POSITIVE, 1)
RISKS = 1 / (1 + np.exp(-1.2 * SCORES + 1.5))
ROWS = ScoredRows(POSITIVE, SCORES, RISKS)


def net_benefit(truth, risks, cut, prevalence=None):
    """The definition, counted row by row; `prevalence` reweighs the classes."""
    found = {"hit": 0, "miss": 0, "alarm": 0, "calm": 0}
    for ill, risk in zip(truth.tolist(), risks.tolist(), strict=True):
        word = ("hit" if ill else "alarm") if risk >= cut else ("miss" if ill else "calm")
        found[word] += 1
    share = prevalence if prevalence is not None else truth.mean()
    hits = found["hit"] / (found["hit"] + found["miss"])
    alarms = found["alarm"] / (found["alarm"] + found["calm"])
    return hits * share - alarms * (1 - share) * cut / (1 - cut)


def test_roc_and_precision_curves_are_those_of_scikit_learn():
    found = roc_curve(ROWS)
    x, y, _ = sk.roc_curve(POSITIVE, SCORES, drop_intermediate=False)
    assert np.array_equal(found.x, x)
    assert np.array_equal(found.y, y)
    assert sk.auc(found.x, found.y) == pytest.approx(ROWS.measure("roc_auc").value)
    precision, recall, _ = sk.precision_recall_curve(POSITIVE, SCORES)
    found = precision_recall_curve(ROWS)
    assert np.array_equal(found.x[::-1], recall)
    assert np.array_equal(found.y[::-1], precision)
    assert (found.low <= found.high).all()


def test_a_band_lies_around_its_curve_and_groups_widen_it():
    found = roc_curve(ROWS)
    inside = np.interp(found.at, found.x, found.y)
    assert np.mean((found.low <= inside + 0.02) & (inside <= found.high + 0.02)) > 0.95
    copies = ROWS.take(np.repeat(np.arange(300), 4))
    alone = roc_curve(ScoredRows(copies.positive, copies.scores))
    groups = np.repeat(np.arange(300), 4)
    together = roc_curve(ScoredRows(copies.positive, copies.scores, groups=groups))
    assert (together.high - together.low).mean() > 1.5 * (alone.high - alone.low).mean()


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_net_benefit_equals_its_definition(prevalence):
    cuts = np.array([0.05, 0.2, 0.5, 0.9])
    found = decision_curve(ROWS, cuts, prevalence=prevalence)
    expected = [net_benefit(POSITIVE, RISKS, cut, prevalence) for cut in cuts]
    assert found.model == pytest.approx(expected, abs=1e-12)
    everybody = [net_benefit(POSITIVE, np.ones(300), cut, prevalence) for cut in cuts]
    assert found.treat_all == pytest.approx(everybody, abs=1e-12)
    assert (found.low <= found.model).all()
    assert (found.model <= found.high).all()


def test_calibration_curve_of_right_risks_holds_the_diagonal():
    rng = np.random.default_rng(1)
    risks = rng.uniform(0.05, 0.95, 3000)
    positive = rng.random(3000) < risks
    found = calibration_curve(ScoredRows(positive, risks - 0.5, risks))
    assert np.abs(found.y - found.x).max() < 0.08
    assert np.mean((found.low <= found.x) & (found.x <= found.high)) > 0.8
    off = calibration_curve(ScoredRows(positive, risks - 0.5, risks**3))
    assert np.abs(off.y - off.x).max() > 0.2


def test_bins_and_distribution_count_every_row():
    bins = calibration_bins(ROWS, 5)
    assert bins.count.sum() == 300
    assert bins.share @ bins.count == pytest.approx(POSITIVE.sum())
    assert (np.diff(bins.risk) > 0).all()
    spread = risk_distribution(ROWS, 10)
    assert (spread.negative.sum(), spread.positive.sum()) == ((~POSITIVE).sum(), POSITIVE.sum())


def test_a_curve_of_one_class_is_refused():
    for curve in (roc_curve, precision_recall_curve, calibration_curve):
        with pytest.raises(DataError, match="rows of both classes"):
            curve(ROWS.take(np.flatnonzero(POSITIVE)))
    with pytest.raises(DataError, match="expected risks"):
        decision_curve(ScoredRows(POSITIVE, SCORES))
