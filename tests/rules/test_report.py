from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import (
    RuleWeights,
    best_threshold,
    compile_rules,
    holding_threshold,
    leave_each_out,
    matrix_picture,
    needed_worth,
    parse_rules,
    picture,
    rule_gradient,
    rule_gradients,
    rule_report,
    worst_case,
)
from hipad.rules.report import short_number

# --------------------------------------------------------------------------------------------------
# Records.


TEXT = """
high: mean(K) >= 4 => positive worth 20 patients
x5 <= 1 and x6 >= 2 => negative
never: x0 >= 99 => positive
"""
BLOCKS = {"K": np.arange(4)}
X = np.array([[5.0] * 7, [0.0] * 5 + [0.0, 3.0], [4.0] * 4 + [0.0, 1.0, 3.0]])
Y = np.array([1.0, -1.0, -1.0])


@pytest.fixture
def rules():
    return compile_rules(TEXT, n_features=7, blocks=BLOCKS)


def test_a_record_joins_everything_and_is_plain(rules):
    w = np.array([0.1, 0.1, 0.1, 0.1, 0.0, 0.5, -0.2])
    records = rule_report(
        rules,
        w=w,
        b=-1.0,
        lo=0.0,
        hi=9.0,
        mean=X.mean(axis=0),
        scale=np.ones(7),
        train=(X, Y),
        test=(X, -Y),
        gradients=rule_gradients(rules, [RuleWeights(0.2, 50.0, 100)] * 3, 0.1),
        weights=[RuleWeights(0.2, 50.0, 100)] * 3,
        certificates=[(0.1, 0.2)] * 3,
    )
    first, second, never = records
    assert (len(first.train.fired), len(first.train.right)) == (2, 1)
    assert (len(first.test.fired), len(first.test.right)) == (2, 1)
    assert first.worst.value == pytest.approx(16 * 0.1 - 9 * 0.2 - 1)
    assert first.holds_from is not None
    assert first.holds_from.startswith("mean(K) >= ")
    assert first.gradient is not None
    plain = json.loads(json.dumps([record.as_dict() for record in records], allow_nan=False))
    assert plain[0]["worst_patient"]["x6"] == 9.0
    assert plain[0]["train"]["wrong_rows"] == [2]
    assert plain[2]["worst_case"] is None
    assert plain[2]["worst_patient"] == {}
    assert "fires on 2 of 3 rows" in str(first)
    assert "nobody in the box meets the premise" in str(never)
    assert first.markdown.startswith("**high** `mean(K) >= 4 => positive")
    assert second.label == "rule 3", "named after its line"


def test_what_is_not_given_is_left_out(rules):
    (record, *_) = rule_report(rules)
    assert record.worst is None
    assert record.lines == ["its weight of 20 patients is used as written"]
    json.dumps(record.as_dict())


def test_the_picture_shows_blocks_features_signs_and_weights(rules):
    rows = picture(rules, blocks=BLOCKS)
    assert [row.condition for row in rows] == ["mean(K) >= 4", "x5 <= 1", "x6 >= 2", "x0 >= 99"]
    block, low, *_ = rows
    assert [(cell.name, cell.weight, cell.n_features) for cell in block.cells] == [("K", 0.25, 4)]
    assert (block.threshold, block.hidden) == (4.0, 0)
    assert (low.cells[0].sign, low.threshold) == (-1, -1.0)
    (wide,) = picture(compile_rules("sum(x0:x99) >= 1 => positive", n_features=100), most=5)
    assert (len(wide.cells), wide.hidden) == (5, 95)


# --------------------------------------------------------------------------------------------------
# Picture.


def test_a_small_value_that_helps_has_a_negative_sign():
    (row,) = picture(compile_rules("a - 2*b >= 3 => positive", feature_names=["a", "b"]))
    assert [(cell.name, cell.sign) for cell in row.cells] == [("b", -1), ("a", 1)]
    assert row.threshold == 3.0


def test_a_block_with_one_weight_is_one_cell_and_else_features():
    blocks = {"K": np.array([0, 1])}
    same, other = picture(
        compile_rules(
            "sum(K) >= 1 => positive\nx0 + 2*x1 >= 1 => positive", n_features=3, blocks=blocks
        ),
        blocks=blocks,
    )
    assert [(cell.name, cell.n_features) for cell in same.cells] == [("K", 2)]
    assert [cell.name for cell in other.cells] == ["x1", "x0"]


def test_what_is_not_shown_is_counted():
    (row,) = picture(compile_rules("sum(x0:x9) >= 1 => positive", n_features=10), most=4)
    assert (len(row.cells), row.hidden) == (4, 6)


# --------------------------------------------------------------------------------------------------
# Matrix picture.


def test_features_that_no_row_tells_apart_share_a_column():
    blocks = {"K": np.arange(3), "L": np.arange(3, 5)}
    text = "mean(K) >= 1 => positive\nx0 <= 2 and x3 >= 1 => negative"
    shown = matrix_picture(compile_rules(text, n_features=6, blocks=blocks), blocks=blocks)
    assert [column.features.tolist() for column in shown.columns] == [[0], [1, 2], [3]]
    assert [column.name for column in shown.columns] == ["x0", "x1 … x2", "x3"]
    assert shown.values == pytest.approx(
        np.array([[-1 / 3, -1 / 3, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    )
    assert shown.d.tolist() == [-1.0, 2.0, -1.0]
    assert not shown.binned


@given(st.integers(0, 2**32 - 1), st.integers(1, 7))
def test_the_picture_is_the_matrix_whatever_its_bins(seed, most):
    """Means times sizes give back the sums of B's rows, and B x <= d is that of scaled data."""
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(9)]
    text = "\n".join(
        f"{rng.integers(1, 5)} * x{a} - x{b} >= {rng.integers(-3, 3)} => positive"
        for a, b in (rng.choice(9, 2, replace=False) for _ in range(3))
    )
    rules = compile_rules(text, feature_names=names)
    mean, scale = rng.standard_normal(9), rng.uniform(0.5, 2.0, 9)
    shown = matrix_picture(rules, mean=mean, scale=scale, most=most)
    assert len(shown.columns) <= most or not shown.binned
    sizes = np.array([column.features.size for column in shown.columns])
    told = [rule.scaled(mean, scale) for rule in rules]
    sums = np.concatenate([rule.B.toarray().sum(axis=1) for rule in told])
    assert (shown.values * sizes).sum(axis=1) == pytest.approx(sums)
    assert shown.d == pytest.approx(np.concatenate([rule.d for rule in told]))


def test_latex_sets_names_as_they_are():
    rules = compile_rules("`a_1 & b` >= 3 => positive", feature_names=["a_1 & b"])
    text = matrix_picture(rules).latex()
    assert r"\text{a\_1 \& b} & d" in text
    assert "-1 & -3" in text


# --------------------------------------------------------------------------------------------------
# Advice.


@pytest.mark.parametrize(
    ("text", "premise"),
    [
        ("x0 >= 1 => positive", "x0 >= 4"),
        ("9 <= x0 => positive", "4 <= x0"),
        ("2*x0 - 1 > 1 => positive", "2*x0 - 1 > 6"),
        ("-x0 <= 1 => positive", "-x0 <= -4"),
        ("x0 >= 1 and x1 >= 0 => positive", "x0 >= 4 and x1 >= 0"),
    ],
)
def test_the_threshold_that_the_data_support(text: str, premise: str):
    X = np.array([[1.0, 1], [2.0, 1], [5.0, 1], [6.0, 1]])
    (rule,) = compile_rules(text, n_features=2)
    found = best_threshold(rule, X, [-1, -1, 1, 1])
    assert found is not None
    assert found.rule.premise == premise
    assert (found.fires, found.right) == (2, 2)
    (again,) = compile_rules([found.rule], n_features=2)
    assert again.fires(X).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "text", ["x0 = 3 => positive", "x0 between 1 and 3 => positive", "x0 >= x1 => positive"]
)
def test_a_condition_without_one_number_has_no_better_threshold(text: str):
    (rule,) = compile_rules(text, n_features=2)
    assert best_threshold(rule, np.eye(2), [1, -1]) is None


def test_no_threshold_is_suggested_where_none_helps():
    (rule,) = compile_rules("x0 >= 1 => positive", n_features=1)
    assert best_threshold(rule, [[5.0], [6.0], [1.0]], [-1, -1, 1]) is None
    assert best_threshold(rule, [[np.nan]], [1]) is None


def test_the_threshold_from_which_a_rule_holds():
    w, b = np.array([1.0, 0.25]), -4.0
    (rule,) = compile_rules("x0 >= 2 => positive", n_features=2)
    assert not worst_case(rule.B, rule.d, rule.sign, w, b, 0.0, 9.0).holds
    better = holding_threshold(rule, w, b, 0.0, 9.0)
    assert better is not None
    (again,) = compile_rules([better], n_features=2)
    worst = worst_case(again.B, again.d, again.sign, w, b, 0.0, 9.0)
    assert worst.holds
    assert worst.value < 0.05
    assert holding_threshold(rule, -w, 0.0, 0.0, 9.0) is None


def test_short_numbers_lie_between():
    rng = np.random.default_rng(0)
    for low, width in zip(rng.normal(size=200), rng.random(200), strict=True):
        assert low < short_number(low, low + width, from_low=True) < low + width
    assert short_number(3.0, 3.0, from_low=True) == 3.0


def test_the_worth_that_is_needed():
    (rule,) = compile_rules("mean(x0:x4) >= 4 => positive", n_features=5)
    gradient = rule_gradient(rule.B, rule.d, sigma=1.0, rho=1e6, lambda1=0.1)
    assert needed_worth(gradient, n_samples=80) == pytest.approx(2.0)


def test_leaving_each_rule_out():
    rules = parse_rules(
        "a: x0 >= 1 => positive\noff b: x0 >= 2 => positive\nc: x0 >= 3 => positive"
    )
    found = tuple(leave_each_out(rules, lambda some: sum(rule.enabled for rule in some) / 2))
    assert [(part.label, part.gain) for part in found] == [("a", 0.5), ("c", 0.5)]
    assert str(found[0]) == "without a: 0.500, with it: 1.000"
