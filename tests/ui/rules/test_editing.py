from __future__ import annotations

import pytest

from hipad.rules import Rule, read_rules
from ui.rules.rule_text import describe, with_new_rule, with_rule, with_rules

TEXT = "# above\na: x >= 1 => yes  # first\n\nb: y >= 2 or z <= 1 => no\nc: z>=3 => yes"


def test_edits_leave_the_other_lines_alone():
    rules = read_rules(TEXT).rules
    assert with_rule(TEXT, 0, rules[0]).splitlines()[2:] == TEXT.splitlines()[2:]
    without = with_rule(TEXT, 1, None)
    assert read_rules(without).rules.labels == ("a", "b_2", "c")
    assert without.endswith("c: z>=3 => yes")
    added = with_new_rule(TEXT, Rule.simple("d", {"x": 1}, 2, "no"))
    assert read_rules(added).rules[4].name == "d"


def test_several_rules_are_exchanged_at_once():
    other = Rule.simple("n", {"x": 1}, 9, "yes")
    assert read_rules(with_rules(TEXT, {0: other, 3: None})).rules.labels == ("n", "b_1", "b_2")


def test_a_line_that_cannot_be_read_stays():
    text = "a >= => yes\nb: b >= 2 => no"
    assert with_rule(text, 0, None) == "a >= => yes"


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("a: x >= 1 => yes  # n\nb: y >= 2 => no", "note of a"),
        ("off a: x >= 1 => yes\nb: y >= 2 => no", "a switched off"),
        ("a: x >= 7 => yes\nb: y >= 2 => no", "condition of a"),
        ("a: x >= 1 => no\nb: y >= 2 => no", "outcome of a"),
        ("a: x >= 1 => yes", "removed b"),
        ("a: x >= 2 => yes\nb: y >= 3 => no", "changed 2 rules"),
        ("a: x  >= 1 => yes\nb: y >= 2 => no", "text edited"),
    ],
)
def test_the_history_says_what_was_done(after, words):
    assert describe("a: x >= 1 => yes\nb: y >= 2 => no", after) == words
