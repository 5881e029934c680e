from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import RuleEvidence, RuleTrust
from tests.small import data, fit
from ui.text import listing, plain, record_lines, trust_words


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


SOLVER = ("lambda1", "slack", "prototype", "residual", "pull ", "gradient", "box", "None")


def test_a_rule_is_told_without_the_solvers_words_unless_they_are_wanted():
    (record,) = fit(*data()).rule_report_
    plainly, expertly = (" ".join(record_lines(record, expert=expert)) for expert in (False, True))
    assert not [word for word in SOLVER if word in plainly]
    assert {"lambda1", "slack", "prototype"} <= {word for word in SOLVER if word in expertly}
    assert "typical patient" in plainly
    assert "the model is" in plainly
    assert "least margin" in plainly


def test_trust_words_give_the_evidence_for_a_rule():
    (record,) = fit(*data()).rule_report_
    raised, same = (replace(record, trust=RuleTrust(0.375, after, 16.0)) for after in (0.91, 0.375))
    assert trust_words(raised) == (
        "Your 16 labelled patients raise the trust in this rule from 38 to 91 %."
    )
    assert "neither support nor contradict this rule: the trust in it stays 38 %" in trust_words(
        same
    )


def test_trust_words_do_not_call_a_right_rule_wrong():
    (record,) = fit(*data()).rule_report_
    lowered = replace(record, trust=RuleTrust(0.4, 0.08, 50.0))
    for evidence, right in (
        (RuleEvidence(20.0, 17.0, 0.85), True),
        (RuleEvidence(20.0, 3.0, 0.15), False),
    ):
        words = trust_words(replace(lowered, weights=replace(record.weights, evidence=evidence)))
        assert "lower the trust in this rule from 40 to 8 %" in words
        assert ("it is right on 17 of the 20 training patients" in words) == right


def test_trust_words_question_a_written_weight_where_patients_contradict_it():
    (record,) = fit(*data()).rule_report_
    for evidence, questioned in (
        (RuleEvidence(12.0, 1.0, 0.1), True),
        (RuleEvidence(12.0, 11.0, 0.9), False),
    ):
        written = replace(
            record, written=5.0, trust=None, weights=replace(record.weights, evidence=evidence)
        )
        words = trust_words(written)
        assert words.startswith("You wrote a weight of 5 patients: it is used as written.")
        assert ("11 of the 12 training patients" in words) == questioned
        assert written.is_questioned == questioned
        assert ("to have it learnt" in str(written)) == questioned
