import pytest

from hipad.cli.main import sentence
from hipad.exceptions import DataError, RuleError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataError("expected two\n  classes"), "expected two classes"),
        (KeyError(), "KeyError"),
        (RuleError("unknown name", line=3), "line 3: unknown name"),
        (RuleError("unknown name", line=3, column=7), "line 3, column 7: unknown name"),
        (RuleError("line 3: unknown name", line=3, column=7), "line 3: unknown name"),
        (RuleError("two rules clash"), "two rules clash"),
    ],
)
def test_an_error_is_one_line_with_its_place(error, text):
    assert sentence(error) == text
