import numpy as np

from hipad.rules import FeatureIndex, compile_each
from hipad.rules.compiler import read_for
from hipad.rules.context import ColumnValues, NameTable

INDEX = FeatureIndex(["blood pressure", "g1", "g2", "sex=male", "sex=female"])
BLOCKS = {"K": np.array([1, 2])}
X = np.random.default_rng(0).random((40, 5))
LEXICON = NameTable(INDEX, BLOCKS, ColumnValues(X))
CLASSES = ("well", "ill")


def test_names_of_the_data_are_known():
    (rule,) = read_for("Blood Pressure >= 140 => ill", LEXICON, CLASSES).rules
    found, errors = compile_each(
        read_for("Blood Pressure >= 140 => ill", LEXICON, CLASSES).rules,
        feature_names=INDEX,
        blocks=BLOCKS,
        classes=CLASSES,
    )
    assert not errors
    assert found[0].columns.tolist() == [0]
    assert rule.outcome == "ill"


def test_a_rule_for_several_is_spelled_out_on_its_line():
    text = "g1 >= 1 => well\nany: max(K) >= 0.5 => ill worth 4 patients"
    rules = read_for(text, LEXICON, CLASSES).rules
    assert rules.labels == ("rule 1", "any_1", "any_2")
    assert {rule.place[0] for rule in rules[1:]} == {2}
    found, errors = compile_each(rules, feature_names=INDEX, blocks=BLOCKS, classes=CLASSES)
    assert not errors
    fires = found[1].fires(X) | found[2].fires(X)
    assert np.array_equal(fires, X[:, 1:3].max(axis=1) >= 0.5)
    assert sum(rule.worth for rule in rules[1:]) == 4


def test_a_mistake_stays_a_mistake():
    found = read_for("max(nobody) >= 1 => ill\ng1 >= => ill", LEXICON, CLASSES)
    assert len(found.rules) == 1
    assert len(found.errors) == 1
