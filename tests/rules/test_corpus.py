"""Rules as five trades type them: understood as meant, or refused with a remedy that works."""

from __future__ import annotations

from functools import cache

import pytest

from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.names import resolve_blocks
from hipad.rules.suggestions import Remedy, can_be_used, remedies
from tests.rules import natural
from tests.rules.corpus_tables import ALL, TABLES, Typed

LEAST_RIGHT, LEAST_HELPED = 0.92, 0.7


@cache
def lexicon(table: str) -> NameTable:
    """The vocabulary of a table."""
    index, X = TABLES[table].encoded
    return NameTable(index, resolve_blocks(TABLES[table].blocks, index), ColumnValues(X))


def offered(each: Typed) -> list[Remedy]:
    """The remedies of a text that was refused."""
    error = each.verdict[2]
    assert error is not None
    return remedies(each.text, error, lexicon(each.table), TABLES[each.table].classes)


@pytest.mark.slow
def test_compile_rules_reads_no_text_with_another_meaning():
    assert [f"{e.text!r}: {e.verdict[1]}" for e in ALL if e.verdict[0] == "wrong"] == []


@pytest.mark.slow
def test_compile_rules_understands_nearly_every_text_with_a_meaning():
    assert len(ALL) >= 600
    plain = [each for each in ALL if each.meaning and not each.may_refuse]
    right = [each for each in plain if each.verdict[0] == "right"]
    refused = [f"{each.text!r}: {each.verdict[1]}" for each in plain if each not in right]
    assert len(right) >= LEAST_RIGHT * len(plain), "\n".join(refused)


@pytest.mark.slow
def test_remedies_compile_and_most_say_what_was_meant():
    helped, refused = [], []
    for each in ALL:
        if each.verdict[0] != "refused":
            continue
        found = offered(each)
        for remedy in found:
            assert can_be_used(remedy.text, lexicon(each.table), TABLES[each.table].classes)
            assert remedy.text.strip() != each.text.strip()
        if each.meaning:
            refused.append(each.text)
            readings = [each.difference(TABLES[each.table].fired(r.text)) for r in found]
            helped += [each.text] if "" in readings else []
    missing = [text for text in refused if text not in helped]
    assert len(helped) >= LEAST_HELPED * len(refused), "\n".join(missing)


@pytest.mark.slow
def test_remedies_of_the_listed_texts_compile():
    if not natural.LISTED.exists():
        pytest.skip("the list of texts is not here")
    blocks = resolve_blocks(natural.BLOCKS, natural.INDEX)
    known = NameTable(natural.INDEX, blocks, natural.VALUES)
    helped, refused = [], []
    for each in natural.listed_texts():
        if (error := each.verdict.refused) is None:
            continue
        found = remedies(each.text, error, known, natural.CLASSES, positive_chosen=False)
        for remedy in found:
            natural.fired(remedy.text)  # a RuleError fails the test
        if each.also or not each.refuse:
            refused.append(each.text)
            readings = [natural.difference(each, natural.fired(r.text)) for r in found]
            helped += [each.text] if "" in readings else []
    assert len(helped) >= LEAST_HELPED * len(refused), set(refused) - set(helped)


@pytest.mark.slow
def test_difference_tells_right_from_wrong():
    right = Typed("credit", "income > 50k => default", "+", False, "income > 50000")
    assert right.verdict[0] == "right"
    for outcome, meaning in (("-", "income > 50000"), ("+", "income > 50900"), ("+", "")):
        assert Typed("credit", right.text, outcome, False, meaning).verdict[0] == "wrong"
