from __future__ import annotations

import pytest

from tests.rules.reading import premises, refused

A, B, C = "a >= 1", "b >= 2", "c >= 3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"({A} and {B})", [f"{A} and {B}"]),
        (f"{A} and ({B} or {C})", [f"{A} and {B}", f"{A} and {C}"]),
        (f"not ({A} and {B})", ["a < 1", "b < 2"]),
        (f"not {A} and {B}", [f"a < 1 and {B}"]),
        (f"either {A} or {B}", [A, B]),
        (f"both {A} and {B}", [f"{A} and {B}"]),
        (f"neither {A} nor {B}", ["a < 1 and b < 2"]),
        ("not p", ["not p"]),
        ("no hypertension", ["not hypertension"]),
    ],
)
def test_negations_brackets_and_pairs(text, expected):
    assert premises(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"without {A}", "write 'not' in place of 'without'"),
        (" and ".join([f"({A} or {B})"] * 7), "more than 64 rules"),
        ("not " * 5_000 + A, "inside each other"),
    ],
)
def test_what_is_not_clear_is_refused(text, words):
    assert words in str(refused(text))
