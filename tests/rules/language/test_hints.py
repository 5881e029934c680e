from __future__ import annotations

import pytest

from hipad.rules.language.hints import explain, unknown_function


def test_what_was_expected_and_what_came():
    error = explain("a >= => yes", (1, 6), "ARROW", {"NAME", "NUMBER"})
    assert str(error).startswith("line 1, column 6: expected a feature or a number, found '=>': ")
    assert error.expected == ("a feature", "a number")
    assert (error.line, error.column) == (1, 6)


def test_the_end_of_a_line_is_named():
    assert "found the end of the line" in str(explain("a", (2, 2), "$END", {"RELATION"}))


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("average", "mean"), ("maximun", "max"), ("Sume", "sum"), ("q", "mean")],
)
def test_the_nearest_function_is_suggested(name, suggestion):
    assert unknown_function(name, 3).suggestion == suggestion


def test_a_curved_function_is_said_to_be_so():
    assert "log(...) is not linear" in str(unknown_function("log", 1))
