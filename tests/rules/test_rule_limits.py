"""Large inputs end soon: in rules, or in a sentence that names the limit.

The bounds are generous and catch what never ends; `check.py` measures.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import Budget, FeatureIndex, check_rules, compile_rules

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
