"""The rule report against the formulas of the problem, written out with the rules' own rows."""

import numpy as np
import pytest

from hipad.estimator.rule_report import farkas_residuals, model_report
from tests.small import data, fit

RULES = "x0 >= 2 => positive\nx1 + x2 <= -1 and x0 <= 0 => negative"
WORTHLESS = "x0 >= 2 => positive worth 0 patients\n" + RULES


def by_hand(model):
    """Slack and residual of each rule from B, d and u as they are, not as rows of unit norm."""
    problem, found = model.problem, model.solution
    w = np.zeros(problem.n_features)
    w[found.features] = found.w
    pairs, start = [], 0
    for rule in problem.rules:
        B = rule.B.toarray()
        u = found.u[start : start + len(B)] / np.linalg.norm(B, axis=1)
        start += len(B)
        of_b = 0.0 if rule.centered else rule.sign
        residual = B.T @ u + rule.sign * w
        if problem.scope == "typical":
            residual = residual[(B != 0).any(axis=0)]
        slack = max(rule.d @ u - of_b * found.b + 1, 0.0)
        pairs.append((slack, np.linalg.norm(residual)))
    return pairs


@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("rules", [RULES, "\n".join(reversed(RULES.splitlines()))])
def test_slack_and_residual_are_those_of_the_problem(scope, centered, rules):
    model = fit(
        rules=rules, rule_settings={"scope": scope, "centered": centered}, rule_weight=5.0
    )._model
    np.testing.assert_allclose(farkas_residuals(model), by_hand(model), atol=1e-9)
    assert len(by_hand(model)) == 2


def test_a_rule_worth_nothing_has_neither_and_the_others_keep_theirs():
    model = fit(rules=WORTHLESS, rule_weight=5.0)._model
    pairs = farkas_residuals(model)
    assert pairs[0] == (None, None)
    np.testing.assert_allclose(pairs[1:], by_hand(model), atol=1e-9)


def test_without_rules_there_is_nothing_to_tell():
    fitted = fit(rules=None)
    assert farkas_residuals(fitted._model) == []
    assert fitted.rule_report_ == []


def test_each_record_tells_of_its_own_rule_in_users_units():
    X, y = data()
    fitted = fit(100 * X + 7, y, rules="x0 >= 207 => positive\nx1 <= -93 => negative")
    records = model_report(fitted._data, fitted._model)
    assert [record.text for record in records] == [
        "x0 >= 207 => 1",
        "x1 <= -93 => 0",
    ]
    met = [X[:, 0] >= 2, X[:, 1] <= -1]
    for record, rows, weights in zip(records, met, fitted._model.rule_weights, strict=True):
        assert record.train.fired.tolist() == np.flatnonzero(rows).tolist()
        assert record.weights == weights
    assert [record.sign for record in records] == [1.0, -1.0]


def test_the_worst_case_is_the_least_margin_in_the_box_of_the_data():
    X, y = data()
    fitted = fit(X, y, rules="x0 >= 2 => positive")
    (record,) = fitted.rule_report_
    w, box = fitted.coef_.ravel(), fitted._data.box
    low, high = box.lo.copy(), box.hi.copy()
    low[0] = max(low[0], 2.0)
    worst = float(np.minimum(w * low, w * high).sum() + fitted.intercept_[0])
    assert record.worst.value == pytest.approx(worst, abs=1e-7)
