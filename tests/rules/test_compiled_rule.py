from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.exceptions import DataError, RuleError
from hipad.rules import compile_rules, rule_counts, rule_overlap, rules_alone
from hipad.rules.compiled_rule import (
    Row,
    class_sign,
    first_outcome,
    meaning,
    needed_rows,
    on_columns,
    rows_met,
)

# --------------------------------------------------------------------------------------------------
# Compiled.


@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.float32]
)
def test_every_kind_of_data_fires_alike(make: type):
    X = np.array([[1.9, 0, 2.0], [0, 3.5, 0], [1.9, 1.0, 0]])
    (compiled,) = compile_rules("x0 >= 1.9 and x2 <= 1 => positive", n_features=3)
    assert compiled.fires(make(X)).tolist() == [False, False, True]


def test_a_missing_value_never_fires():
    (compiled,) = compile_rules("x0 >= 1 => positive", n_features=2)
    assert compiled.fires([[np.nan, 1], [2, np.nan]]).tolist() == [False, True]


def test_each_row_knows_its_condition():
    (compiled,) = compile_rules("min(x0, x1) >= 1 and 1 <= x0 - x2 <= 2 => positive", n_features=3)
    assert compiled.sources == ("min(x0, x1) >= 1",) * 2 + ("1 <= x0 - x2 <= 2",) * 2


def test_the_echo_has_the_class_and_the_numbers_that_were_learnt():
    X = np.arange(11.0)[:, None] * [1.0, 0.5]
    (rule,) = compile_rules("x0 > p90(x0) => not ill", n_features=2, values=X,
                            classes=("well", "ill"))  # fmt: skip
    assert rule.resolved_text == "x0 > 9 => well"
    assert rule.remarks == ("p90(x0) is 9 on the training rows",)


def test_differences_of_large_numbers_are_exact():
    X = np.array([[2e8 + 20, 2e8], [2e8 + 49, 2e8], [2e8 + 50, 2e8]])
    (rule,) = compile_rules("x0 - x1 >= 50 => positive", n_features=2, values=X)
    assert rule.fires(X).tolist() == [False, False, True]


def test_scaling_keeps_the_rule_and_its_columns():
    (compiled,) = compile_rules("x0 + 2*x2 >= 4 => positive", n_features=3)
    scaled = compiled.scaled(np.array([1.0, 9.0, 2.0]), np.array([2.0, 9.0, 0.5]))
    assert scaled.B.toarray().tolist() == [[-2.0, 0.0, -1.0]]
    assert scaled.d.tolist() == [1.0]
    assert scaled.columns.tolist() == compiled.columns.tolist() == [0, 2]


# --------------------------------------------------------------------------------------------------
# Rows.


def row(values: list[float], bound: float, origin: str = "") -> Row:
    columns = np.flatnonzero(values)
    return Row.of(columns, np.array(values)[columns], bound, origin)


def test_rows_that_differ_by_a_factor_have_one_direction():
    first, second = row([1.0, 2.0], 3.0), row([2.0, 4.0], 5.0)
    assert first.direction == second.direction
    assert first.opposite == row([-1.0, -2.0], 0.0).direction
    assert (first.level, second.level) == (1.5, 1.25)


@pytest.mark.parametrize(
    ("rows", "kept", "words"),
    [
        ([row([1.0], 2.0, "a"), row([1.0], 3.0, "b")], ["a"], "'b' follows from 'a'"),
        ([row([1.0], 2.0, "a"), row([2.0], 4.0, "b")], ["a"], "'b' repeats 'a'"),
        ([row([0.0], 1.0, "a"), row([1.0], 3.0, "b")], ["b"], "always true"),
        ([row([0.0], -1.0, "a"), row([1.0], 3.0, "b")], ["a"], "never be true"),
        ([row([1.0], 1.0, "a"), row([-1.0], -2.0, "b")], ["a", "b"], "exclude each other"),
    ],
)
def test_rows_that_say_nothing_are_left_out_with_a_remark(rows, kept, words):
    found, remarks = needed_rows(rows)
    assert [own.source for own in found] == kept
    assert words in " ".join(remarks)


def test_single_precision_meets_its_own_bound():
    B, d = sparse.csr_array([[1.0]]), np.array([1.9])
    X = np.array([[np.float32(1.9), 1.9001, np.nan]], dtype=np.float64)
    assert rows_met(B, d, X).tolist() == [[True, False, False]]


def test_a_matrix_on_the_columns_it_names():
    B = sparse.csr_array([[0.0, 2.0, 0.0, 3.0]])
    assert on_columns(B, np.array([1, 2, 3])).toarray().tolist() == [[2.0, 0.0, 3.0]]


def test_whole_numbers_need_no_mercy_for_single_precision():
    B, d = sparse.csr_array([[-1.0]]), np.array([-20_000_001.0])
    assert rows_met(B, d, np.array([[20_000_000.0, 20_000_001.0]])).tolist() == [[False, True]]


# --------------------------------------------------------------------------------------------------
# Outcomes.


@pytest.mark.parametrize(
    ("outcome", "classes", "sign"),
    [
        ("ill", ("well", "ill"), 1.0),
        ("ILL", ("well", "ill"), 1.0),
        ("not ill", ("well", "ill"), -1.0),
        ("1.0", (0, 1), 1.0),
        ("+1", (-1, 1), 1.0),
        ("positive", (-1, 1), 1.0),
        ("positive", ("case", "control"), -1.0),
        ("not positive", (0, 1), -1.0),
        ("negative", ("No", "Yes"), -1.0),
        ("positive", ("positive", "negative"), -1.0),
        ("+", ("neg", "pos"), 1.0),
        ("negative", ("BCR/ABL", "NEG"), 1.0),
        ("positive", ("BCR/ABL", "NEG"), -1.0),
    ],
)
def test_an_outcome_is_a_class(outcome, classes, sign):
    assert class_sign(outcome, classes) == sign


@pytest.mark.parametrize("word", ["positive", "Negative", "+", "not positive"])
def test_positive_is_refused_until_somebody_chose_it(word):
    with pytest.raises(RuleError, match="diabetic and healthy"):
        class_sign(word, ("diabetic", "healthy"))
    assert class_sign("positive", ("diabetic", "healthy"), positive_chosen=True) == 1.0


def test_an_unknown_outcome_names_both_classes():
    with pytest.raises(RuleError, match='"BCR/ABL" or NEG') as caught:
        class_sign("maybe NEG", ("BCR/ABL", "NEG"))
    assert caught.value.suggestion == "NEG"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", ""),
        ("a >= 1 => positive\nb >= 2 => ill", "ill"),
        ('IL-6 >= 3 => "BCR/ABL"  # why', "BCR/ABL"),
        ("a >= => x\nb >= 2 => ill", "ill"),
        ("BMI and Age raise the risk of ill", "ill"),
    ],
)
def test_first_outcome(text, outcome):
    assert first_outcome(text) == outcome


# --------------------------------------------------------------------------------------------------
# Compiling meaning.


NAMES = ["Glucose", "BMI", "sex=male", "p", "q"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Glucose >= 126 => ill", "Glucose at least 126, says ill"),
        ("126 < Glucose => ill", "Glucose above 126, says ill"),
        ("mean(K) >= 9.5 => ill", "mean of K, 2 features, at least 9.5, says ill"),
        ("2*Glucose - BMI <= 3 => well", "2 times Glucose minus BMI at most 3, says well"),
        ("BMI 20-30 => well", "BMI from 20 to 30, says well"),
        ("20 < BMI <= 30 => well", "BMI above 20 and at most 30, says well"),
        ("male => ill worth 5 patients", "sex=male holds, says ill, worth 5 patients"),
        ("not male => ill", "sex=male does not hold, says ill"),
        ("at least 1 of (p, q) => ill", "at least 1 of p and q being 1, says ill"),
    ],
)
def test_a_rule_in_plain_words(text, words):
    (rule,) = compile_rules(
        text, feature_names=NAMES, blocks={"K": [0, 1]}, classes=("well", "ill")
    )
    assert meaning(rule) == words


# --------------------------------------------------------------------------------------------------
# Statistics.


X = np.array([[5.0, 0.0], [5.0, 9.0], [1.0, 9.0], [np.nan, 9.0], [np.nan, 0.0]])
Y = [1, -1, -1, 1, 1]
TEXT = "a: x0 >= 3 => positive\nb: x1 >= 5 => negative\nc: x0 >= 3 and x1 >= 5 => positive"


def test_rows_are_counted_and_listed():
    a, b, c = (rule_counts(rule, X, Y) for rule in compile_rules(TEXT, n_features=2))
    assert (a.fired.tolist(), a.right.tolist(), a.wrong.tolist()) == ([0, 1], [0], [1])
    assert (b.fired.tolist(), b.wrong.tolist()) == ([1, 2, 3], [3])
    assert a.precision == 0.5
    assert c.numbers == {"rows": 5, "fired": 1, "right": 0, "wrong": 1, "gaps": 2, "undecided": 1}


def test_missing_values_that_decide():
    a, _, c = (rule_counts(rule, X, Y) for rule in compile_rules(TEXT, n_features=2))
    assert a.undecided.tolist() == [3, 4]
    assert c.undecided.tolist() == [3]
    filled = np.nan_to_num(X, nan=4.0)
    (rule, *_) = compile_rules(TEXT, n_features=2)
    for mask in (np.isnan(X), sparse.csr_array(np.isnan(X))):
        counts = rule_counts(rule, filled, Y, missing=mask)
        assert counts.gaps.tolist() == [3, 4]
        assert str(counts) == "fires on 2 of 5 rows, right on 1 (50%), no value: 2 of 5"


def test_sparse_rows_count_alike():
    dense = np.nan_to_num(X)
    for rule in compile_rules(TEXT, n_features=2):
        thin = rule_counts(rule, sparse.csr_array(dense), Y)
        assert thin.numbers == rule_counts(rule, dense, Y).numbers


def test_overlap_and_conflict():
    found = rule_overlap(compile_rules(TEXT, n_features=2), X)
    assert found.together.tolist() == [[2, 1, 1], [1, 3, 1], [1, 1, 1]]
    assert found.conflict.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert (found.contested.tolist(), found.covered) == ([1], 4)
    assert rule_overlap([], X).together.shape == (0, 0)


def test_rules_alone_vote():
    assert rules_alone(compile_rules(TEXT, n_features=2), X).tolist() == [1, 1, -1, -1, 0]


def test_a_rule_that_never_fires_says_so():
    (rule,) = compile_rules("x0 >= 99 => positive", n_features=2)
    counts = rule_counts(rule, X, Y)
    assert np.isnan(counts.precision)
    assert str(counts).startswith("fires on none of 5 rows")
    with pytest.raises(DataError, match="expected one outcome per row"):
        rule_counts(rule, X, [1])
