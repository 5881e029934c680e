from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from hipad.designs import standardisation
from hipad.estimator.problem_factory import rule_weights
from hipad.evaluation.rule_study import Study, StudyRows, first_look, study_rules
from hipad.rules import Budget, read_rules
from tests.evaluation.rows import CLASSES, INDEX, X, Y

MEAN, SCALE = standardisation(X)
PATIENTS = StudyRows((X, Y), (X[:20], Y[:20]), X.min(0), X.max(0), MEAN, SCALE, np.full(60, 1 / 60))
WEIGHTS = partial(rule_weights, total=60, rule_weight="auto", rho="auto")


def studies(text: str, **options) -> list[Study]:
    first, compiled = first_look(read_rules(text), INDEX, {}, CLASSES)
    return [first, *study_rules(first, compiled, PATIENTS, **options)]


def test_each_study_says_more_than_the_one_before():
    first, tried, compared, last = studies("high: a >= 6 => ill\nlow: a <= 6.5 => well")
    assert not first.checks
    assert [len(check.train.fired) for check in tried.checks] == [
        int((X[:, 0] >= 6).sum()),
        int((X[:, 0] <= 6.5).sum()),
    ]
    assert not tried.findings
    assert "conflict" in {finding.kind for finding in compared.findings}
    assert [study.is_final for study in (first, tried, compared, last)] == [False] * 3 + [True]
    assert tried.checks[0].test is not None
    assert tried.checks[0].test.n_rows == 20


def test_mistakes_of_reading_and_of_names_come_in_the_order_of_lines():
    (first, *_) = studies("zzz >= 1 => ill\na >= => ill\nb >= 1 => ill\nc >= 1 => nobody")
    assert [error.line for error in first.errors] == [1, 2, 4]


def test_a_rule_that_is_off_is_tried_but_not_compared():
    *_, last = studies("off high: a >= 6 => ill\nlow: a <= 6.5 => well")
    assert [check.label for check in last.checks] == ["high", "low"]
    assert [rule.label for rule in last.active] == ["low"]
    assert "conflict" not in {finding.kind for finding in last.findings}
    assert last.overlap is not None
    assert last.overlap.labels == ("low",)


def test_a_weak_rule_tells_the_worth_that_it_needs():
    text = "b >= 1 => ill worth {} patients"
    *_, last = studies(text.format(0.01), lambda1=0.3, weights=WEIGHTS)
    (check,) = last.checks
    assert check.gradient is not None
    assert not check.gradient.enters
    assert check.needed_patients is not None
    assert "weak" in {finding.kind for finding in last.findings}
    *_, better = studies(text.format(1.01 * check.needed_patients), lambda1=0.3, weights=WEIGHTS)
    assert better.checks[0].gradient is not None
    assert better.checks[0].gradient.enters
    assert better.checks[0].needed_patients is None


def test_without_lambda1_nothing_is_said_of_the_pull():
    *_, last = studies("b >= 1 => ill", weights=WEIGHTS)
    assert last.checks[0].gradient is None
    assert last.checks[0].needed_patients is None


def test_a_spent_budget_tells_what_was_not_reached():
    *_, last = studies("a >= 6 => ill\nb >= 1 => ill", budget=Budget(steps=0))
    assert last.is_final
    assert (last.untried, last.checks) == (2, ())


@pytest.mark.parametrize("text", ["", "# nothing", "zzz >= 1 => ill"])
def test_no_rule_is_no_trouble(text):
    *_, last = studies(text, lambda1=0.1, weights=WEIGHTS)
    assert last.is_final
    assert last.checks == last.findings == ()
