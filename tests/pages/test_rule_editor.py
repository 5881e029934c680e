"""The editor and the text area that stands in for it, without a browser."""

from __future__ import annotations

import json

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

from tests.pages.test_rules_page import form, write
from ui.rules import rule_editor
from ui.rules.rule_editor import link_of


def areas(app):
    return [area for area in app.at.text_area if area.key.startswith("rules_text_")]


def components(app):
    """The editors of the page; what looks after the page itself is none."""
    every = app.at.get("bidi_component")
    return [element for element in every if "recovery" not in element.proto.component_name]


def editors(app):
    """What was sent to the editors of the page."""
    return [json.loads(element.proto.json) for element in components(app)]


def arrive(app):
    """The browser says that the editor is there."""
    link_of(app.state).is_ready = True
    return app.run()


def test_the_text_area_stands_in_until_the_editor_is_there(app):
    app.load("pima").go("rules")
    assert len(areas(app)) == len(editors(app)) == 1
    arrive(app)
    assert not areas(app)
    (told,) = editors(app)
    assert told["text"] == app.state.rules.text
    assert "says diabetic" in told["meanings"][0][1]


def test_the_switch_goes_to_and_fro_with_the_same_text(app):
    arrive(app.load("pima").go("rules"))
    app.at.toggle(key="rules_plain").set_value(True)
    app.run()
    assert not editors(app)
    write(app, "Glukose >= 1 => diabetic")
    app.go("data").go("rules")
    assert app.at.toggle(key="rules_plain").value
    app.at.toggle(key="rules_plain").set_value(False)
    app.run()
    (told,) = editors(app)
    assert told["text"] == "Glukose >= 1 => diabetic"
    assert told["problems"][0]["fixes"][0]["after"] == "Glucose >= 1 => diabetic"
    assert not app.at.error
    assert "1 line cannot be used yet" in app.text()
    form(app)
    assert "1 line cannot be used yet" in app.at.error[0].value


def test_names_are_sent_by_address_and_only_until_the_browser_has_them(app):
    arrive(app.load("all-bcrabl").go("rules"))
    (told,) = editors(app)
    assert told["names"]["address"]
    assert len(json.dumps(told)) < 10_000
    edit = {"client": "a", "edit": 1, "burst": 1, "text": "", "names": told["names"]["key"]}
    link_of(app.state).take(edit, app.state.rules)
    app.run()
    assert editors(app)[0]["names"] == {"key": told["names"]["key"], "address": ""}


def test_a_vast_text_has_the_text_area(app, monkeypatch):
    monkeypatch.setattr(rule_editor, "LARGEST", 600)
    arrive(app.load("pima").go("rules"))
    assert editors(app)
    write_note = "# " + "x" * 700
    app.state.rules.change(write_note, "note")
    app.run()
    assert not editors(app)
    assert areas(app)[0].value == write_note


def edit_report(app, **fields):
    """What the browser sends when text was typed in the editor."""
    (editor,) = components(app)
    return WidgetState(
        id=f"$$STREAMLIT_INTERNAL_KEY_{editor.proto.id}__events",
        json_trigger_value=json.dumps([{"event": "edit", "value": fields}]),
    )


@pytest.mark.parametrize("place", [0, -1])
def test_undo_that_comes_with_typed_text_takes_that_back(app, place):
    arrive(app.load("pima").go("rules"))
    before = app.state.rules.text
    typed = f"{before}\nAge >= 60 => diabetic"
    report = edit_report(app, client="a", edit=1, burst=1, text=typed)
    app.at.button(key="rules_undo").click()
    told = list(app.at._tree.get_widget_states().widgets)
    told.insert(place % (len(told) + 1), report)
    app.at._run(WidgetStates(widgets=told))
    assert app.state.rules.text == before
    app.click("rules_redo")
    assert app.state.rules.text == typed
