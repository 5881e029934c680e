"""Roles of columns on the Data page: guessed, told, and changed with one click."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hipad.data import Role
from tests.pages.own_table import results
from ui.results import seal
from ui.session.session_file import read_session, session_of


def visits() -> bytes:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(18), np.r_[np.full(17, 6), 5])
    X = rng.normal(size=(18, 3))[groups] + 0.1 * rng.normal(size=(107, 3))
    ill = (np.arange(18) % 4 > 0)[groups]
    rows = [
        f"S{g + 1:02d},{a:.3f},{b:.3f},{c:.3f},{'yes' if sick else 'no'}"
        for g, (a, b, c), sick in zip(groups, X, ill, strict=True)
    ]
    return "\n".join(["subject,m0,m1,m2,disease", *rows]).encode()


def recurrences() -> bytes:
    rng = np.random.default_rng(4)
    rows = []
    for i in range(90):
        again = i % 3 == 0
        late = rng.uniform(0, 1) + 3 * again
        time = rng.exponential(60)
        status = "recurrence" if again else "censored"
        rows.append(f"{84000 + 7 * i},{rng.integers(30, 80)},{late:.3f},{time:.1f},{status}")
    return "\n".join(["id,age,marker,time,status", *rows]).encode()


@pytest.mark.slow
def test_rows_of_one_patient_stay_together_until_the_user_says_otherwise(app):
    app.upload("visits.csv", visits())
    state = app.state
    assert state.data.group == "subject"
    assert state.data.feature_names == ["m0", "m1", "m2"]
    trained, tested = set(state.data.groups_train), set(state.data.groups_test)
    assert not trained & tested
    assert "Rows with the same **subject** belong to one patient" in app.text()
    assert f"rows of {len(tested)} patients for testing" in app.text()
    app.finish()
    seal.open_for(app.state, "the rules are final")
    results(app)
    assert (
        f"Of {len(state.data.y_test)} rows of {len(tested)} patients of the test set" in app.text()
    )
    app.go("data")
    control = next(c for c in app.at.segmented_control if "subject" in (c.key or ""))
    control.set_value(Role.ID)
    app.run()
    assert app.state.preparation.roles == {"subject": Role.ID}
    assert app.state.data.group == ""
    assert "belong to one patient" not in app.text()


@pytest.mark.slow
def test_questions_are_asked_before_a_run_and_answered_with_a_click(app):
    app.upload("recurrences.csv", recurrences())
    assert app.state.data.feature_names == ["age", "marker"]
    assert "time seems to be a time of follow" in app.text()
    assert "marker alone separates the classes" in app.text()
    app.go("run")
    assert "marker alone separates the classes" in app.text()
    app.state.rules.change("time >= 30 => censored", "test")
    app.go("rules")
    assert "**time** cannot be used in a rule, because its role is follow" in app.text()
    app.go("data")
    no = next(b for b in app.at.button if "role_no" in (b.key or "") and "marker" in b.key)
    app.click(no.key)
    assert app.state.data.feature_names == ["age"]
    assert "marker alone separates" not in app.text()
    yes = next(b for b in app.at.button if "role_yes" in (b.key or "") and "time" in b.key)
    app.click(yes.key)
    assert app.state.data.feature_names == ["age", "time"]
    saved = read_session(session_of(app.state).to_json().encode())
    assert saved.preparation.roles == {"marker": Role.LEFT_OUT, "time": Role.FEATURE}
    app.go("run")
    assert "is it known before" not in app.text()


def test_sessions_of_earlier_versions_have_no_roles_and_are_guessed(app):
    app.upload("visits.csv", visits())
    raw = json.loads(session_of(app.state).to_json())
    del raw["preparation"]["roles"]
    assert read_session(json.dumps(raw).encode()).preparation.roles == {}
    raw["preparation"]["roles"] = {"subject": "king"}
    with pytest.raises(Exception, match="king"):
        read_session(json.dumps(raw).encode())


def test_too_few_patients_to_hold_back_can_still_be_looked_at(app):
    rows = [f"S{i // 10:02d},{i * 0.37 % 1:.3f},{'yes' if i < 40 else 'no'}" for i in range(50)]
    app.upload("few.csv", "\n".join(["subject,m,disease", *rows]).encode())
    assert app.state.preparation.test == "none"
    assert app.state.data.whom("train") == "50 rows of 5 patients"


@pytest.mark.slow
def test_a_column_that_may_name_patients_groups_rows_with_one_click(app):
    rng = np.random.default_rng(5)
    rows = [f"{k // 4},{rng.normal():.3f},{'yes' if k // 4 % 2 else 'no'}" for k in range(96)]
    app.upload("plots.csv", "\n".join(["z,m0,disease", *rows]).encode())
    assert app.state.data.group == ""
    assert "z may name patients" in app.text()
    no = next(b for b in app.at.button if "role_no" in (b.key or "") and b.label.startswith("No"))
    assert no.label == "No, group rows by it"
    app.click(no.key)
    assert app.state.data.group == "z"
    assert app.state.data.feature_names == ["m0"]
    assert "may name patients" not in app.text()
