from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import compile_rules
from hipad.rules.compiler import together
from hipad.rules.context import RowsNeeded


@pytest.mark.parametrize(
    ("text", "rows", "remark"),
    [
        ("x0 >= 1 and x0 >= 2", 1, "'x0 >= 1' follows from 'x0 >= 2' and was left out"),
        ("x0 + x1 >= 1 and 2*x1 + 2*x0 >= 2", 1, "repeats 'x0 + x1 >= 1'"),
        ("min(x0, x1) >= 1 and x1 >= 3", 2, "'min(x0, x1) >= 1' follows from 'x1 >= 3'"),
        ("x0 >= 1 and x1 - x1 <= 1", 1, "'x1 - x1 <= 1' is always true and was left out"),
        ("0*x0 <= 1", 1, "'0*x0 <= 1' is always true"),
        ("1 <= 2 <= x0", 1, "part of '1 <= 2 <= x0' is always true"),
        ("x0 + x1 between 1 and 2 and x0 + x1 >= 2.5", 2, "exclude each other"),
        ("x0 >= 1 and x1 - x1 >= 1", 1, "can never be true, so the rule never fires"),
        ("x0 >= 1 and x0 <= 0.5", 2, "exclude each other, so the rule never fires"),
        ("mean(x0, x1, x0) >= 1", 1, "names a feature twice; it counts once"),
    ],
)
def test_needless_rows_are_dropped_with_a_remark(text: str, rows: int, remark: str):
    (compiled,) = compile_rules(text + " => positive", n_features=3)
    assert compiled.B.shape == (rows, 3)
    assert remark in "; ".join(compiled.remarks)
    never = "never fires" in "; ".join(compiled.remarks)
    assert compiled.fires(np.full((1, 3), 3.0))[0] != never


def test_a_worth_is_shared_by_the_rules_of_a_line():
    rules = compile_rules("x0 >= 1 or x1 >= 1 => positive worth 20 patients", n_features=2)
    assert [rule.rule.worth for rule in rules] == [10, 10]
    rules = compile_rules("any(x0:x3) >= 1 => positive worth 20 patients", n_features=4)
    assert [rule.rule.worth for rule in rules] == [5] * 4
    assert len({rule.label for rule in rules}) == 4


def test_every_unknown_name_is_told_at_once_with_its_line():
    with pytest.raises(RuleError) as caught:
        compile_rules("nope >= 1 and nix >= 2 => positive\n\nnil >= 1 => positive", n_features=2)
    assert [word in str(caught.value) for word in ("nope", "nix", "nil", "line 3")] == [True] * 4
    assert caught.value.line == 1


def test_equality_makes_two_rows_and_ranges_make_two():
    for text in ("x0 = 1", "x0 between 1 and 2", "1 <= x0 <= 2"):
        (compiled,) = compile_rules(text + " => positive", n_features=1)
        assert sorted(compiled.B.toarray().ravel()) == [-1, 1]


def test_alternatives_that_never_fire_take_no_share_of_the_worth():
    text = "max(x0, x1) - min(x0, x1) >= 3 => positive worth 20 patients"
    rules = compile_rules(text, n_features=2)
    assert [rule.resolved_text.split(" =>")[0] for rule in rules] == [
        "x0 - x1 >= 3",
        "x1 - x0 >= 3",
    ]
    assert [rule.rule.worth for rule in rules] == [10.0, 10.0]
    (never,) = compile_rules("x0 - x0 >= 3 => positive", n_features=2)
    assert "never fires" in " ".join(never.remarks)


def test_mistakes_are_told_together_once_each():
    one, two = RuleError("first", line=1, column=2), RuleError("second", line=2, column=3)
    assert together([one]) is one
    error = together([one, two, two])
    assert str(error).count("second") == 1
    assert (error.line, error.column) == (one.line, one.column)
    assert not isinstance(error, RowsNeeded)
    assert isinstance(together([RowsNeeded("a"), RowsNeeded("b")]), RowsNeeded)


def test_too_many_features_in_all_are_refused():
    text = "\n".join("sum(x0:x9999999) >= 1 => positive" for _ in range(3))
    with pytest.raises(RuleError, match="at most 20,000,000 features"):
        compile_rules(text, n_features=10_000_000)
