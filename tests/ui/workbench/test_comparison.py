from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ui import pima
from tests.ui.pima import fitted
from ui.workbench.comparison import (
    CLEAR,
    Comparison,
    Side,
    area_words,
    change_words,
    headline,
    rounded,
    truth,
    verdict,
    weight_chart,
)
from ui.workbench.refit import draft_rules


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
    own = Side.of(model, state.data).records(draft_rules(state))
    known = {r.label: r.worst.value for r in model.classifier.rule_report_}
    assert {r.label: pytest.approx(r.worst.value, rel=1e-6) for r in own} == known


def test_the_truth_is_of_the_test_patients(compared):
    assert truth(compared.data).sum() == compared.data.counts("test")[compared.data.classes[1]]


def test_the_picture_of_the_weights_has_words():
    chart, text = weight_chart(pima.compared(""))
    assert len(chart.data) == 2
    assert text.startswith(r"first \(reference\) → first: ")


def test_rows_of_the_picture_keep_their_order_while_a_slider_moves():
    pairs = [pima.compared(f"Age >= {age} => diabetic worth 90 patients") for age in (30, 50, 60)]
    orders = [list(weight_chart(found)[0].layout.yaxis.ticktext) for found in pairs]
    places = {name: k for k, name in enumerate(orders[0])}
    for order in orders[1:]:
        known = [places[name] for name in order if name in places]
        assert known == sorted(known)
    assert any(len(order) > 1 for order in orders)


def test_a_kept_model_is_called_by_its_name_and_never_now():
    state, model = fitted()
    other = state.request(rules="Age >= 50 => diabetic worth 200 patients").fit().named("row")
    found = Comparison(*(Side.of(own, state.data) for own in (model.named("first"), other)))
    chart, text = weight_chart(found)
    assert [trace.name for trace in chart.data] == ["first (reference)", "row"]
    for table in (found.patients, found.largest):
        assert {"by first (reference)", "by row"} <= set(table.columns)
    assert "now" not in " ".join([text, *found.patients.columns, *found.patients["change"]])


def test_a_model_does_not_differ_from_itself():
    found = pima.compared("")
    assert "No answer changed" in verdict(found)
    assert [abs(figure.change) for figure in headline(found)] == [0, 0, 0, 0]


def test_the_verdict_counts_better_and_worse():
    found = pima.compared("Age >= 50 => diabetic worth 200 patients")
    better, worse = len(found.flips.better), len(found.flips.worse)
    text = verdict(found, expert=True)
    assert f"{better:,} became right and {worse:,} wrong" in text
    assert ("more than chance" in text) == (found.flips.p_value < CLEAR)
    gain = headline(found)[0].change
    assert gain == pytest.approx(100 * (better - worse) / found.new.model.judgement.accuracy.n)


def test_without_both_classes_there_is_no_area():
    assert area_words(math.nan) == "–"
    assert area_words(0.81249) == "0.812"


@pytest.mark.parametrize("change", [0.0, -0.0, -0.0004, 0.0004, math.nan])
def test_a_change_that_rounds_to_zero_is_not_shown(change):
    assert change_words(change, 3) is None


def test_a_change_that_is_shown_has_its_sign_and_unit():
    assert change_words(-0.0006, 3) == "-0.001"
    assert change_words(1.25, 1, " points") == "+1.2 points"


def test_tables_have_no_negative_zero():
    assert "-" not in "".join(f"{value:.3f}" for value in rounded(np.array([-0.0, -0.0004, 0.2])))
