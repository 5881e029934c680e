from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hipad.evaluation.curves import roc_curve
from tests.pages.own_table import fitted, loaded, results
from ui.models import answers
from ui.page_frame import next_step
from ui.results import results_view, seal
from ui.results.chance import chance_job, sentence
from ui.results.subgroups import features_of, subgroups
from ui.results.subgroups import table as subgroup_table
from ui.session.saved_session import read_saved_session, reopen, run_again, snapshot
from ui.session.session_file import session_of

WHY = "the rules are final"


def opened(app, why=WHY):
    """Open the test set as its dialog does, whose button is there."""
    assert "Why now?" in [one.label for one in app.click("results_open").at.text_input]
    seal.open_for(app.state, why)
    return results(app)


def metrics(app):
    return {metric.label: metric.value for metric in app.at.metric}


def test_results_without_data_and_without_a_model_say_what_to_do(app):
    assert "No data yet" in app.go("results").text()
    loaded(app).go("results")
    assert "need a fitted model" in app.text()
    app.click("results_fit")
    app.state.job.wait(60)
    assert "in the right class" in results(app).text()


def test_results_of_an_own_table_are_cross_validated_until_the_test_set_is_opened(app):
    results(fitted(app))
    data = app.state.data
    words = app.text()
    assert "The test set is sealed" in words
    assert f"Cross-validated on {len(data.y_train)} rows" in words
    assert "of the test set, which" not in words
    found = app.state.memo["results_job"][1].outcome
    assert found.source == "cross-validated"
    assert len(found.rows) == len(data.y_train)
    assert not app.state.seals
    shown = metrics(app)["Balanced accuracy, with rules"]
    assert shown == f"{100 * found.rows.measure('balanced_accuracy').value:.1f} %"
    assert app.state.model.judgement.part == "training"


def test_no_page_and_no_file_tells_of_sealed_test_rows(app):
    fitted(app, "marker >= 1.5 => ill\ndose >= 1 => ill").state.job.comparison.wait(60)
    data, model = app.state.data, app.state.model
    n = len(data.y_test)
    for page in ("data", "rules", "run", "workbench", "experiments", "patients"):
        app.go(page)
        for name, work in list(app.state.memo.get("cross-validation", (0, {}))[1].items()):
            assert work.job.wait(60), name
        words = app.run().text()
        assert "test patients right" not in words
        if page != "data":  # which says how many there are
            assert f"of {n}" not in words, page
        for table in app.at.dataframe:
            assert not [name for name in table.value.columns if "test" in str(name)], page
    app.go("run")
    assert f"Cross-validated: Of {len(data.y_train)} rows it had not seen" in app.run().text()
    lines = answers(model, data).splitlines()
    assert len(lines) == 1 + len(data.y_train)
    assert all(line.endswith(",training") for line in lines[1:])


def test_an_opening_is_counted_with_its_reason_and_is_for_one_version(app):
    results(fitted(app))
    opened(app)
    (record,) = app.state.seals.values()
    assert [(one.edits, one.reason) for one in record.openings] == [(1, WHY)]
    words = app.text()
    assert "of the test set, which the model has not seen" in words
    assert "judged once, after 1 edit" in words
    assert WHY in words
    assert all(button.key != "results_open" for button in app.at.button)
    app.state.rules.change("marker >= 1 => ill", "another")
    app.state.launch()
    app.state.job.wait(60)
    words = results(app).text()
    assert "Cross-validated on" in words
    assert "has not been judged by it" in words
    opened(app, "")
    (record,) = app.state.seals.values()
    assert [one.edits for one in record.openings] == [1, 2]
    assert "opened 2 times, after 1 and 2 edits" in app.text()
    assert "no reason given" in app.text()


def test_openings_stay_in_a_saved_session_and_are_never_fewer(app):
    results(fitted(app))
    opened(app)
    content = session_of(app.state).to_json()
    (saved,) = json.loads(content)["seals"]
    assert saved["openings"][0]["reason"] == WHY
    app.state.seals = {}
    assert "sealed" in results(app).text()
    reopen(app.state, content.encode())
    (record,) = app.state.seals.values()
    assert [one.reason for one in record.openings] == [WHY]


def test_a_sample_is_open_from_the_start_as_a_demonstration(app):
    app.load("pima").finish()
    words = results(app).text()
    assert "open from the start, as a demonstration" in words
    assert "of the test set" in words
    assert all(button.key != "results_open" for button in app.at.button)


def test_the_cutoff_moves_without_a_fit_and_without_new_curves(app, monkeypatch):
    results(fitted(app))
    job, curves = app.state.memo["results_job"][1], app.state.memo["results_curves"][1]
    monkeypatch.setattr(results_view, "assessment_job", lambda *_: pytest.fail("assessed again"))
    monkeypatch.setattr(results_view, "Curves", lambda *_: pytest.fail("curves drawn again"))
    before = metrics(app)["Sensitivity"]
    app.at.segmented_control(key="results_way").set_value("by hand")
    app.run()
    app.at.slider(key="results_hand").set_value(3)
    app.run()
    assert metrics(app)["Sensitivity"] == "100.0 %" != before
    for way in ("by sensitivity", "by cost", "by net benefit"):
        app.at.segmented_control(key="results_way").set_value(way)
        assert "ill from risk" in app.run().text()
    assert app.state.memo["results_job"][1] is job
    assert app.state.memo["results_curves"][1] is curves
    again = roc_curve(job.outcome.rows)
    assert (curves.roc.y == again.y).all()


def test_without_rules_there_is_one_model_and_no_comparison(app):
    results(fitted(app, rules=""))
    assert "Balanced accuracy" in metrics(app)
    assert "without rules" not in app.text()


def test_the_next_step_is_no_longer_the_results_once_they_were_seen(app):
    fitted(app)
    app.state.keep(app.state.model)
    assert next_step(app.state)[1] == "Results"
    results(app)
    assert next_step(app.state)[1] == ""


def test_other_data_in_between_do_not_open_a_test_set_for_another_version(app):
    results(fitted(app))
    opened(app)
    app.load("pima")
    fitted(app, rules="marker >= 0 => ill")
    words = results(app).text()
    assert app.state.edits == 2
    assert "Cross-validated on" in words
    assert "has not been judged by it" in words


def test_a_kept_cutoff_answers_on_every_page_and_comes_back(app):
    results(fitted(app))
    app.at.segmented_control(key="results_way").set_value("by hand")
    app.run()
    app.at.slider(key="results_hand").set_value(3)
    app.run()
    app.click("results_keep_cutoff")
    assert "with the cut-off that is kept (ill from risk 3 % on)" in app.text()
    kept = app.state.memo[results_view.KEPT][1]
    assert kept.rows.predicted.sum() == (kept.rows.risks >= 0.03).sum() > 0
    work = snapshot(app.state).work
    again, _ = read_saved_session(work.to_json().encode())
    assert again.run.cutoff == pytest.approx(0.03)
    run_again(app.state, again.run)
    assert app.state.job.wait(60)
    assert app.state.model.oriented.threshold == pytest.approx(0.03)
    edits = app.state.edits
    app.state.launch()
    assert app.state.edits == edits
    app.state.job.stop()


def test_figures_by_subgroup_are_those_of_the_rows(app):
    results(fitted(app))
    data, model = app.state.data, app.state.model
    found = app.state.memo[results_view.KEPT][1]
    assert features_of(model, data)[: model.support.size] == model.support.tolist()
    parts = subgroups(data, found, int(model.support[0]))
    assert sum(part.n for part in parts) == len(found.rows)
    assert len(subgroup_table(parts, "patient")) == len(parts) == 3


def test_shuffled_outcomes_show_where_chance_lies(app):
    results(fitted(app))
    asked = [replace(app.state.request(), settings=app.state.settings.changed(
        fewness="exact", lambda1=0.1, lambda2=1.0))]  # fmt: skip
    job = chance_job(asked, shuffles=2)
    job.launch()
    assert job.wait(120)
    assert job.error is None, job.exception
    assert len(job.outcome.corrected) == 2
    assert all(0.2 < one < 0.8 for one in job.outcome.corrected)
    words = sentence(job.outcome, 1, 0.99)
    assert "2 shuffles" in words
    assert "in none of them" in words


def test_rules_that_apply_to_no_training_row_are_named(app):
    results(fitted(app, rules="marker >= 99 => ill"))
    assert "No rule applies to any training row" in app.text()
    results(fitted(app))
    assert "No rule applies" not in app.text()
