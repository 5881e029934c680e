from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from hipad.rules import FeatureIndex, NameTable, compile_each, read_rules
from tests.ui.pima import fitted
from ui.rules.rule_editor import known_names


def test_names_are_spelt_as_a_rule_writes_them():
    names = ["Glucose", "p-36=t", "and", "a`b", "Größe", "1007_s_at"]
    data = SimpleNamespace(
        index=FeatureIndex(names), n_features=len(names), blocks={"my block": [0, 1]},
        classes=("NEG", "BCR/ABL"),
    )  # fmt: skip
    lists = json.loads(known_names(data).content)
    assert lists["features"] == ["Glucose", "`p-36=t`", "`and`", "`a``b`", "Größe", "`1007_s_at`"]
    assert lists["blocks"] == [["`my block`", 2]]
    assert lists["classes"] == ["NEG", '"BCR/ABL"']


def test_the_key_is_that_of_the_content():
    data = fitted()[0].data
    first = known_names(data)
    assert known_names(data) == first
    assert known_names(data.with_blocks({"other": "Glucose"})).key != first.key


LEVELS = (
    "current", "never smoked", "Never-smoked", "2", "10", "02", "1.50", "-1", "+1", "1e3", "nan",
    "high", "normal", "none", "unknown", "and", "not", "worth", "II", "<5", "5-10", "a=b", "x#y",
    "a`b", 'a"b', "50%", "at least 2", "5 or more", "10 mg", "top 10 %", "e.g.",
)  # fmt: skip


def columns_of(line, names):
    """The columns that the condition of a rule reads."""
    index = FeatureIndex(names)
    text = read_rules(line, NameTable(index))
    assert not text.errors
    values = np.tile([[0.0], [1.0]], (1, len(names)))
    found, errors = compile_each(
        text.rules, feature_names=index, classes=("well", "ill"), values=values
    )
    assert not errors
    (rule,) = found.values()
    return [names[j] for j in sorted(set(rule.B.nonzero()[1]))]


@pytest.mark.parametrize("group", ["smoking", "my group"])
def test_known_names_writes_levels_so_that_they_are_read_back(group):
    names = ["age", *(f"{group}={level}" for level in LEVELS)]
    data = SimpleNamespace(
        index=FeatureIndex(names), n_features=len(names), blocks={}, classes=("well", "ill")
    )
    ((written, levels),) = json.loads(known_names(data).content)["categories"]
    assert len(levels) == len(LEVELS)
    assert levels[:5] == ["current", "`never smoked`", "`Never-smoked`", "2", "10"]
    for name, level in zip(names[1:], levels, strict=True):
        assert columns_of(f"{written} = {level} => ill", names) == [name]


def test_known_names_joins_a_category_whose_case_differs():
    names = ["Sex=male", "sex = Female", "odd=", "=odd", "plain"]
    data = SimpleNamespace(
        index=FeatureIndex(names), n_features=len(names), blocks={}, classes=("well", "ill")
    )
    assert json.loads(known_names(data).content)["categories"] == [["Sex", ["male", "Female"]]]
