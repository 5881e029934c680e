from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import (
    Budget,
    FeatureIndex,
    check_rules,
    compile_rules,
    parse_rules,
    read_blocks,
    read_rules,
    rule_errors,
    select_features,
)
from tests.rules.fuzzing import fuzzed, good_texts
from tests.rules.natural import X, compiled

# --------------------------------------------------------------------------------------------------
# Large inputs end soon: in rules, or in a sentence that names the limit.
#
# The bounds are generous and catch what never ends; `check.py` measures.


PATIENCE = 20.0  # seconds of processor time; each takes less than five on an idle machine
INDEX = FeatureIndex([f"x{j}" for j in range(500)])
VALUES = np.random.default_rng(0).standard_normal((200, 500))
MEGABYTE = 1_000_000


def filled(part: str, before: str = "", after: str = " => positive") -> str:
    """A text of one megabyte."""
    return before + part * (MEGABYTE // len(part)) + after


TEXTS: dict[str, Callable[[], str]] = {
    "a sum": lambda: filled(" + x1", "x0", " >= 1 => positive"),
    "a sum of many names": lambda: (
        " + ".join(f"x{j % 500}" for j in range(130_000)) + " >= 1 => positive"
    ),
    "conditions": lambda: filled(" and x1 >= 1", "x0 >= 1"),
    "alternatives": lambda: filled(" or x1 >= 1", "x0 >= 1"),
    "alternatives of conditions": lambda: filled(" and (x0 >= 1 or x1 >= 2)", "x2 >= 0"),
    "a group": lambda: filled("x1, ", "mean(x0, ", "x2) >= 1 => positive"),
    "a long name": lambda: filled("x", "", " >= 1 => positive"),
    "a long number": lambda: filled("1", "x0 >= "),
    "a long note": lambda: filled("so ", "x0 >= 1 => positive # ", ""),
    "letters without sense": lambda: filled("x0 is so "),
    "signs": lambda: filled("-", "", "x0 >= 1 => positive"),
    "ten thousand rules": lambda: "\n".join(
        f"r{k}: x{k % 500} >= {k / 7:.3f} and x{k % 499} <= 3 => positive" for k in range(10_000)
    ),
    "ten thousand unknown names": lambda: "\n".join(
        f"y{k} >= 1 => positive" for k in range(10_000)
    ),
    "two thousand long rules": lambda: "\n".join(
        " and ".join(f"x{(k + j) % 500} - x{j} >= {k}" for j in range(25)) + " => positive"
        for k in range(1_990)
    ),
    "a sum within the limit": lambda: "x0" + " + 2*x1 - x2" * 16_000 + " >= 1 => positive",
    "conditions within the limit": lambda: (
        " and ".join(f"x{k % 500} >= {k}" for k in range(14_000)) + " => positive"
    ),
    "alternatives within the limit": lambda: "\n".join(
        " or ".join(f"x{(k + j) % 500} > p{j + 10}(x{j})" for j in range(60)) + " => positive"
        for k in range(30)
    ),
    "numbers learnt in every rule": lambda: "\n".join(
        f"x{k % 500} > mean(x{k % 499}) + 2*sd(x{k % 499}) => positive" for k in range(1_990)
    ),
    "6,000 brackets": lambda: "(" * 6_000 + "x0 >= 1" + ")" * 6_000 + " => positive",
    "6,000 brackets around a sum": lambda: "(" * 6_000 + "x0" + ")" * 6_000 + " >= 1 => positive",
    "6,000 open brackets": lambda: "(" * 6_000 + "x0 >= 1 => positive",
    "6,000 negations": lambda: "not (" * 6_000 + "x0 >= 1" + ")" * 6_000 + " => positive",
    "6,000 nested sums": lambda: "2*(x0 + " * 6_000 + "x1" + ")" * 6_000 + " >= 1 => positive",
    "6,000 nested minus": lambda: "-(x0 - " * 6_000 + "x1" + ")" * 6_000 + " >= 1 => positive",
    "6,000 nested counts": lambda: (
        "at least 1 of (x0 >= 1, " * 6_000 + "x1 >= 1" + ")" * 6_000 + " => positive"
    ),
    "an exploding conjunction": lambda: (
        " and ".join(f"(x{j} >= 1 or x{j + 1} >= 2)" for j in range(200)) + " => positive"
    ),
    "an exploding count": lambda: (
        f"at least 20 of ({', '.join(f'x{j} >= 1' for j in range(40))}) => positive"
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_large_text_ends_soon(name: str):
    text = TEXTS[name]()
    begun = time.process_time()
    with contextlib.suppress(RuleError):
        compile_rules(text, feature_names=INDEX, values=VALUES)
    assert time.process_time() - begun < PATIENCE


def premises(kind: str, n: int) -> list[str]:
    """Rules on a dozen features that meet, hold and miss each other."""
    random = np.random.default_rng(7)

    def features(k: int) -> list[str]:
        return [f"x{j}" for j in random.choice(12, k, replace=False)]

    def single() -> str:
        return f"{features(1)[0]} {random.choice(['>=', '<='])} {random.uniform(1, 9):.2f}"

    def wide() -> str:
        a, b, c = features(3)
        return f"{a} + {b} - {random.uniform(0.2, 2):.2f}*{c} >= {random.uniform(1, 9):.2f}"

    def block() -> str:
        first, more = random.integers(0, 400), random.integers(5, 90)
        return f"mean(x{first}:x{first + more}) >= {random.uniform(1, 9):.2f}"

    forms = {"both": lambda: f"{wide()} and {single()}", "blocks": block}
    return [forms[kind]() for _ in range(n)]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["both", "blocks"])
def test_the_checks_of_a_thousand_rules_end_soon(kind: str):
    lines = premises(kind, 1_000)
    outcomes = ("positive", "negative")
    text = "\n".join(f"{line} => {outcomes[k % 2]}" for k, line in enumerate(lines))
    rules = compile_rules(text, feature_names=INDEX)
    begun = time.process_time()
    found = check_rules(rules, np.zeros(500), np.full(500, 10.0), budget=Budget(PATIENCE))
    assert time.process_time() - begun < PATIENCE
    assert not [finding for finding in found if finding.kind == "unchecked"]
    assert [finding for finding in found if finding.kind == "conflict"]


# --------------------------------------------------------------------------------------------------
# Budget.


def test_steps_end_the_work():
    budget = Budget(steps=3)
    assert budget.spend(2)
    assert budget.spend(2)
    assert not budget.spend()
    assert budget.is_spent


def test_time_and_an_event_end_it_too():
    assert Budget(seconds=0.0).is_spent
    late = Budget(seconds=10.0, begun=time.monotonic() - 11)
    assert late.seconds_left < 0
    stopped = Budget()
    assert not stopped.is_spent
    stopped.stop.set()
    assert not stopped.spend()


# --------------------------------------------------------------------------------------------------
# No text makes reading it take longer than its length explains.
#
# The bounds are generous: they catch what grows with the square of the length, or faster.


INDEX_LINEAR_TIME = FeatureIndex([*(f"GENE_{j}" for j in range(2_000)), "a", "b", "a" * 28])

GROWING: dict[str, Callable[[int], str]] = {
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
    "compile_rules": lambda text: compile_rules(text, feature_names=INDEX_LINEAR_TIME),
    "select_features": lambda text: select_features(text, INDEX_LINEAR_TIME),
    "blocks": lambda text: read_blocks(text, INDEX_LINEAR_TIME),
    "blocks by lines": lambda text: read_blocks("K = " + text, INDEX_LINEAR_TIME),
    "blocks by JSON": lambda text: read_blocks('{"K": [' + text, INDEX_LINEAR_TIME),
    "gene sets": lambda text: read_blocks("K\\tabout\\t" + text, INDEX_LINEAR_TIME),
}


def seconds(read: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    with contextlib.suppress(RuleError):
        read(text)
    return time.process_time() - begun


@pytest.mark.parametrize("name", GROWING)
def test_twice_the_text_takes_no_more_than_a_few_times_as_long(name):
    for reader, read in READERS.items():
        short, text = seconds(read, GROWING[name](10_000)), GROWING[name](100_000)
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


# --------------------------------------------------------------------------------------------------
# Whatever is typed ends in rules or in a sentence.


COUNT, SEED = 12_000, 20_000


def outcome(text: str) -> str:
    """How a text ended; any error that is not a sentence is raised."""
    try:
        for rule in compiled(text):
            rule.fires(X[:5])
    except RuleError as error:
        return "refused" if str(error).strip() else "without a word"
    return "compiled"


@pytest.mark.parametrize("part", range(4))
def test_every_text_ends_in_rules_or_in_a_sentence(part: int):
    ends = Counter(outcome(text) for text in fuzzed(COUNT // 4, SEED + part))
    assert ends["without a word"] == 0
    assert ends["refused"] > 100
    assert ends["compiled"] > 20


def test_a_whole_file_of_odd_lines_tells_every_mistake():
    lines = [line for text in fuzzed(400, SEED + 9) for line in text.splitlines()]
    found = read_rules("\n".join(lines))
    assert found.errors
    assert all(error.line is None or error.line <= len(lines) + 1 for error in found.errors)


def test_the_texts_are_the_same_for_the_same_seed():
    assert list(fuzzed(50, 1)) == list(fuzzed(50, 1)) != list(fuzzed(50, 2))
    assert len(good_texts()) > 250
