"""Trust in rules and patients without a label, on the pages."""

from __future__ import annotations

import numpy as np
import pytest

RULES = "sweet: sugar >= 6 => ill\nold: age >= 70 => well worth 6 patients"


def table(n: int = 44, unlabelled: int = 12) -> bytes:
    rng = np.random.default_rng(0)
    lines = ["patient,sugar,age,state"]
    for i in range(n):
        state = "" if i < unlabelled else ("well", "ill")[i % 2]
        lines.append(f"P{i + 1},{rng.normal(4 + 2 * (i % 2)):.2f},{rng.integers(30, 80)},{state}")
    return "\n".join(lines).encode()


@pytest.fixture
def ran(app):
    """A table of one's own with rules, run once."""
    app.go("data").upload("mine.csv", table())
    app.state.rules.change(RULES, "test")
    app.state.settings = app.state.settings.changed(fewness="exact", lambda1=0.05)
    return app.finish()


def frame(app, column):
    return next(f.value for f in app.at.dataframe if column in f.value.columns)


def test_patients_without_a_label_are_kept_and_more_may_be_given(app):
    app.go("data").upload("mine.csv", table())
    assert app.state.data.n_unlabelled == 12
    assert "used for what the rules say, never for judging: **12**" in app.text()
    assert "Without a label 12" in app.text()
    more = b"patient,sugar,age,state\nQ1,5,50,ill\nQ2,6,60,\n"
    app.upload("more.csv", more, prefix="unlabelled_file")
    assert app.state.data.n_unlabelled == 14
    assert app.state.data.unlabelled_names[-1] == "Q2"
    assert "labels of the unlabelled rows, not read: **1**" in app.text()
    app.click("unlabelled_remove")
    assert app.state.data.n_unlabelled == 12
    next(t for t in app.at.toggle if "without a label" in t.label).set_value(False)
    app.run()
    assert app.state.data.n_unlabelled == 0
    assert "rows without a label dropped: **12**" in app.text()


def test_the_run_shows_trust_what_was_averaged_and_whom_to_label(ran):
    assert "labelled patients" in ran.text()
    assert "the trust in this rule" in ran.text()
    assert "You wrote a weight of 6 patients: it is used as written." in ran.text()
    rules = frame(ran, "trust")
    assert 0 <= rules["trust"][0] <= 100
    assert np.isnan(rules["trust"][1])
    assert frame(ran, "doubt (%)")["patient"].str.startswith("P").all()
    assert not any("held-out log loss" in f.value.columns for f in ran.at.dataframe)
    next(t for t in ran.at.toggle if t.label == "Expert").set_value(True)
    assert frame(ran.run(), "held-out log loss")["rules"][0] == "without sweet, old as written"


def test_a_learnt_weight_is_written_when_it_is_moved_and_learnt_again(ran):
    ran.go("workbench")
    assert "Learnt: it counts for" in ran.text()
    base = ran.state.pinned_model
    moved = next(s for s in ran.at.slider if s.key.startswith("bench_worth_0"))
    moved.set_value(8.0)
    ran.run()
    assert "sweet: sugar >= 6 => ill worth 8 patients" in ran.state.tuning.draft
    assert not np.array_equal(ran.state.tuning.model.weights, base.weights)
    ran.click("bench_learn_0")
    assert ran.state.tuning.draft == RULES
    assert "No answer changed" in ran.text()
