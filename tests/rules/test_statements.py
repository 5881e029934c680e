from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules import parse_rules, rule_errors
from hipad.rules.ast import KINDS, FeaturePrior, read_statement
from tests.rules.strategies import NAMES, NOTES, ODD_NAMES

STATEMENTS = st.builds(
    FeaturePrior,
    st.sampled_from(KINDS),
    st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple),
    st.just(""),
    NOTES,
    st.booleans(),
)


@pytest.mark.parametrize(
    ("text", "kind", "names", "outcome"),
    [
        ('ABL1 is raised in "BCR/ABL"', "raised", ("ABL1",), "BCR/ABL"),
        ("ABL1 up in ill", "raised", ("ABL1",), "ill"),
        ("Glucose is elevated in diabetic", "raised", ("Glucose",), "diabetic"),
        ("Glucose and BMI are higher in diabetic", "raised", ("Glucose", "BMI"), "diabetic"),
        ("HDL is reduced in diabetic", "lowered", ("HDL",), "diabetic"),
        ("blood pressure is low in well", "lowered", ("blood pressure",), "well"),
        ("Glucose raises the risk", "raised", ("Glucose",), ""),
        ("Glucose, BMI and Age raise the risk of ill", "raised", ("Glucose", "BMI", "Age"), "ill"),
        ("HDL lowers the risk.", "lowered", ("HDL",), ""),
        ("x does not matter", "ignored", ("x",), ""),
        ("ignore x, `a and b`", "ignored", ("x", "a and b"), ""),
        ("x is irrelevant", "ignored", ("x",), ""),
        ("x is certain", "certain", ("x",), ""),
        ("x matters", "certain", ("x",), ""),
        ("x must be in", "certain", ("x",), ""),
        ("keep x and y", "certain", ("x", "y"), ""),
    ],
)
def test_a_statement_is_read_in_the_ways_people_write_it(text, kind, names, outcome):
    found = read_statement(text)
    assert found == FeaturePrior(kind, names, outcome)
    assert read_statement(str(found)) == found


@pytest.mark.parametrize("text", ["x >= 1 => ill", "ill if x matters", "keep", "matters", ""])
def test_other_lines_are_no_statements(text):
    assert read_statement(text) is None


@given(STATEMENTS)
def test_a_statement_is_written_and_read_back(statement):
    assert parse_rules(str(statement)).statements == (statement,)


@given(ODD_NAMES)
def test_any_class_can_be_named(label):
    statement = FeaturePrior("raised", ("a",), label)
    assert parse_rules(str(statement)).statements == (statement,)


def test_statements_stand_among_the_rules_with_their_notes():
    text = "a >= 1 => ill\n# seen\noff b does not matter  # twice\nb >= 2 => well\nb is certain"
    rules = parse_rules(text)
    assert [statement.after for statement in rules.statements] == [1, 2]
    assert rules.statements[0].preface == ("seen",)
    assert (rules.statements[0].note, rules.statements[0].enabled) == ("twice", False)
    assert len(rules) == 2
    assert parse_rules(str(rules)) == rules


def test_names_must_be_a_list():
    (error,) = rule_errors("a >= 1 => ill\na,,b matter")
    assert error.line == 2
    with pytest.raises(RuleError, match="a statement is one of"):
        FeaturePrior("loud", ("a",))


def test_a_long_line_is_read_in_one_sweep():
    assert read_statement(" ".join(["is raised"] * 2_000)) is None
    assert read_statement("a" + " " * 15_000 + "b") is None
