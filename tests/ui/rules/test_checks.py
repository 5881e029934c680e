from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.designs import standardisation
from hipad.rules import BoxPoint, Finding
from tests.ui.pima import fitted, session
from ui.rules.checks import (
    as_sentence,
    checked_rules,
    checking,
    known_lambda1,
    offers_of,
    pair_table,
    patient_table,
    spoken,
    study_rows,
)


def test_a_check_is_kept_until_the_text_changes():
    state = session()
    first = checked_rules(state)
    assert first.is_final
    assert checked_rules(state) is first
    job = checking(state)
    state.rules.change("Age >= 50 => diabetic", "another")
    assert checking(state) is not job
    assert job.stop_requested.is_set()
    assert [check.label for check in checked_rules(state).checks] == ["rule 1"]


def test_lambda1_is_open_before_a_run_and_known_when_set():
    state = session()
    state.settings = state.settings.changed(fewness="automatic")
    assert known_lambda1(state) is None
    few, many = (
        known_lambda1_of(state, state.settings.changed(fewness=word)) for word in ("few", "many")
    )
    assert few > many > 0
    assert known_lambda1_of(state, state.settings.changed(fewness="exact", lambda1=0.7)) == 0.7


def known_lambda1_of(state, settings):
    state.settings = settings
    return known_lambda1(state)


def test_patients_are_seen_as_a_fit_sees_them():
    state, model = fitted()
    seen = study_rows(state.data, model.settings)
    mean, scale = standardisation(state.data.X_train)
    assert seen.mean == pytest.approx(mean)
    assert seen.scale == pytest.approx(scale)
    assert seen.p.sum() == pytest.approx(1)
    assert seen.p[seen.train[1] > 0].sum() == pytest.approx(0.5)
    plain = study_rows(state.data, model.settings.changed(standardize=False, balanced=False))
    assert plain.mean is None
    assert np.ptp(plain.p) == 0


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
    assert table["outcome"].tolist() == ["the opposite", "the opposite", "the same"]
    assert table["training"].min() > 0


def test_a_weak_rule_is_offered_the_worth_that_it_needs():
    state = session()
    state.settings = state.settings.changed(fewness="exact", lambda1=0.9)
    state.rules.change("Age >= 60 => diabetic worth 1 patients", "weak")
    (check,) = checked_rules(state).checks
    assert not check.gradient.enters
    (_, sentence, better) = offers_of(check)[-1]
    assert better.worth > check.needed_patients
    assert f"{check.needed_patients:.3g} patients" in sentence


def test_a_rule_whose_weight_is_learnt_is_offered_none():
    state = session()
    state.settings = state.settings.changed(fewness="exact", lambda1=0.9)
    state.rules.change("Age >= 60 => diabetic", "weak")
    (check,) = checked_rules(state).checks
    assert not check.gradient.enters
    assert all(better.worth is None for _, _, better in offers_of(check))


def test_a_remedy_begins_with_a_capital_though_a_rule_has_its_first_letters():
    assert as_sentence("check the units", ["c", "check_up"]) == "Check the units"
    assert as_sentence("c is empty", ["c"]) == "c is empty"
    assert as_sentence("rule 1 is empty", ["rule 1"]) == "rule 1 is empty"
