from __future__ import annotations

import numpy as np
import pytest

from tests.ui.pima import fitted
from ui.bench.sides import Comparison, Side, truth
from ui.bench.tuning import present_rules


@pytest.fixture(scope="module")
def compared():
    state, model = fitted()
    other = state.request(rules="Age >= 50 => diabetic worth 200 patients").fit(like=model)
    return Comparison(*(Side.of(own, state.data) for own in (model, other.named("other"))))


def test_flips_are_those_of_the_answers(compared):
    old, new = (side.model.classifier.predict(compared.data.X_test) for side in compared.sides)
    assert sorted(compared.flips.rows.tolist()) == np.flatnonzero(old != new).tolist()
    right = (new == compared.data.y_test)[compared.flips.rows]
    assert len(compared.flips.better) == right.sum()


def test_patients_are_rows_of_the_file(compared):
    table = compared.patients
    tested = table[table["of"] == "test"]
    assert set(tested["row"]) <= set(compared.data.patients[1].tolist())
    old, new = compared.columns
    assert len(tested)
    assert ((tested[old] > 0) != (tested[new] > 0)).all()


def test_sums_by_block_hold_every_weight(compared):
    for column, side in zip(("old", "new"), compared.sides, strict=True):
        assert compared.blocks[column].sum() == pytest.approx(side.weights.sum(), rel=1e-6)


def test_records_are_of_the_model_that_is_asked(compared):
    state, model = fitted()
    state.tuning.draft = state.rules.text
    own = Side.of(model, state.data).records(present_rules(state))
    known = {r.label: r.worst.value for r in model.classifier.rule_report_}
    assert {r.label: pytest.approx(r.worst.value, rel=1e-6) for r in own} == known


def test_the_truth_is_of_the_test_patients(compared):
    assert truth(compared.data).sum() == compared.data.counts("test")[compared.data.classes[1]]
