from __future__ import annotations

import pytest

from hipad.cli.sentences import sentence
from hipad.errors import DataError, RuleError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DataError("two\n lines"), "two lines"),
        (ValueError(""), "ValueError"),
        (RuleError("odd", line=3), "line 3: odd"),
        (RuleError("odd", line=3, column=7), "line 3, column 7: odd"),
        (RuleError("line 3, column 7: odd", line=3, column=7), "line 3, column 7: odd"),
    ],
)
def test_an_error_is_one_line_with_its_place_said_once(error, words):
    assert sentence(error) == words
