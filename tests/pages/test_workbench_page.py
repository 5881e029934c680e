from __future__ import annotations

import base64
import json

import numpy as np

from hipad.rules import parse_rules, read_rules
from tests.pages.test_run import protos
from ui.workbench.live import known
from ui.workbench.refit import slider_request


def bench(app, sample="ksvm-s-10k"):
    """Load a sample, run it and go to the workbench."""
    return app.load(sample).finish().go("workbench")


def slider(app, name):
    return next(s for s in app.at.slider if s.key.startswith(f"bench_{name}_"))


def metric(app, label):
    return next(m for m in app.at.metric if m.label == label)


def view(app):
    """What the view in the browser was given."""
    found = protos(app.at._tree, "bidi_component")
    (proto,) = [proto for proto in found if proto.component_name.endswith("hipad_workbench")]
    return json.loads(proto.json)


def test_without_data_it_says_where_to_get_some(app):
    assert "No data yet" in app.go("workbench").text()


def test_without_a_model_it_offers_to_fit_one(app):
    app.load("ksvm-s-10k").go("workbench")
    assert "compares with a reference model" in app.text()
    app.click("bench_first")
    app.state.job.wait(60)
    app.run()
    assert app.state.pinned_model is not None
    assert "Right answers" in app.text()


def test_the_last_run_is_pinned_and_nothing_has_changed_yet(app):
    bench(app)
    assert app.state.pinned == "first run"
    assert metric(app, "Changed answers").value == "0"
    assert "No answer changed" in app.text()
    assert app.at.button(key="bench_apply").disabled


def test_a_move_refits_and_the_figures_are_those_of_the_new_model(app):
    bench(app)
    before = app.state.rules.text
    slider(app, "worth").set_value(0.0)
    app.run()
    model = app.state.tuning.model
    assert parse_rules(model.rules)[0].worth == 0
    assert model.classifier.lambda1_ == app.state.pinned_model.classifier.lambda1_
    data = app.state.data
    said = model.classifier.predict(data.X_test).astype(str)
    flipped = int(np.sum(said != app.state.pinned_model.classifier.predict(data.X_test)))
    assert flipped > 0
    assert metric(app, "Changed answers").value == f"{flipped:,}"
    share = 100 * np.mean(said == data.y_test)
    assert metric(app, "Right answers").value == f"{share:.1f} %"
    assert app.state.rules.text == before


def test_applied_values_are_an_edit_that_can_be_undone(app):
    bench(app)
    before = app.state.rules.text
    slider(app, "threshold").set_value(slider(app, "threshold").min)
    app.run().click("bench_apply")
    assert app.state.rules.text == app.state.tuning.draft != before
    assert app.state.rules.edits[-1].what == "workbench: condition of rule 1"
    app.go("rules").click("rules_undo")
    assert app.state.rules.text == before
    app.go("workbench")
    assert app.state.tuning.draft == before


def test_values_survive_a_visit_to_another_page_and_reset(app):
    bench(app)
    slider(app, "worth").set_value(10.0)
    app.run().go("data").go("workbench")
    assert slider(app, "worth").value == 10.0
    app.click("bench_reset")
    assert app.state.tuning.draft == app.state.rules.text
    assert slider(app, "worth").value != 10.0


def test_models_are_kept_pinned_compared_restored_and_forgotten(app):
    bench(app)
    slider(app, "worth").set_value(0.0)
    app.run()
    app.at.text_input(key="bench_name_1").set_value("deaf")
    app.run().click("bench_keep_False")
    assert [model.name for model in app.state.models] == ["first run", "deaf"]
    app.click("bench_reset")
    shown = next(s for s in app.at.selectbox if s.key.startswith("bench_shown_"))
    shown.set_value("deaf")
    app.run()
    assert app.state.tuning.shown == "deaf"
    assert metric(app, "Changed answers").value != "0"
    app.at.selectbox(key="bench_model_2").set_value("deaf")
    app.run().click("bench_pin")
    assert app.state.pinned == "deaf"
    app.at.selectbox(key="bench_model_2").set_value("deaf")
    app.run().click("bench_restore")
    assert app.state.rules.text == app.state.pinned_model.rules
    assert app.state.rules.edits[-1].what == "rules of deaf"
    app.at.selectbox(key="bench_model_2").set_value("first run")
    app.run().click("bench_forget")
    assert [model.name for model in app.state.models] == ["deaf"]


def test_broken_rules_are_told_and_the_page_goes_on(app):
    bench(app, "pima")
    app.state.rules.change("Glukose >= 126 => diabetic", "a slip")
    app.go("workbench")
    assert "Glucose" in app.at.error[0].value
    app.state.rules.change("Glucose >= => diabetic", "another")
    app.run()
    assert "These rules cannot be used" in app.at.error[0].value
    app.state.rules.change("", "none")
    app.run()
    assert "no rule to tune" in app.text()


def test_a_rule_can_be_switched_off(app):
    bench(app, "pima")
    app.at.toggle(key=f"bench_on_0_{app.state.tuning.turn}").set_value(False)
    app.run()
    assert not read_rules(app.state.tuning.draft).rules[0].enabled
    assert slider(app, "threshold").disabled


def test_a_pinned_model_without_rules_shows_what_rules_bring(app):
    app.load("ksvm-s-10k")
    app.state.settings = app.state.settings.changed(use_rules=False)
    app.finish().go("workbench")
    assert metric(app, "Right answers").delta.startswith("+")


def test_fifty_thousand_columns_send_nothing_large(app):
    bench(app, "ksvm-s-50k")
    slider(app, "worth").set_value(0.0)
    assert app.run().largest_element() < 2**20


def test_a_refit_that_takes_long_waits_to_be_asked(app):
    bench(app)
    app.state.tuning.seconds = 60.0
    slider(app, "worth").set_value(10.0)
    app.run()
    assert "takes about 60 seconds" in app.text()
    assert not app.at.metric
    app.click("bench_refit")
    assert metric(app, "Changed answers").value
    assert app.state.tuning.seconds < 60


def test_a_later_run_is_kept_by_a_click(app):
    bench(app)
    app.state.settings = app.state.settings.changed(lambda1=0.2)
    app.finish().go("workbench").click("bench_keep_run")
    assert [model.name for model in app.state.models] == ["first run", "run 2"]
    assert app.state.pinned == "first run"


def test_the_view_shows_the_sliders_and_the_model_at_rest(app):
    bench(app)
    first = view(app)
    assert [rule["label"] for rule in first["rules"]] == ["rule 1", "rule 2"]
    threshold, weight = first["rules"][0]["sliders"]
    assert threshold["value"] == [4.0]
    assert np.sum(threshold["histogram"]) == app.state.data.n_patients
    assert weight["histogram"] == []
    assert "no changed answer" in first["state"]["words"]
    slider(app, "threshold").set_value(3.0)
    app.run()
    moved = view(app)
    assert moved["rules"][0]["sliders"][0]["value"] == [3.0]
    assert moved["token"] == first["token"]
    scores = np.frombuffer(base64.b64decode(moved["state"]["scores"]), "<f4")
    cold = slider_request(app.state, app.state.pinned_model).fit()
    assert np.abs(scores - cold.scores(app.state.data.X_train)).max() < 1e-4


def test_other_data_get_another_token_and_the_old_one_opens_nothing(app):
    bench(app)
    token = view(app)["token"]
    assert known(json.dumps({"token": token}), "") is not None
    bench(app)
    assert view(app)["token"] != token
    assert known(json.dumps({"token": token}), "") is None
