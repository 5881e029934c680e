from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, compile_rules
from hipad.rules.ast import FeatureSpan, Term, side_text
from hipad.rules.context import NameTable
from hipad.rules.expressions import (
    constant,
    in_range,
    is_function,
    plain_text,
    ratio_of,
    read_call,
    read_group,
    read_item,
    read_name,
    skip_links,
    times,
)
from hipad.rules.lexer import TokenStream, words_of
from tests.rules.reading import at_start, premises, refused
from tests.rules.settled import refusal, settled

# --------------------------------------------------------------------------------------------------
# Arithmetic.


A, B = Term(1.0, ("a",)), Term(2.0, ("b",))
(SIGN,) = words_of("/")


def test_a_side_without_features_has_a_value():
    assert constant((Term(2.0), Term(-0.5))) == 1.5
    assert constant((Term(2.0), A)) is None


def test_every_coefficient_is_multiplied():
    assert side_text(times((A, B, Term(1.0)), -3.0)) == "-3*a - 6*b - 3"


def test_each_term_stands_over_the_divisor():
    assert side_text(ratio_of((A, Term(4.0, ("c",))), (B,), SIGN)) == "0.5*a/b + 2*c/b"


@pytest.mark.parametrize("divisor", [(A, B), (Term(1.0, ("K",), "mean"),)])
def test_only_one_feature_may_stand_below_the_line(divisor):
    with pytest.raises(RuleError, match="as a ratio"):
        ratio_of((A,), divisor, SIGN)
    assert "as a ratio" in str(refused("3/a >= 2"))


def test_numbers_that_computers_cannot_hold_are_refused():
    assert in_range(0.0, SIGN) == 0.0
    with pytest.raises(RuleError, match="in another unit"):
        in_range(1e180, SIGN)
    assert refused("1e90*1e90*age >= 1").column == 10


# --------------------------------------------------------------------------------------------------
# Expressions.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3a + 2b >= 6", "3*a + 2*b >= 6"),
        ("2*(a + b) - (c - 1) >= 6", "2*a + 2*b - c + 1 >= 6"),
        ("debt > 40% of income", "debt > 0.4*income"),
        ("debt > 0.4 income", "debt > 0.4*income"),
        ("HER2 >= twice the ER", "HER2 >= 2*ER"),
        ("HER2 >= 2 times ER", "HER2 >= 2*ER"),
        ("(a + b)/c > 2", "a/c + b/c > 2"),
    ],
)
def test_sides_are_sums(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("a*b >= 2", 2, "a product of features is not linear"),
        ("weight/(height*height) > 30", 15, "a product of features is not linear"),
        ("a/0 >= 2", 2, "division by zero"),
        ("a^3 >= 2", 2, "a power is not linear"),
        ("a³ >= 2", 2, "a power is not linear"),
        ("a >= ", 7, "write a feature"),
        ("a >= and b", 6, "write a feature or a number before 'and'"),
        ("2*{a + b} >= 1", 3, "round brackets"),
        ("a + 5 % >= 1", 1, "without '%' in a sum"),
    ],
)
def test_what_is_not_linear_or_not_whole_says_what_to_write(text, column, words):
    error = refused(text)
    assert words in str(error)
    assert error.column == column


# --------------------------------------------------------------------------------------------------
# Functions.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("average(K1)", "mean(K1)"),
        ("std(x)", "sd(x)"),
        ("mean(g1..g4, K1)", "mean(g1:g4, K1)"),
        ("quantile(x, 0.9)", "p90(x)"),
        ("percentile(x, 2.5)", "p2.5(x)"),
    ],
)
def test_functions_have_other_words(text, expected):
    assert str(read_call(at_start(text))) == expected
    assert premises(f"{expected} >= 2*y") == [f"{expected} >= 2*y"]


@pytest.mark.parametrize(
    ("name", "known"), [("mean", True), ("p99.5", True), ("p101", False), ("meen", False)]
)
def test_names_of_functions(name, known):
    assert is_function(name) is known


def test_a_group_holds_names_ranges_and_a_number():
    assert read_group(at_start("(a, g1 to g4, 90 %)")) == (["a", FeatureSpan("g1", "g4")], 0.9)
    assert read_item(at_start("g1:g4")) == FeatureSpan("g1", "g4")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("log(a) >= 2", 1, "ln(x), log2(x) or log10(x)"),
        ("meen(K1) >= 2", 1, "write mean(...)"),
        ("variance(a) >= 2", 1, "is not linear"),
        ("mean() >= 2", 6, "name features or blocks between the brackets"),
        ("mean(g1 + g2) >= 4", 9, "takes names, not sums"),
        ("mean(K1 >= 2", 5, "close it with ')'"),
        ("mean(K1, 3) >= 2", 1, "name features or blocks"),
        ("median(a, b) >= 2", 1, "of one feature"),
        ("quantile(a) >= 2", 1, "p90(x)"),
        ("a >= 1 + abs(b)", 10, "must stand alone"),
    ],
)
def test_what_is_no_function_says_what_to_write(text, column, words):
    error = refused(text)
    assert words in str(error)
    assert error.column == column


# --------------------------------------------------------------------------------------------------
# Feature terms.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Glucose (mg/dL) >= 126", "Glucose >= 126 mg/dL"),
        ("mean of K1 >= 4", "mean(K1) >= 4"),
        ("debt / income > 0.4", "debt/income > 0.4"),
        ("LDL/HDL ratio > 3", "LDL/HDL > 3"),
        ("ratio of LDL to HDL > 3", "LDL/HDL > 3"),
    ],
)
def test_what_a_name_stands_for(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ratio of LDL > 3", "write the ratio as LDL/HDL"),
        ("mean of 3 >= 4", "name a feature or block"),
        ("Glucose (morning) >= 126", "is not a function here"),
    ],
)
def test_what_is_no_feature_is_told(text, words):
    assert words in str(refused(text))


def test_a_figure_alone_is_that_of_the_compared_feature():
    X = [[float(k)] for k in range(11)]
    (rule,) = compile_rules("HER2 < p10 => positive", feature_names=["HER2"], values=X)
    assert rule.resolved_text == "HER2 < 1 => positive"


# --------------------------------------------------------------------------------------------------
# Sums.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*A - IL >= 1", ["2*a - IL >= 1"]),
        ("mean(k) >= 2", ["mean(K) >= 2"]),
        ("a >= 0.5 mg", ["a >= 0.5"]),
    ],
)
def test_sides_have_the_datas_own_names(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mean(a) >= 2", "write a where the patient's own value is meant"),
        ("a >= 0.9*max(a)", "p100(a)"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


# --------------------------------------------------------------------------------------------------
# Spelled names.


@pytest.mark.parametrize("text", ["`p-36`", '"p-36"', "“p-36”", "«p-36»", "p-36"])
def test_marks_around_a_name_are_no_part_of_it(text):
    assert plain_text(text) == "p-36"


@pytest.mark.parametrize(
    ("text", "name", "left"),
    [
        ("blood pressure >= 140", "blood pressure", ">="),
        ("blood pressure is at least 140", "blood pressure", "is"),
        ("a times 3", "a", "times"),
        ("`a b` c", "a b", "c"),
    ],
)
def test_a_name_ends_where_the_sentence_goes_on(text, name, left):
    cursor = at_start(text)
    assert read_name(cursor) == name
    assert cursor.peek().text == left


def test_the_longest_known_name_is_meant():
    text = "blood pressure high"
    known = NameTable(FeatureIndex(["blood", "blood pressure"]))
    words = words_of(text)
    assert read_name(TokenStream(text, words, known)) == "blood pressure"


def test_words_that_lead_to_a_name_are_stepped_over():
    cursor = at_start("of the income")
    skip_links(cursor)
    assert cursor.peek().text == "income"


def test_a_name_may_stand_in_square_brackets():
    assert premises("[blood pressure] >= 140") == ["`blood pressure` >= 140"]
    assert "name is empty" in str(refused('" " >= 1'))
