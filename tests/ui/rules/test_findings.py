from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.rules import BoxPoint, Finding
from tests.ui.pima import fitted, session
from ui.rules.checks import as_sentence, checked_rules, offers_of, pair_table, patient_table, spoken


def test_a_weak_rule_is_told_without_the_words_of_the_solver():
    finding = Finding("weak", "warning", ("a",), "a is below lambda1", "raise it, or lower lambda1")
    sentence, remedy = spoken(finding, expert=False)
    assert "lambda1" not in sentence + remedy
    assert spoken(finding, expert=True) == (finding.sentence, finding.remedy)


def test_a_patient_is_shown_beside_the_average():
    data = fitted()[0].data
    at = data.index.position("Glucose")
    table = patient_table(BoxPoint(np.array([at]), np.array([200.0])), replace(data, blocks={}))
    (row,) = table.to_dict("records")
    assert (row["feature"], row["value"]) == ("Glucose", "200")
    assert float(row["average"]) == float(f"{data.summary['mean'][at]:.4g}")


def test_pairs_that_contradict_come_first():
    state = session()
    state.rules.change(
        "a: Glucose >= 100 => diabetic\nb: Glucose >= 110 => diabetic\nc: BMI >= 20 => healthy", ""
    )
    table = pair_table(checked_rules(state))
    assert table["they say"].tolist() == ["the opposite", "the opposite", "the same"]
    assert table["training"].min() > 0


def test_a_weak_rule_is_offered_the_worth_that_it_needs():
    state = session()
    state.settings = state.settings.changed(fewness="exact", lambda1=0.9)
    state.rules.change("Age >= 60 => diabetic worth 1 patients", "weak")
    (check,) = checked_rules(state).checks
    assert not check.pull.enters
    (_, sentence, better) = offers_of(check)[-1]
    assert better.worth > check.needed_patients
    assert f"{check.needed_patients:.3g} patients" in sentence


def test_a_rule_whose_weight_is_learnt_is_offered_none():
    state = session()
    state.settings = state.settings.changed(fewness="exact", lambda1=0.9)
    state.rules.change("Age >= 60 => diabetic", "weak")
    (check,) = checked_rules(state).checks
    assert not check.pull.enters
    assert all(better.worth is None for _, _, better in offers_of(check))


def test_a_remedy_begins_with_a_capital_though_a_rule_has_its_first_letters():
    assert as_sentence("check the units", ["c", "check_up"]) == "Check the units"
    assert as_sentence("c is empty", ["c"]) == "c is empty"
    assert as_sentence("rule 1 is empty", ["rule 1"]) == "rule 1 is empty"
