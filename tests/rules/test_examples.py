"""Examples from a table's own columns: six, each of which compiles."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.rules import FeatureIndex, compile_rules
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.suggestions import example_rules, manual_text
from tests.rules.corpus_tables import TABLES
from tests.rules.test_corpus import lexicon


@pytest.mark.parametrize("table", TABLES)
def test_example_rules_are_six_that_fire_on_some_rows(table):
    known, classes = lexicon(table), TABLES[table].classes
    found = example_rules(known, classes)
    assert len(found) == 6
    for rule in found:
        sides = TABLES[table].fired(rule.text)
        assert any(0 < rows.sum() < len(rows) for rows in sides.values()), rule.text


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).integers(0, 2, (30, 4)).astype(float),
        np.full((30, 4), 2.0),
        np.full((30, 4), np.nan),
        np.column_stack([np.arange(30.0) * 1e-9] * 4),
        np.column_stack([np.arange(30.0) * 1e12] * 4),
    ],
)
def test_example_rules_of_odd_tables_compile_or_are_left_out(X):
    names = ["a b", "and", "p-36", "x"]
    known = NameTable(FeatureIndex(names), {}, ColumnValues(X))
    for rule in example_rules(known, ("no event", "5% risk")):
        assert compile_rules(
            rule.text, feature_names=names, classes=("no event", "5% risk"), values=X
        )


def test_manual_text_is_the_documentation():
    assert manual_text().startswith("# The rule language")
