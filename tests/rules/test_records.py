from __future__ import annotations

import json

import numpy as np
import pytest

from hipad.rules import RuleWeights, compile_rules, picture, rule_pulls, rule_report

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
        pulls=rule_pulls(rules, [RuleWeights(0.2, 50.0, 100)] * 3, 0.1),
        knobs=[RuleWeights(0.2, 50.0, 100)] * 3,
        certificates=[(0.1, 0.2)] * 3,
    )
    first, second, never = records
    assert (len(first.train.fired), len(first.train.right)) == (2, 1)
    assert (len(first.test.fired), len(first.test.right)) == (2, 1)
    assert first.worst.value == pytest.approx(16 * 0.1 - 9 * 0.2 - 1)
    assert first.holds_from is not None
    assert first.holds_from.startswith("mean(K) >= ")
    assert first.pull is not None
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
