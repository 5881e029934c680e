from __future__ import annotations

import pytest

from hipad.rules.comparisons import read_atom
from hipad.rules.premises import read_count
from tests.rules.reading import at_start, premises, refused

A, B, C = "a >= 1", "b >= 2", "c >= 3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"any of ({A}, {B})", [A, B]),
        (f"all of ({A}, {B})", [f"{A} and {B}"]),
        (f"none of ({A}, {B})", ["a < 1 and b < 2"]),
        (f"at least 2 of: {A}, {B}, {C}", [f"{A} and {B}", f"{A} and {C}", f"{B} and {C}"]),
        (f"two of ({A}, {B} and {C})", [f"{A} and {B}", f"{A} and {C}", f"{B} and {C}"]),
        (f"at most 1 of ({A}, {B})", ["a < 1", "b < 2"]),
        (f"exactly 1 of ({A}, {B})", [f"{A} and b < 2", f"{B} and a < 1"]),
        (
            f"not at least 2 of ({A}, {B}, {C})",
            ["a < 1 and b < 2", "a < 1 and c < 3", "b < 2 and c < 3"],
        ),
        ("more than 1 of (p, q, r)", ["at least 2 of (p, q, r)"]),
        ("fewer than 2 of (p, q, r)", ["at most 1 of (p, q, r)"]),
        ("none of (p, q)", ["at most 0 of (p, q)"]),
        ("at least 2 of (g1:g9)", ["at least 2 of (g1:g9)"]),
        ("all of (p, q)", ["p and q"]),
        ("any of (p, q) >= 2", ["max(p, q) >= 2"]),
        ("all of (p, q) >= 2", ["min(p, q) >= 2"]),
    ],
)
def test_counts_of_conditions_and_names(text, expected):
    assert premises(text) == expected


def test_what_counts_nothing_is_left_where_it_was():
    cursor = at_start("at least 3 lymph_nodes")
    assert read_count(cursor, read_atom) is None
    assert cursor.at == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"at least 3 of ({A}, {B})", "write another number"),
        (f"at most 2 of ({A}, {B})", "always true"),
        (f"at least 1.5 of ({A}, {B})", "a whole number of conditions"),
        ("at least 5 of (" + ", ".join(f"g{k} >= 1" for k in range(10)) + ")", "more than 64"),
    ],
)
def test_counts_that_cannot_be_met_are_refused(text, words):
    assert words in str(refused(text))
