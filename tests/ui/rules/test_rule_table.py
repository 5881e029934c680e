from __future__ import annotations

from dataclasses import replace

import pytest

from hipad.rules import RuleGradient, read_rules
from tests.ui.pima import session
from ui.rules.checks import checked_rules
from ui.rules.rule_table import rows, strong_enough, with_table, words

INF = float("inf")


def test_the_table_writes_switches_worths_and_notes():
    state = session()
    checked = checked_rules(state)
    text = state.rules.text
    table = rows(checked).to_dict("records")
    assert with_table(text, checked, table) == text
    table[0] |= {"on": False, "weight": 12.0}
    table[1] |= {"note": "seen\ntwice"}
    first, second = read_rules(with_table(text, checked, table)).rules
    assert (first.enabled, first.worth, second.note) == (False, 12.0, "seen twice")


@pytest.mark.parametrize(
    ("gradient", "said"),
    [
        (None, "after a run"),
        (RuleGradient(2.0, 1.0, "worth", 1.0, 1.0), "yes"),
        (RuleGradient(0.5, 1.0, "worth", 1.0, 1.0), "no: weight too small"),
        (RuleGradient(0.5, 1.0, "worth", 1.0, 1.0, together=2.0), "yes, with the data"),
        (RuleGradient(0.0, 1.0, "premise", INF, INF), "no: threshold not strict enough"),
    ],
)
def test_whether_a_rule_is_heard(gradient, said):
    check = checked_rules(session()).checks[0]
    assert strong_enough(replace(check, gradient=gradient)) == said


def test_the_table_has_a_sentence():
    text = words(checked_rules(session()))
    assert text.startswith("2 rules on, 0 off. Together they apply to ")
