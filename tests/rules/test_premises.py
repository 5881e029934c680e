from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, block_overlaps, compile_rules, parse_rules, suggest_blocks
from hipad.rules.comparisons import read_atom
from hipad.rules.premises import closing_bracket, holds_conditions, read_count
from tests.rules.reading import at_start, premises, refused
from tests.rules.settled import refusal, settled

# --------------------------------------------------------------------------------------------------
# Premises.


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


# --------------------------------------------------------------------------------------------------
# Bracketed.


@pytest.mark.parametrize(("text", "end"), [("(a)", 2), ("(a + (b))", 6)])
def test_where_a_bracket_ends(text, end):
    assert closing_bracket(at_start(text)) == end


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("(a >= 1)", True),
        ("(a or b)", True),
        ("(a is at least 2)", True),
        ("(smoker) and b", True),
        ("(a + b) >= 2", False),
        ("{a, b}", False),
    ],
)
def test_what_a_bracket_holds(text, conditions):
    cursor = at_start(text)
    end = closing_bracket(cursor)
    assert end is not None
    assert holds_conditions(cursor, end) is conditions


# --------------------------------------------------------------------------------------------------
# Counting.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"any of ({A}, {B})", [A, B]),
        (f"all of ({A}, {B})", [f"{A} and {B}"]),
        (f"none of ({A}, {B})", ["a < 1 and b < 2"]),
        (
            f"at least 2 of: {A}, {B}, {C}",
            [f"{A} and {B}", f"{A} and {C}", f"{B} and {C}"],
        ),
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


# --------------------------------------------------------------------------------------------------
# Counts.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at least 1 of (p, male)", ["at least 1 of (p, `sex=male`)"]),
        ("at most 1 of (p:q)", ["at most 1 of (p:q)"]),
    ],
)
def test_counted_columns_hold_0_and_1(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at least 1 of (a, b)", "does not hold 0 and 1 only"),
        ("at least 1 of (p, K)", "does not hold 0 and 1 only"),
        ("at least 1 of (p, nobody)", "nobody"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


# --------------------------------------------------------------------------------------------------
# Grouping.


def test_overlaps_are_shown():
    blocks = {
        "a": np.array([0, 1, 2]),
        "b": np.array([2, 3]),
        "c": np.array([1, 2]),
        "d": np.array([9]),
    }
    found = [(first, second, shared.tolist()) for first, second, shared in block_overlaps(blocks)]
    assert found == [("a", "c", [1, 2]), ("a", "b", [2]), ("b", "c", [2])]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_correlated_features_are_found(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300)) * (rng.random((80, 300)) < 0.1)
    for start in (20, 200):
        X[:, start : start + 10] = rng.standard_normal((80, 1)) + 0.3 * rng.standard_normal(
            (80, 10)
        )
    blocks = suggest_blocks(make(X), most_features=100)
    assert [columns.tolist() for columns in blocks.values()] == [
        list(range(20, 30)),
        list(range(200, 210)),
    ]


def test_chance_and_constant_columns_suggest_nothing():
    noise = np.random.default_rng(0).standard_normal((60, 400))
    assert suggest_blocks(noise) == {}
    assert suggest_blocks(np.ones((5, 9))) == {}
    assert suggest_blocks(np.arange(5.0)[:, None]) == {}


def test_a_chain_of_neighbours_is_not_one_block():
    """Each column is like the next, the first is not like the last."""
    rng = np.random.default_rng(1)
    steps = rng.standard_normal((200, 90)).cumsum(axis=1)
    walk = steps[:, 8:] - np.c_[np.zeros(200), steps[:, :-9]]
    assert max(map(len, suggest_blocks(walk).values())) < 30


def test_huge_values_do_not_overflow():
    trend = np.linspace(-1, 1, 20)[:, None] * np.array([1e200, 2e200, 3e200])
    (columns,) = suggest_blocks(trend).values()
    assert columns.tolist() == [0, 1, 2]


# --------------------------------------------------------------------------------------------------
# Joining.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{A} & {B}", [f"{A} and {B}"]),
        (f"{A} as well as {B}", [f"{A} and {B}"]),
        (f"{A} together with {B}", [f"{A} and {B}"]),
        (f"{A} ∧ {B} ∨ {C}", [f"{A} and {B}", C]),
        (f"{A}, {B}", [f"{A} and {B}"]),
        (f"{A}, {B} or {C}", [A, B, C]),
        (f"{A} and/or {B}", [A, B]),
        (f"{A} unless {B}", [f"{A} and b < 2"]),
        (f"{A} but not {B}", [f"{A} and b < 2"]),
        (f"{A} unless {B} or {C}", [f"{A} and b < 2 and c < 3"]),
    ],
)
def test_words_between_conditions(text, expected):
    assert premises(text) == expected


def test_names_share_the_comparison_that_comes_after_them():
    rules = compile_rules(
        "a, b and c >= 2 => positive",
        feature_names=FeatureIndex(["a", "b", "c"]),
        values=[[1.5, 0.0, 3.0], [2.5, 1.0, 7.0]],
    )
    assert [rule.resolved_text for rule in rules] == ["a >= 2 and b >= 1 and c >= 2 => positive"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{A} or {B}, {C}", "write brackets"),
        (f"{A}; {B}", "in place of ';'"),
        (f"{A} {B}", "'and' or 'or' between conditions"),
        ("a >= 1 ? 2", "does not belong here"),
        ("a ~ 2", "write a range"),
        ("a ≫ 2", "write > and how much"),
    ],
)
def test_what_joins_nothing_is_told(text, words):
    assert words in str(refused(text))


# --------------------------------------------------------------------------------------------------
# Points scores against their sums, counted row by row.


NAMES = ["age", "sbp", "crp", "chf", "stroke", "falls"]
RNG = np.random.default_rng(8)
X = np.column_stack(
    [
        RNG.integers(20, 95, 800), RNG.uniform(80, 200, 800), RNG.uniform(0, 90, 800),
        RNG.integers(0, 2, 800), RNG.integers(0, 2, 800), RNG.integers(0, 5, 800),
    ]
).astype(float)  # fmt: skip
V = dict(zip(NAMES, X.T, strict=True))


def fires(text: str) -> np.ndarray:
    found = np.zeros(len(X), dtype=bool)
    for rule in compile_rules(f"{text} => positive", feature_names=NAMES, values=X):
        found |= rule.fires(X)
    return found


@pytest.mark.parametrize("sign", [">=", ">", "<=", "<", "="])
@pytest.mark.parametrize("number", [1, 2.5, 3])
def test_compile_rules_score_is_its_sum(sign, number):
    total = (2.0 * (V["age"] >= 75) + 0.5 * (V["sbp"] > 150) - (V["crp"] > 50)
             + 1.5 * V["chf"] + V["stroke"])  # fmt: skip
    text = f"2*(age >= 75) + 0.5*(sbp > 150) - (crp > 50) + 1.5*chf + (stroke) {sign} {number}"
    compare = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less,
               "=": np.equal}[sign]  # fmt: skip
    meant = compare(total, number)
    if not meant.any():
        assert not fires(text).any()
    else:
        assert (fires(text) == meant).all()


def test_compile_rules_score_with_a_count_and_two_sides():
    meant = 2 * (V["age"] >= 75) + V["falls"] >= 3
    assert (fires("2*(age >= 75) + falls >= 3") == meant).all()
    meant = (V["age"] >= 75).astype(int) + (V["crp"] > 50) > V["chf"] + (V["sbp"] > 150)
    assert (fires("(age >= 75) + (crp > 50) > (chf) + (sbp > 150)") == meant).all()
    both = 1 * (V["age"] >= 75) + ((V["sbp"] > 150) & (V["crp"] > 20))
    assert (fires("(age >= 75) + (sbp > 150 and crp > 20) between 1 and 1") == (both == 1)).all()


def test_parse_rules_score_keeps_the_smallest_sets_only():
    text = "2*(a > 1) + (b > 1) + (c > 1) + (d > 1) >= 3 => positive"
    assert sorted(rule.premise for rule in parse_rules(text)) == [
        "a > 1 and b > 1",
        "a > 1 and c > 1",
        "a > 1 and d > 1",
        "b > 1 and c > 1 and d > 1",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2*(a > 1) + (b > 1) >= 9", "cannot be reached"),
        ("2*(a > 1) + (b > 1) >= 0", "always true"),
        ("2*(a > 1) + (b > 1)", "not compared"),
        (" + ".join(f"(x{k} > 1)" for k in range(12)) + " >= 6", "more than 64 rules"),
        (" + ".join(f"(x{k} > 1)" for k in range(30)) + " >= 1", "more than 64 rules"),
    ],
)
def test_parse_rules_score_that_cannot_be_used_is_told(text, told):
    with pytest.raises(RuleError, match=told):
        parse_rules(f"{text} => positive")
