from __future__ import annotations

import pytest

from hipad.exceptions import RuleError
from hipad.rules import parse_rules
from hipad.rules.parser import read_line


def test_a_line_is_taken_apart():
    draft = read_line("off high risk: patients with a >= 1 or b >= 2 => ill, worth 20 -- ADA")
    assert [" and ".join(map(str, each)) for each in draft.conjunctions] == ["a >= 1", "b >= 2"]
    assert (draft.name, draft.outcome, draft.worth) == ("high risk", "ill", 20.0)
    assert (draft.enabled, draft.note) == (False, "ADA")


@pytest.mark.parametrize("text", ["=> ill", "patients with => ill"])
def test_a_line_without_a_condition_is_told(text):
    with pytest.raises(RuleError, match="write a condition first") as caught:
        parse_rules(text)
    assert (caught.value.line, caught.value.column is not None) == (1, True)
