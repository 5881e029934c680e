"""Rules learn percentiles from the rows of a fit: a test row cannot move a rule."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold

from hipad import HIPADClassifier, load_model

RULES = "x0 > p90(x0) => 1\nx1 <= mean(x1) - sd(x1) => 0"


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    return X, (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)


def bounds(clf: HIPADClassifier) -> list[float]:
    return [float(rule.d[0]) for rule in clf._knowledge.rules]


def test_a_test_row_cannot_move_a_rule():
    X, y = data()
    for train, test in KFold(3).split(X):
        clf = HIPADClassifier(RULES, lambda1=0.05).fit(X[train], y[train])
        wild = X.copy()
        wild[test] += 1e6
        again = HIPADClassifier(RULES, lambda1=0.05).fit(wild[train], y[train])
        assert bounds(clf) == bounds(again)
        assert bounds(clf)[0] == -np.percentile(X[train, 0], 90)


def test_rows_of_no_weight_are_not_learnt_from():
    X, y = data()
    weights = np.r_[np.ones(40), np.zeros(20)]
    clf = HIPADClassifier(RULES, lambda1=0.05).fit(X, y, sample_weight=weights)
    assert bounds(clf)[0] == -np.percentile(X[:40, 0], 90)


def test_a_saved_model_needs_no_training_rows(tmp_path):
    X, y = data()
    clf = HIPADClassifier(RULES, lambda1=0.05).fit(X, y)
    clf.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert (again.predict(X) == clf.predict(X)).all()
    assert len(again.rule_report_) == 2
