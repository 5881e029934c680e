from __future__ import annotations

import numpy as np

from tests.pages.own_table import fitted, results, table
from ui.patients.patient_list import CHOSEN
from ui.results import seal


def shown(app):
    return app.at.dataframe[0].value


def test_patients_are_training_rows_until_the_test_set_is_opened(app):
    results(fitted(app), "patients")
    data = app.state.data
    assert "Training rows" in app.text()
    assert set(shown(app)["ID"]) == set(data.called(0))
    assert "The test set is opened on the Results page" in app.text()
    seal.open_for(app.state, "done")
    results(app, "patients")
    assert set(shown(app)["ID"]) == set(data.called(1))
    assert "rows of the test set" in app.text()


def test_a_chosen_patient_has_a_sheet_that_stays_and_values_that_move(app):
    results(fitted(app), "patients")
    found = app.state.memo["results_job"][1].outcome
    app.state.memo[CHOSEN] = (found, 4)
    words = app.run().text()
    assert found.names[4] in " ".join(one.value for one in app.at.subheader)
    assert "has not seen this row" in words
    assert "Rules that apply" in words
    assert "The least that changes the answer" in words
    sliders = [one for one in app.at.slider if one.key.startswith("sheet_what_if_4_")]
    sliders[0].set_value(sliders[0].max)
    assert "→" in app.run().text()
    app.at.segmented_control(key="patients_filter").set_value("wrong answers")
    app.run()
    assert (shown(app)["answer"] != shown(app)["actual"]).all()
    assert found.names[4] in " ".join(one.value for one in app.at.subheader)
    app.go("data")
    results(app, "patients")
    assert found.names[4] in " ".join(one.value for one in app.at.subheader)


def test_a_new_file_is_answered_without_a_fit_and_stays(app):
    results(fitted(app), "patients")
    job, model = app.state.job, app.state.model
    app.upload("new.csv", table(60, seed=5), prefix="new_patients")
    words = app.run().text()
    assert "new\\.csv" in words
    assert "60 rows with a known class" in words
    answers = next(one.value for one in app.at.dataframe if "patient" in one.value)
    assert list(answers["patient"]) == [f"P{i:03d}" for i in range(60)]
    assert app.state.job is job
    assert app.state.model is model
    app.click("new_patients_recalibrate")
    assert "risks" in app.text()
    assert "new\\.csv" in app.go("data").go("patients").text()
    text = table(60, seed=6).decode().replace("marker", "other")
    app.upload("lacks.csv", text.encode(), prefix="new_patients")
    assert "marker" in " ".join(error.value for error in app.at.error)


def test_the_loaded_file_itself_gives_answers_and_no_figures(app):
    results(fitted(app), "patients")
    app.upload("again.csv", table(), prefix="new_patients")
    words = app.run().text()
    assert "among the loaded data" in words
    assert not app.at.metric
    assert np.isin(["P000", "P095"], app.at.dataframe[-1].value["patient"]).all()
