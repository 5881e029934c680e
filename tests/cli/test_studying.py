from __future__ import annotations

import numpy as np
import pytest

from hipad.cli.inputs import read_text
from hipad.cli.studying import named_rules, on_classes, read_rule_file, resolved, usual_lambda1
from hipad.errors import DataError
from hipad.evaluation.patients import Patients
from hipad.rules import compile_rules, read_rules


@pytest.mark.parametrize("text", ["", "\n\n", "# only a note\n"])
def test_a_file_without_rules_says_so(tmp_path, text):
    path = tmp_path / "my.rules"
    path.write_text(text)
    with pytest.raises(DataError, match=r"my\.rules has no rules: write one per line, as in"):
        read_rule_file(str(path))
    assert read_text(str(path)) == text


def test_a_file_with_mistakes_alone_is_not_empty(tmp_path):
    path = tmp_path / "my.rules"
    path.write_text("a >= => yes\n")
    assert len(read_rule_file(str(path)).errors) == 1


@pytest.mark.parametrize(
    ("chosen", "classes", "outcome"),
    [
        (True, ("healthy", "diabetic"), "diabetic"),
        (False, ("healthy", "diabetic"), "Positive"),
        (True, ("negative", "positive"), "Positive"),
    ],
)
def test_positive_is_the_class_that_was_chosen(chosen, classes, outcome):
    found = on_classes(read_rules("a >= 1 => Positive"), classes, chosen=chosen)
    assert found.rules[0].outcome == outcome


def test_a_rule_bears_the_name_of_its_class():
    found = read_rules("a >= 1 => 1\noff a >= 2 => 0")
    compiled = compile_rules(
        found.rules, n_features=1, feature_names=["a"], classes=("0.0", "1.0"), include_off=True
    )
    by_place = {at: resolved(rule, ("0.0", "1.0")) for at, rule in enumerate(compiled)}
    assert [rule.outcome for rule in named_rules(found.rules, by_place)] == ["1.0", "0.0"]


def test_the_usual_lambda1_is_a_tenth_of_where_no_feature_is_left():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    patients = Patients((X, y), None, X.min(0), X.max(0), None, None, np.full(2, 0.5))
    assert usual_lambda1(patients) == pytest.approx(0.1)
