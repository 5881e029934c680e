"""No text makes reading it take longer than its length explains.

The bounds are generous: they catch what grows with the square of the length, or faster.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest

from hipad.exceptions import RuleError
from hipad.rules import (
    FeatureIndex,
    compile_rules,
    parse_rules,
    read_blocks,
    rule_errors,
    select_features,
)

INDEX = FeatureIndex([*(f"GENE_{j}" for j in range(2_000)), "a", "b", "a" * 28])

TEXTS: dict[str, Callable[[int], str]] = {
    "unclosed backtick": lambda n: "`" + "a" * n,
    "doubled backticks": lambda n: "`a" + "``" * (n // 2),
    "doubled backticks and letters": lambda n: "`a``" * (n // 4),
    "backticks apart": lambda n: "` " * (n // 2),
    "backticks alone": lambda n: "`" * n + "!",
    "double quotes": lambda n: "a >= 1 => " + '"a""' * (n // 4),
    "single quotes": lambda n: "a >= 1 => " + "'a''" * (n // 4),
    "open curly quotes": lambda n: "“" * n,
    "open curly quotes and a note": lambda n: "“" * n + "#",
    "quotes of all kinds": lambda n: "`'\"“" * (n // 4) + "#",
    "open brackets": lambda n: "(" * n,
    "closed brackets": lambda n: "(" * (n // 2) + "a" + ")" * (n // 2) + " >= 1 => x",
    "open functions": lambda n: "mean(" * (n // 5),
    "blanks at the end": lambda n: "a >= 1 => x" + " " * n,
    "blanks in between": lambda n: "a >=" + " " * n + "1 => x",
    "blanks and tabs apart": lambda n: "at" + " \t" * (n // 2) + "of",
    "of without a bracket": lambda n: "of   " * (n // 5),
    "counts and a bracket": lambda n: "exactly " * (n // 8) + "(",
    "ranges and a bracket": lambda n: "a between " * (n // 10) + "(",
    "arrows": lambda n: "a >= 1 " + "=> " * (n // 3) + "!",
    "worths": lambda n: "a >= 1 => x " + "worth " * (n // 6),
    "a long name": lambda n: "a" * n + " >= 1 => x",
    "a long unknown function": lambda n: "mea" + "n" * n + "(a) >= 1 => x",
    "a long number": lambda n: "a >= " + "1" * n + " => x",
    "a long fraction": lambda n: "a >= 0." + "1" * n + " => x",
    "a generated name": lambda n: "x" + "1" * n + " >= 1 => positive",
    "commas": lambda n: "," * n,
    "names and commas": lambda n: "a," * (n // 2),
    "a group": lambda n: "mean(" + "a," * (n // 2) + "b) >= 1 => x",
    "a sum": lambda n: "a" + "+a" * (n // 2) + " >= 1 => x",
    "signs": lambda n: "-" * n + "a >= 1 => x",
    "a product": lambda n: "(a" + "+a" * (n // 4) + ")" + "*2" * (n // 4) + " >= 1 => x",
    "factors": lambda n: "2" + "*1" * (n // 2) + "*a >= 1 => x",
    "conditions": lambda n: "a >= 1" + " and a >= 1" * (n // 11) + " => positive",
    "empty conditions": lambda n: "a >= 1" + " and 0*a <= 0" * (n // 13) + " => positive",
    "alternatives": lambda n: "a >= 1" + " or a >= 1" * (n // 10) + " => positive",
    "lines without sense": lambda n: "a b\n" * (n // 4),
    "long lines without sense": lambda n: ("exactly => " * 40 + "(\n") * (n // 440),
    "names of their own": lambda n: "\n".join(f"r{j}: a >= {j} => x" for j in range(n // 16)),
    "notes": lambda n: "#\n" * (n // 2),
    "slashes": lambda n: "/" * n,
    "expressions without end": lambda n: "/a," * (n // 3),
    "escaped slashes": lambda n: "/" + "\\/" * (n // 2),
    "open classes": lambda n: "[" * n,
    "stars": lambda n: "*a" * (n // 2) + "!",
    "colons": lambda n: "a:" * (n // 2),
    "block names": lambda n: "=" * n,
    "tabs": lambda n: "name\tabout\t" + "a\t" * (n // 2),
}

READERS: dict[str, Callable[[str], object]] = {
    "parse_rules": parse_rules,
    "rule_errors": rule_errors,
    "compile_rules": lambda text: compile_rules(text, feature_names=INDEX),
    "select_features": lambda text: select_features(text, INDEX),
    "blocks": lambda text: read_blocks(text, INDEX),
    "blocks by lines": lambda text: read_blocks("K = " + text, INDEX),
    "blocks by JSON": lambda text: read_blocks('{"K": [' + text, INDEX),
    "gene sets": lambda text: read_blocks("K\\tabout\\t" + text, INDEX),
}


def seconds(read: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    with contextlib.suppress(RuleError):
        read(text)
    return time.process_time() - begun


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_takes_no_more_than_a_few_times_as_long(name):
    for reader, read in READERS.items():
        short, text = seconds(read, TEXTS[name](10_000)), TEXTS[name](100_000)
        most = min(0.5 + 30 * short, 8.0)
        # A collection of garbage may fall into one try, hardly into three.
        assert any(seconds(read, text) < most for _ in range(3)), reader


REGEXES = ["/(a+)+$/", "/(a+)+!/", "/([a-z0-9_]+)+!/", "/(a|a)*b/", "/^(.*?,){20}P/", "/(.*)*x!/"]


@pytest.mark.parametrize("expression", REGEXES)
def test_no_expression_of_a_user_takes_long(expression):
    index = FeatureIndex([*(f"gene_{j}_of_a_chip" for j in range(50_000)), "a" * 28 + "!"])
    assert seconds(lambda text: select_features(text, index), expression) < 5


def test_many_expressions_share_their_time(monkeypatch):
    monkeypatch.setattr("hipad.rules.names.PATIENCE", 0.2)
    index = FeatureIndex(n_features=20_000)
    text = ", ".join(f"/{j}$/" for j in range(1_000))
    with pytest.raises(RuleError, match="took too long on 20,000 names"):
        select_features(text, index)
