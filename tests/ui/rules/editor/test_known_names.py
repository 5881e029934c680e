from __future__ import annotations

import json
from types import SimpleNamespace

from hipad.rules import FeatureIndex
from tests.ui.pima import fitted
from ui.rules.editor.known_names import known_names


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
