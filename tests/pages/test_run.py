from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from ui.run import run_view
from ui.run.lie_detector import flipped
from ui.run.run_view import PATH, WITH, WITHOUT, path_of


def until(app, condition, seconds=30):
    """Look at the page again and again, as the live view does."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        app.run()
        time.sleep(0.05)
    assert condition()


def protos(block, kind):
    """What the page sends of one kind of element."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from protos(child, kind)
        elif getattr(child, "type", "") == kind:
            yield child.proto


def player(app):
    """What the player was given."""
    every = protos(app.at._tree, "bidi_component")
    (proto,) = [proto for proto in every if "recovery" not in proto.component_name]
    return json.loads(proto.json)


def links(tree):
    return protos(tree, "page_link")


def test_without_data_it_says_where_to_get_some(app):
    app.go("run")
    assert "No data yet" in app.text()
    assert not app.at.button


def test_before_the_first_run(app):
    app.load("pima").go("run")
    assert "Press **Run**" in app.text()
    assert "run_stop" not in [button.key for button in app.at.button]
    assert player(app)["stories"][0]["words"] == []


def test_a_finished_run_is_explained(app):
    app.load("ksvm-s-10k").finish()
    text = app.text()
    assert "it had not seen, the model got" in text
    assert "without the rules 73.5 %" in text
    assert "the rules add 105 right answers" in text
    assert "Certified optimal" in text
    assert "Features used" in text
    story, alone = player(app)["stories"]
    assert (story["title"], alone["title"]) == (WITH, WITHOUT)
    assert len(story["words"]) == app.state.model.classifier.n_iter_ + 2
    assert story["words"][1].startswith("Step 1 of ")
    assert player(app)["plays"]
    assert story["field"]["truth"] == 200
    assert app.largest_element() < 2**20


def test_the_result_stands_before_the_fit_without_rules(app):
    app.load("ksvm-s-10k").go("run").click("run")
    app.state.job._thread.join(60)
    app.state.job.comparison.stop()
    app.state.job.wait(60)
    app.state.job.outcome = replace(app.state.model, without_rules=None, is_explained=False)
    text = app.run().text()
    assert "it had not seen, the model got" in text
    assert "Right answers without the rules ..." in text
    assert "is being computed" in text


def test_a_flipped_rule_is_named_healed_and_switched_off(app):
    app.load("ksvm-s-10k").finish()
    before = app.state.rules.text
    right = app.state.model.judgement.accuracy.k
    app.click("flip_0")
    app.state.job.wait(60)
    app.run()
    assert flipped(app.state).label == "rule 1"
    assert app.state.model.judgement.accuracy.k < right
    assert "This rule may be the cause\\: rule 1" in app.at.error[0].value
    assert player(app)["stories"][0]["alarmBlock"] == "K1"
    app.click("heal")
    app.state.job.wait(60)
    app.run()
    assert app.state.rules.text == before
    assert not app.at.error
    assert app.state.model.judgement.accuracy.k == right
    app.click("flip_1")
    app.state.job.wait(60)
    app.run()
    assert "One rule does harm" in app.at.error[0].value
    app.click("rule_off")
    app.state.job.wait(60)
    app.run()
    assert not app.at.error
    assert [rule.enabled for rule in app.state.data.parse(app.state.rules.text)] == [True, False]


def test_what_a_presenter_asks_for_is_done_once_it_can_be(app):
    app.load("ksvm-s-10k").finish()
    offered = [name for name, _ in player(app)["actions"]]
    assert offered == ["run", "flip 0", "flip 1"]
    job = app.state.job
    run_view.act(app.state, "heal")
    run_view.act(app.state, "pause")
    assert app.state.job is job
    run_view.act(app.state, "run")
    assert app.state.job is not job


def test_the_path_is_begun_when_it_is_looked_at(app):
    app.load("ksvm-s-10k").finish()
    chosen = next(w for w in app.at.segmented_control if w.key.startswith("show_what"))
    chosen.set_value(PATH)
    app.run()
    path_of(app.state).job.wait(60)
    stories = player(app.run())["stories"]
    assert [story["title"] for story in stories] == [WITH, WITHOUT]
    assert all(len(story["words"]) > 10 for story in stories)
    assert all(story["words"][-1] == "The model" for story in stories)
    assert app.largest_element() < 2**20


def test_pause_stop_and_continue(app):
    app.load("ksvm-s-10k").go("run")
    app.at.select_slider(key="speed").set_value("5")
    app.run().click("run")
    job = app.state.job
    until(app, lambda: len(job.history) >= 1)
    app.click("run_pause")
    until(app, lambda: job.status == "paused")
    app.run()
    assert "run_pause" not in [button.key for button in app.at.button]
    steps = len(job.history)
    app.click("run_stop")
    until(app, lambda: job.status == "stopped")
    app.run()
    assert "not final" in app.text()
    assert app.at.header[0].value == "Result so far (not final)"
    app.at.select_slider(key="speed").set_value("full speed")
    app.run().click("run_go_on")
    until(app, lambda: job.is_final)
    app.run()
    assert len(job.history) > steps
    assert app.at.header[0].value == "Result"


def test_mid_run_nothing_is_shown_as_a_result(app):
    app.load("ksvm-s-10k").go("run")
    app.at.select_slider(key="speed").set_value("2")
    app.run().click("run")
    until(app, lambda: len(app.state.job.history) >= 2)
    app.run()
    assert not app.at.metric
    assert not player(app)["plays"]
    assert player(app)["stories"][0]["live"]
    app.go("data")
    assert "Run: running" in app.text()


def test_a_rule_that_does_not_fit_is_told(app):
    app.load("pima")
    app.state.rules.change("Glukose >= 126 => diabetic", "a slip")
    app.finish()
    assert "Glucose" in app.at.error[0].value
    assert "on its way" not in app.text()
    app.state.rules.undo()
    app.finish()
    assert app.state.job.is_final


def test_broken_rules_are_told_before_a_run_with_the_way_to_their_line(app):
    app.load("pima")
    app.state.rules.change("Glucose >= 126 => diabetic\nGlukose >= 1 => diabetic", "a slip")
    app.go("run")
    assert "Glukose" in app.at.error[0].value
    assert "Press **Run**" not in app.text()
    assert any("correct the rules" in link.label for link in links(app.at._tree))
    (link,) = [link for link in links(app.at._tree) if link.label == "Go to line 2"]
    assert link.query_string == "line=2"


def test_settings_survive_a_visit_to_another_page(app):
    app.load("pima").go("run")
    version = app.state.version
    app.at.selectbox(key=f"setting_fewness_{version}").set_value("very few")
    app.at.toggle(key=f"expert_{version}").set_value(True)
    app.run()
    app.at.toggle(key=f"setting_lambda2_auto_{version}").set_value(False)
    app.run()
    app.at.number_input(key=f"setting_lambda2_{version}").set_value(2.5)
    app.run().go("data").go("run")
    assert app.state.settings.fewness == "very few"
    assert app.at.number_input(key=f"setting_lambda2_{version}").value == 2.5


@pytest.mark.parametrize("method", ["admm", "exact"])
def test_expert_methods(app, method):
    app.load("pima")
    app.state.settings = app.state.settings.changed(method=method, fewness="some")
    app.finish()
    assert app.state.job.is_final, app.state.job.error
    assert app.largest_element() < 2**20


def test_a_result_of_other_settings_says_so(app):
    app.load("ksvm-s-10k").finish()
    assert not app.at.info
    app.state.settings = app.state.settings.changed(mu=0.01)
    assert "have changed since this run" in app.go("data").go("run").text()
    app.click("run")
    app.state.job.wait(60)
    app.run()
    assert app.state.job.is_final
    assert not app.at.info


def test_without_rules_and_without_test_patients(app):
    app.load("pima")
    key = next(w.key for w in app.at.segmented_control if w.key.startswith("prepare_test_"))
    app.at.segmented_control(key=key).set_value("none")
    app.run()
    app.state.settings = app.state.settings.changed(use_rules=False, fewness="some")
    app.finish()
    assert "There is no test set" in app.text()
    assert "How good it is on held-out patients" in app.text()


def test_a_kept_model_is_pinned(app):
    app.load("ksvm-s-10k").finish()
    app.at.text_input(key="run_name_0").set_value("first")
    app.run()
    next(b for b in app.at.button if b.label == "Keep as reference").click()
    app.run()
    assert app.state.pinned_model.name == "first"


def test_load_and_run_in_one_click(app):
    app.click("show_ksvm-s-10k")
    app.state.job.wait(60)
    app.run()
    assert app.state.job.is_final


def test_the_dice_draw_other_patients_and_run(app):
    app.load("ksvm-s-10k").finish()
    rules = app.state.rules.text
    app.click("dice")
    app.state.job.wait(60)
    app.run()
    seed = app.state.loaded.recipe["seed"]
    assert seed > 0
    assert app.state.rules.text == rules
    assert app.state.job.is_final
    assert f"Seed {seed}" in [button.label for button in app.at.button]


def test_experts_see_the_strip_of_a_draw_and_a_link(app):
    app.load("ksvm-s-10k").go("run")
    assert not app.at.code
    app.at.toggle(key=f"expert_{app.state.version}").set_value(True)
    app.run()
    assert app.at.code[0].value.startswith("run?sample=ksvm-s-10k")
