from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import compile_rules
from hipad.rules.context import RowsNeeded
from tests.rules.settled import X, refusal, settled

# --------------------------------------------------------------------------------------------------
# Settler.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IL-6 >= 5", ["`IL-6` >= 5"]),
        ("IL - 6 >= 5", ["IL - 6 >= 5"]),
    ],
)
def test_names_that_only_the_data_tell_are_read_again(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a != 2", "write a < 2 or a > 2"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


# --------------------------------------------------------------------------------------------------
# Categories.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sex = male", ["`sex=male` >= 1"]),
        ("sex != male", ["`sex=male` <= 0"]),
        ("male", ["`sex=male` >= 1"]),
        ("not male", ["`sex=male` <= 0"]),
        ("stage >= II", ["at least 1 of (`stage=II`, `stage=III`)"]),
        ("stage > 2", ["`stage=III` >= 1"]),
        ("stage in {I, III}", ["at least 1 of (`stage=I`, `stage=III`)"]),
        ("stage not in {I, III}", ["at most 0 of (`stage=I`, `stage=III`)"]),
        ("p = yes", ["p >= 1"]),
        ("p != 0", ["p >= 1"]),
    ],
)
def test_categories_are_columns_of_0_and_1(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "not known to hold 0 and 1"),
        ("p in {0, 1}", "write p between 0 and 1"),
        ("sex = other", "has no value other"),
        ("sex >= male", "the order of the values of sex is not known"),
        ("stage < I", "no value of stage"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy_categories(text, words):
    assert words in refusal(text)


# --------------------------------------------------------------------------------------------------
# Extremes.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(K) >= 2", ["a >= 2", "b >= 2"]),
        ("min(K) >= 2", ["min(K) >= 2"]),
        ("max(K) - min(K) <= 3", ["max(K) - min(K) <= 3"]),
        ("max(K) between 1 and 2", ["a >= 1 and max(K) <= 2", "b >= 1 and max(K) <= 2"]),
    ],
)
def test_one_large_feature_is_enough_for_a_large_max(text, expected):
    assert settled(text) == expected


def test_a_max_of_very_many_features_is_refused():
    with pytest.raises(RuleError, match="100 features would make as many rules"):
        compile_rules("max(x0:x99) >= 2 => positive", n_features=100)


# --------------------------------------------------------------------------------------------------
# Learnt numbers.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share <= 50%", ["share <= 0.5"]),
        ("hbc >= 6.5 %", ["hbc >= 6.5"]),
    ],
)
def test_a_percentage_is_what_the_data_have(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("median(K) >= 2", "of a block is not linear"),
        ("hbc >= 50 %", "can be 0.5 or 50"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy_learnt_numbers(text, words):
    assert words in refusal(text)


def test_figures_come_from_the_training_rows():
    (text,) = settled("a > p90(a)")
    assert float(text.split()[-1]) == pytest.approx(np.percentile(X[:, 0], 90))
    (text,) = settled("a >= 1.2*mean(a)")
    assert float(text.split()[-1]) == pytest.approx(1.2 * X[:, 0].mean())


@pytest.mark.parametrize("text", ["a > p90(a)", "z(a) > 2", "share <= 50 %"])
def test_without_rows_that_is_said(text):
    with pytest.raises(RowsNeeded):
        settled(text, known=False)


# --------------------------------------------------------------------------------------------------
# Ratios.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("debt/income > 0.4", ["debt > 0.4*income"]),
        ("debt/income - a/income > 40 %", ["debt - a > 0.4*income"]),
    ],
)
def test_ratios_are_multiplied_out(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a/b > 2", "goes down to"),
        ("a/income > b", "a ratio against a number only"),
        ("a/income > b/hbc", "a ratio against a number only"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy_ratios(text, words):
    assert words in refusal(text)


def test_without_rows_that_is_said_ratios():
    with pytest.raises(RowsNeeded):
        settled("debt/income > 2", known=False)
