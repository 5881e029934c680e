from __future__ import annotations

import pytest

from hipad.rules.premises import closing_bracket, holds_conditions
from tests.rules.reading import at_start


@pytest.mark.parametrize(("text", "end"), [("(a)", 2), ("(a + (b))", 6)])
def test_where_a_bracket_ends(text, end):
    assert closing_bracket(at_start(text)) == end


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("(a >= 1)", True),
        ("(a or b)", True),
        ("(a is at least 2)", True),
        ("(smoker) and b", True),
        ("(a + b) >= 2", False),
        ("{a, b}", False),
    ],
)
def test_what_a_bracket_holds(text, conditions):
    cursor = at_start(text)
    end = closing_bracket(cursor)
    assert end is not None
    assert holds_conditions(cursor, end) is conditions
