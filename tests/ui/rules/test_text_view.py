from __future__ import annotations

import pytest

from hipad.rules import parse_rules
from tests.ui.pima import fitted
from ui.rules.text_view import _example, marked


@pytest.mark.parametrize("column", [1, 50, 400, None])
def test_the_mark_stands_under_its_column(column):
    line = "".join(chr(ord("a") + i % 26) for i in range(420))
    shown, mark = marked(line, column).splitlines()
    assert len(shown) <= 90
    assert shown[mark.index("^")] == line[(column or 1) - 1]


def test_the_examples_can_be_written_as_they_stand():
    text = _example(fitted()[0].data)
    assert len(text.splitlines()) == 6
    assert parse_rules(text).labels[0] == "rule 1"
