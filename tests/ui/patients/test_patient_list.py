from __future__ import annotations

import numpy as np

from tests.ui.patients.judged import judged
from ui.patients.patient_list import BY_DOUBT, BY_PLACE, BY_RISK, BY_SPREAD, FILTERS, shown_rows


def test_rules_apply_to_the_rows_that_meet_their_condition():
    state, _, patients = judged()
    data = state.data
    named = {name: data.X_test[:, data.index.names.index(name)] for name in ("Glucose", "BMI")}
    high = next(k for k, rule in enumerate(patients.rules) if rule.label == "high_risk")
    met = (named["Glucose"] >= 126) & (named["BMI"] >= 30)
    gaps = data.gaps_test
    known = ~gaps.rows(patients.rules[high].columns) if gaps else np.ones(len(met), dtype=bool)
    assert np.array_equal(patients.applies[high], met & known)
    assert 0 < patients.applies[high].sum() < len(met)


def test_the_list_says_what_the_model_and_one_without_rules_say():
    state, model, patients = judged()
    rows = np.arange(len(patients.found.rows))
    table = patients.table(rows, None)
    data = state.data
    assert list(table["answer"]) == list(model.classifier.predict(data.X_test).astype(str))
    assert list(table["actual"]) == list(data.y_test)
    assert np.allclose(table["risk"], 100 * model.oriented.risks(model.scores(data.X_test)))
    changed = table["changed by the rules"] != ""
    assert np.array_equal(changed, patients.changed)
    assert "risk moves by" not in table
    assert "risk moves by" in patients.table(rows, np.ones(rows.size))


def test_filters_keep_what_they_say_and_orders_sort():
    _, _, patients = judged()
    rows = patients.found.rows
    wrong = shown_rows(patients, "wrong answers", BY_PLACE, "", None)
    assert np.array_equal(wrong, np.flatnonzero(rows.predicted != rows.positive))
    assert all(shown_rows(patients, which, BY_RISK, "", None).size for which in ("all", FILTERS[4]))
    risks = patients.risks[shown_rows(patients, "all", BY_RISK, "", None)]
    assert (np.diff(risks) <= 0).all()
    near = np.abs(rows.scores[shown_rows(patients, "all", BY_DOUBT, "", None)])
    assert (np.diff(near) >= 0).all()
    spread = np.random.default_rng(0).random(len(rows))
    moved = spread[shown_rows(patients, "all", BY_SPREAD, "", spread)]
    assert (np.diff(moved) <= 0).all()


def test_an_id_is_found_by_a_part_of_it():
    _, _, patients = judged()
    name = str(patients.found.names[3])
    found = shown_rows(patients, "all", BY_PLACE, f" {name} ", None)
    assert 3 in found
    assert all(name in str(patients.found.names[row]) for row in found)
    assert not shown_rows(patients, "all", BY_PLACE, "no such ID", None).size


def test_training_rows_have_cross_validated_scores():
    state, model, patients = judged("cross-validated")
    assert len(patients.found.rows) == len(state.data.y_train)
    own = model.scores(state.data.X_train)
    assert not np.allclose(patients.found.rows.scores, own)
    assert patients.X is state.data.X_train
