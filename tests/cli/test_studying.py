from __future__ import annotations

import numpy as np
import pytest

from hipad.cli.check import CheckedTable, read_rule_file, usual_lambda1, written
from hipad.cli.inputs import read_text
from hipad.data import Table
from hipad.evaluation.rule_study import StudyRows
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex


@pytest.mark.parametrize("text", ["", "\n\n", "# only a note\n"])
def test_a_file_without_rules_says_so(tmp_path, text):
    path = tmp_path / "my.rules"
    path.write_text(text)
    with pytest.raises(DataError, match=r"my\.rules has no rules: write one per line, as in"):
        read_rule_file(str(path))
    assert read_text(str(path)) == text


def test_a_file_with_mistakes_or_statements_alone_is_not_empty(tmp_path):
    path = tmp_path / "my.rules"
    for text in ("a >= => yes\n", "a does not matter\n"):
        path.write_text(text)
        assert read_rule_file(str(path)) == text


def table_of(classes=("healthy", "diabetic")) -> CheckedTable:
    X = np.column_stack([np.arange(20.0), np.arange(20.0) % 3, np.ones(20)])
    y = np.where(X[:, 0] >= 10, 1.0, -1.0)
    names = ("Glucose", "blood pressure", "c")
    table = Table(X, names, {}, "csv")
    return CheckedTable(X, y, np.arange(1, 21), classes, FeatureIndex(names), table)


@pytest.mark.parametrize("chosen", [True, False])
def test_positive_is_an_outcome_if_that_class_was_chosen(chosen):
    said = written("Glucose >= 1 => positive", table_of(), {}, chosen=chosen)
    if chosen:
        assert [rule.outcome for rule in said.rules] == ["diabetic"]
        assert said.compiled[0].resolved_text == "Glucose >= 1 => diabetic"
    else:
        assert "which class is positive is not known" in str(said.first.errors[0])


def test_names_with_blanks_and_numbers_learnt_are_known():
    said = written("blood pressure > p90(Glucose) => Healthy", table_of(), {}, chosen=False)
    assert not said.first.errors
    (rule,) = said.compiled.values()
    assert rule.sign == -1
    assert rule.resolved_text == "`blood pressure` > 17.1 => healthy"
    assert [rule.outcome for rule in said.rules] == ["healthy"]
    assert "p90" in str(said.rules)  # so that a fit learns it from its own rows


def test_a_rule_that_stands_for_several_is_these():
    blocks = {"K": np.array([0, 2])}
    text = "top: max(K) >= 15 => diabetic worth 8 patients"
    said = written(text, table_of(), blocks, chosen=False)
    assert [rule.label for rule in said.compiled.values()] == ["top_1", "top_2"]
    assert [rule.rule.worth for rule in said.compiled.values()] == [4, 4]
    assert [rule.worth for rule in said.rules] == [4, 4]  # the worth of the line, shared


def test_statements_are_told_with_what_they_come_to():
    text = "Glucose is raised in diabetic\nc does not matter\noff Glucose is certain"
    said = written(text, table_of(), {}, chosen=False)
    raised, ignored, certain = said.lines
    assert raised.startswith("Glucose is raised in diabetic: a high Glucose can only speak for")
    assert ignored == "c does not matter: c gets no weight"
    assert certain.startswith("off ")
    wrong = written("Glucose >= 1 => nobody\nGlucos does not matter", table_of(), {}, chosen=False)
    assert [error.line for error in wrong.first.errors] == [1, 2]


def test_the_usual_lambda1_is_a_tenth_of_where_no_feature_is_left():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    patients = StudyRows((X, y), None, X.min(0), X.max(0), None, None, np.full(2, 0.5))
    assert usual_lambda1(patients) == pytest.approx(0.1)
