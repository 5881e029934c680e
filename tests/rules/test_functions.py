from __future__ import annotations

import pytest

from hipad.rules.ast import FeatureSpan
from hipad.rules.expressions import is_function, read_call, read_group, read_item
from tests.rules.reading import at_start, premises, refused


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
