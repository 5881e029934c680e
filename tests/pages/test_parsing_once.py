"""A text of rules is parsed once, however many parts of a page ask for its rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hipad.rules import parser as parsing
from hipad.rules import read_rules


@pytest.fixture
def parsed(monkeypatch):
    """The texts that the parser was given."""
    texts = []
    parse = parsing._joined

    def counting(text):
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(parsing, "_joined", counting)
    return texts


def test_an_edit_is_parsed_once(app, parsed):
    app.load("pima").go("rules")
    parsed.clear()
    text = app.state.rules.text.replace("126", "127.25")
    assert text != app.state.rules.text
    app.at.text_area[0].set_value(text)
    app.run()
    assert app.state.rules.text == text
    assert parsed == [text]


def test_what_other_sessions_read_meanwhile_takes_nothing_from_this_one(app, parsed):
    app.load("pima").go("rules")
    other = replace(app.state.data)  # the same, in another session or with other patients
    for n in range(10):
        read_rules(f"a > {n} => yes")
        other.read(f"Age > {n} => diabetic")
    parsed.clear()
    app.run()
    assert app.state.data.read(app.state.rules.text).rules
    assert parsed == []


def test_a_move_of_a_slider_is_parsed_once(app, parsed):
    app.load("pima").finish().go("workbench")
    (first, *_) = [s for s in app.at.slider if s.key.startswith("bench_threshold")]
    parsed.clear()
    first.set_value(first.value + first.step)
    app.run()
    assert app.state.tuning.draft != app.state.tuning.base
    assert parsed == [app.state.tuning.draft]
