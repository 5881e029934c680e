"""Whatever is typed ends in rules or in a sentence."""

from __future__ import annotations

from collections import Counter

import pytest

from hipad.exceptions import RuleError
from hipad.rules import read_rules
from tests.rules.fuzzing import fuzzed, good_texts
from tests.rules.natural import X, compiled

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
