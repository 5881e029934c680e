from __future__ import annotations

from functools import partial

import pytest

from hipad import HIPADClassifier
from tests.experiments.small import table
from ui.experiments import learning_curve_view, sensitivity_view
from ui.experiments.experiments_state import PAPER, TUNE, WRONG


def small_table() -> bytes:
    own = table()
    lines = [",".join([*own.feature_names, "y"])]
    for row, label in zip(own.X, own.y, strict=True):
        lines.append(",".join([*(f"{v:.6f}" for v in row), "ill" if label > 0 else "well"]))
    return "\n".join(lines).encode()


@pytest.fixture
def lab(app, monkeypatch):
    """A small table with two rules, few draws, and settings that need no search."""
    quick = partial(HIPADClassifier, lambda1=0.1, lambda2=1.0)
    monkeypatch.setattr("hipad.experiments.methods.HIPADClassifier", quick)
    monkeypatch.setattr(learning_curve_view, "FIRST_DRAWS", 3)
    monkeypatch.setattr(learning_curve_view, "USUAL_SIZES", (4, 8))
    monkeypatch.setattr(sensitivity_view, "FIRST_DRAWS", 3)
    app.go("data").upload("small.csv", small_table())
    app.state.rules.change("f0 >= 1 => ill\nf1 <= -1 => well\nf5 does not matter", "test")
    yield app.go("experiments")
    app.state.lab.stop()


def part(app, name):
    app.state.lab.part = name
    app.state.lab.rule_turn += 1
    return app.run()


def finish(app, name):
    app.click(f"lab_start_{name}")
    work = app.state.lab.at[name]
    work.job.wait(60)
    app.run()
    assert work.job.is_final, work.job.error
    assert not work.fits.failures
    return app.text()


def test_without_data_or_rules_it_says_where_to_get_them(app):
    assert "No data yet" in app.go("experiments").text()
    app.go("data").upload("small.csv", small_table())
    assert "No rule yet" in app.go("experiments").text()


def test_rules_are_worth_so_many_patients(lab):
    told = finish(lab, "worth")
    assert "With 8 labelled rows the rules are worth" in told
    assert "Balanced accuracy with 8 labelled rows" in told
    assert {"lab_csv_worth", "lab_html_worth"} <= {b.key for b in lab.at.download_button}


def test_a_rule_is_doubted_and_its_statements_stay(lab):
    lab.state.lab.doubt(1)
    told = finish(lab.run(), "doubt")
    assert "Balanced accuracy with rules, by outcome" in told
    assert "Area under ROC with rules, by outcome" in told
    work = lab.state.lab.at["doubt"]
    assert work.notes["label"] == "rule 2"
    assert all("f5 does not matter" in version.rules for version in work.notes["versions"])
    ways = next(s for s in lab.at.selectbox if s.key.startswith("lab_way"))
    ways.set_value("Threshold:0")
    lab.run()
    assert "computed before your last change" in lab.text()


def test_settings_are_tuned_and_taken(lab):
    part(lab, TUNE)
    next(t for t in lab.at.toggle if t.key == "lab_honest").set_value(False)
    told = finish(lab.run(), "tune")
    assert "Chosen" in told
    lab.click("lab_use")
    assert lab.state.settings.fewness == "exact"


def test_the_paper_offers_its_parts_and_its_figure(lab):
    part(lab, PAPER)
    parts = next(m for m in lab.at.multiselect if m.key == "lab_parts")
    parts.set_value(["figure1"])
    told = finish(lab.run(), "paper")
    assert "The features settle after" in told


def test_broken_rules_are_a_sentence(lab):
    lab.state.rules.change("f0 >= => ill", "test")
    part(lab, WRONG)
    assert lab.at.error or "No rule yet" in lab.text()
