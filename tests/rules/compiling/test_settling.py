from __future__ import annotations

import numpy as np
import pytest

from hipad.errors import RuleError
from hipad.rules import FeatureIndex, parse_rules
from hipad.rules.compiling.lexicon import Lexicon
from hipad.rules.compiling.settling import RowsNeeded, Settler
from hipad.rules.compiling.values import ColumnValues
from hipad.rules.language.logic import alternatives

RNG = np.random.default_rng(4)
NAMES = ["a", "b", "income", "debt", "share", "hbc", "IL", "IL-6", "p", "q", "sex=male",
         "sex=female", "stage=I", "stage=II", "stage=III"]  # fmt: skip
X = np.column_stack(
    [
        RNG.normal(size=60),
        RNG.normal(size=60),
        RNG.uniform(1, 9, 60),
        RNG.uniform(0, 9, 60),
        RNG.uniform(0, 1, 60),
        RNG.uniform(4, 12, 60),
        RNG.uniform(0, 9, (60, 2)),
        RNG.integers(0, 2, (60, 7)),
    ]
)
BLOCKS = {"K": np.array([0, 1])}


def settled(text: str, *, known: bool = True) -> list[str]:
    values = ColumnValues(X) if known else None
    settler = Settler(Lexicon(FeatureIndex(NAMES), BLOCKS, values))
    (rule,) = parse_rules(f"{text} => x")
    (condition,) = rule.conditions
    return [" and ".join(map(str, each)) for each in alternatives(settler.settle(condition))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INCOME >= 1", ["income >= 1"]),
        ("sex = male", ["`sex=male` >= 1"]),
        ("sex != male", ["`sex=male` <= 0"]),
        ("male", ["`sex=male` >= 1"]),
        ("not male", ["`sex=male` <= 0"]),
        ("stage >= II", ["at least 1 of (`stage=II`, `stage=III`)"]),
        ("stage > 2", ["`stage=III` >= 1"]),
        ("stage in {I, III}", ["at least 1 of (`stage=I`, `stage=III`)"]),
        ("stage not in {I, III}", ["at most 0 of (`stage=I`, `stage=III`)"]),
        ("p = yes", ["p >= 1"]),
        ("IL-6 >= 5", ["`IL-6` >= 5"]),
        ("IL - 6 >= 5", ["IL - 6 >= 5"]),
        ("debt/income > 0.4", ["debt > 0.4*income"]),
        ("share <= 50%", ["share <= 0.5"]),
        ("hbc >= 6.5 %", ["hbc >= 6.5"]),
        ("max(K) >= 2", ["a >= 2", "b >= 2"]),
        ("min(K) >= 2", ["min(K) >= 2"]),
        ("max(K) - min(K) <= 3", ["max(K) - min(K) <= 3"]),
        ("at least 1 of (p, male)", ["at least 1 of (p, `sex=male`)"]),
    ],
)
def test_conditions_are_settled_by_the_data(text, expected):
    assert settled(text) == expected


def test_figures_come_from_the_training_rows():
    (text,) = settled("a > p90(a)")
    assert float(text.split()[-1]) == pytest.approx(np.percentile(X[:, 0], 90))
    (text,) = settled("a >= 1.2*mean(a)")
    assert float(text.split()[-1]) == pytest.approx(1.2 * X[:, 0].mean())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing >= 1", "no feature or block is called nothing"),
        ("K >= 1", "write mean(K)"),
        ("a", "not known to hold 0 and 1"),
        ("a/b > 2", "goes down to"),
        ("a != 2", "write a < 2 or a > 2"),
        ("p in {0, 1}", "write p between 0 and 1"),
        ("median(K) >= 2", "of a block is not linear"),
        ("mean(a) >= 2", "write a where the patient's own value is meant"),
        ("a >= 0.9*max(a)", "p100(a)"),
        ("at least 1 of (a, b)", "does not hold 0 and 1 only"),
        ("sex = other", "has no value other"),
        ("sex >= male", "the order of the values of sex is not known"),
        ("stage < I", "no value of stage"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    with pytest.raises(RuleError) as caught:
        settled(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["a > p90(a)", "z(a) > 2", "debt/income > 2", "share <= 50 %"])
def test_without_rows_that_is_said(text):
    with pytest.raises(RowsNeeded):
        settled(text, known=False)
