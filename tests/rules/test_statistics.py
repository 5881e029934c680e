from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.exceptions import DataError
from hipad.rules import compile_rules, rule_counts, rule_overlap, rules_alone

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
