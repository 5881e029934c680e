from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.small import data, fit
from ui.words import listing, plain, told


@given(st.text(max_size=80))
def test_no_markup_is_left_unescaped(name):
    text = plain(name)
    assert "\n" not in text
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_`<>$\[\]#~|]", text)


@pytest.mark.parametrize(
    "name",
    ["https://evil.example", "see HTTP://a.b", "www.evil.example", "me@evil.example", "a@b.c.d"],
)
def test_no_address_is_left_that_markdown_makes_a_link_of(name):
    text = plain(name).replace("\\", "")
    assert not re.search(r"(https?://|www\.)[-.\w]|[-.\w+]@[-\w]+\.", text, re.IGNORECASE)
    assert text.replace("\u2060", "") == name


def test_signs_that_are_not_seen_do_not_turn_a_name_around():
    assert plain("a\u202egnp.exe\ud800\0b") == "a gnp\\.exe b"


def test_long_names_are_cut():
    assert len(plain("x" * 500)) == 60
    assert listing([f"n{j}" for j in range(9)], 2) == "n0, n1 and 7 more"


SOLVER = ("lambda1", "slack", "prototype", "residual", "pull ", "box", "None")


def test_a_rule_is_told_without_the_solvers_words_unless_they_are_wanted():
    (record,) = fit(*data()).rule_report_
    plainly, expertly = (" ".join(told(record, expert=expert)) for expert in (False, True))
    assert not [word for word in SOLVER if word in plainly]
    assert {"lambda1", "slack", "prototype"} <= {word for word in SOLVER if word in expertly}
    assert "typical patient" in plainly
    assert "the model is" in plainly
    assert "worst case" in plainly
