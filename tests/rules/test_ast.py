from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules import Condition, FeatureSpan, Rule, RuleSet, Term, parse_rules, rule_errors
from hipad.rules.ast import (
    KINDS,
    MOST_ALTERNATIVES,
    All,
    Any,
    FeaturePrior,
    Node,
    alternatives,
    negated,
    read_statement,
    side_text,
)
from tests.rules.strategies import NAMES, NOTES, ODD_NAMES, RULE_SETS

# --------------------------------------------------------------------------------------------------
# Model.


RULES = RuleSet((Rule.simple("a", {"x": 1}, 2, "y"), Rule.simple("", {"z": -2}, 3, "n", 4.0)))


@given(RULE_SETS)
def test_printing_gives_back_the_same_rules(rules: RuleSet):
    assert parse_rules(str(rules)) == rules


def test_labels_and_slices():
    assert RULES.labels == ("a", "rule 2")
    assert len(RULES[:1]) == 1
    assert str(RULES[1]) == "-2*z >= 3 => n worth 4 patients"


def test_without_switches_one_off_and_leaves_the_rest():
    left = RULES.without(0)
    assert [rule.enabled for rule in left] == [False, True]
    assert RULES[0].enabled


@pytest.mark.parametrize(
    "make",
    [
        lambda: RuleSet((RULES[0], RULES[0])),
        lambda: Rule((), "y"),
        lambda: Rule.simple("a", {"x": 1}, 2, "y", worth=-1),
        lambda: Rule.simple("a", {"x": 1}, 2, " "),
        lambda: Condition(((Term(1.0),), (Term(2.0),)), ("<=",)),
        lambda: Condition(((Term(1.0, ("a",)),),), ()),
        lambda: Condition(((Term(1.0, ("a",)),), (Term(2.0),)), ("!",)),
    ],
)
def test_what_cannot_be_a_rule_is_refused(make):
    with pytest.raises(RuleError):
        make()


def test_labels_of_rules_are_their_lines():
    text = "# first\na >= 1 => ill\n\nb >= 1 or c >= 1 => ill\nmine: a >= 3 => ill\nc >= 9 => well"
    rules = parse_rules(text)
    assert rules.labels == ("rule 2", "rule 4.1", "rule 4.2", "mine", "rule 6")
    assert rules.numbers == ("2", "4.1", "4.2", "5", "6")
    assert rules[1:].labels == rules.labels[1:]
    assert RuleSet(rules.rules).labels[0] == "rule 1"


# --------------------------------------------------------------------------------------------------
# Terms.


def test_a_side_is_written_as_a_sum():
    side = (
        Term(2.0, ("a",)),
        Term(-1.0, ("p-1=t",)),
        Term(-0.5, ("K", FeatureSpan("a", "c")), "mean"),
    )
    assert side_text(side) == "2*a - `p-1=t` - 0.5*mean(K, a:c)"
    assert side_text((Term(0.0), Term(-3.0))) == "0 - 3"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Term(1.0, ("a", "b")),
        lambda: Term(1.0, (FeatureSpan("a", "b"),)),
        lambda: Term(1.0, ("a",), "mode"),
        lambda: Term(float("nan"), ("a",)),
        lambda: Term(1e200, ("a",)),
        lambda: Term(1.0, ("two\nlines",)),
    ],
)
def test_what_cannot_be_a_term_is_refused(make):
    with pytest.raises(RuleError):
        make()


def test_where_a_term_stood_does_not_matter():
    assert Term(1.0, ("a",), column=3) == Term(1.0, ("a",), column=9)


# --------------------------------------------------------------------------------------------------
# Logic.


VALUES = {"a": 0.0, "b": 1.0, "c": 2.0}
LEAVES = st.builds(
    lambda name, sign, level: Condition(((Term(1.0, (name,)),), (Term(level),)), (sign,)),
    st.sampled_from(list(VALUES)),
    st.sampled_from([">=", "<=", ">", "<"]),
    st.sampled_from([0.0, 1.0, 2.0]),
)
NODES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda kind, parts: kind(tuple(parts)),
        st.sampled_from([All, Any]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


def holds(node: Node) -> bool:
    """Straight from the meaning."""
    if isinstance(node, All):
        return all(map(holds, node.parts))
    if isinstance(node, Any):
        return any(map(holds, node.parts))
    left, right = VALUES[str(node.sides[0][0].names[0])], node.sides[1][0].coefficient
    return {">=": left >= right, "<=": left <= right, ">": left > right, "<": left < right}[
        node.relations[0]
    ]


@given(NODES)
def test_the_opposite_holds_where_the_other_does_not(node: Node):
    assert holds(negated(node)) != holds(node)


@given(NODES)
def test_taken_apart_it_says_the_same(node: Node):
    assert any(all(map(holds, each)) for each in alternatives(node)) == holds(node)


def test_too_many_rules_are_refused():
    leaf = Condition(((Term(1.0, ("a",)),), (Term(1.0),)), (">=",))
    pair = Any((leaf, Condition(((Term(1.0, ("b",)),), (Term(1.0),)), (">=",))))
    assert len(alternatives(All((pair,) * 6))) <= MOST_ALTERNATIVES
    with pytest.raises(RuleError, match="more than 64 rules"):
        alternatives(All((pair,) * 7))


# --------------------------------------------------------------------------------------------------
# Statements.


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
