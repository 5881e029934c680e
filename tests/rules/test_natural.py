"""Rules as experts type them: understood as they are meant, or refused with a remedy."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from hipad.exceptions import RuleError
from tests.rules.natural import LISTED, Natural, difference, fired, listed_texts
from tests.rules.natural_texts import TEXTS

LEAST_RIGHT = 0.9
OWN = [Natural(*text) for text in TEXTS]
LISTS = {"listed": listed_texts(), "own": OWN}
_TELLS = re.compile(
    r"\b(write|put|name|choose|say|add|give|leave|compare|check|correct|use|take|turn|close|open|"
    r"join|rename|shorten|fill|exchange|spell|split|did you mean|bring)\b",
    re.IGNORECASE,
)


@pytest.fixture(params=LISTS)
def texts(request) -> list[Natural]:
    if request.param == "listed" and not LISTED.exists():
        pytest.skip("the list of texts is not here")
    return LISTS[request.param]


def report(texts: list[Natural], *kinds: str) -> str:
    """The verdicts of some kinds, one per line."""
    return "\n".join(str(each.verdict) for each in texts if each.verdict.kind in kinds)


def test_no_text_is_read_with_another_meaning(texts):
    assert report(texts, "wrong") == ""


def test_nearly_every_text_with_a_meaning_is_understood(texts):
    kinds = Counter(each.verdict.kind for each in texts if not each.refuse)
    assert kinds["right"] >= LEAST_RIGHT * kinds.total(), report(texts, "refused")


def test_every_refusal_says_what_to_do(texts):
    refused = [each.verdict for each in texts if each.verdict.refused is not None]
    assert [str(verdict) for verdict in refused if not _TELLS.search(str(verdict.refused))] == []


def test_a_remedy_never_leads_to_another_meaning(texts):
    """A suggestion that is a whole rule is tried; one for a word is put in the word's place."""
    found = []
    for each in texts:
        error = each.verdict.refused
        if error is None or error.suggestion is None or (each.refuse and not each.also):
            continue
        for text in followed(each.text, error):
            wrong = difference(each, fired(text))
            found += [f"{each.text!r} -> {text!r}: {wrong}"] if wrong else []
    assert found == []


def test_a_suggested_rule_is_accepted(texts):
    found = []
    for each in texts:
        error = each.verdict.refused
        if error is not None and error.suggestion and "=>" in error.suggestion:
            try:
                fired(error.suggestion)
            except RuleError as second:
                found.append(f"{each.text!r} -> {error.suggestion!r}: {second}")
    assert found == []


def followed(text: str, error: RuleError) -> list[str]:
    """The text after its remedy, where the remedy is a whole rule."""
    assert error.suggestion is not None
    return [error.suggestion] if "=>" in error.suggestion else []


def test_the_evaluator_tells_right_from_wrong():
    """A text against its own meaning and against others."""
    right = Natural("Glucose >= 126 => diabetic", "P", "v['Glucose'] >= 126")
    assert right.verdict.kind == "right"
    for outcome, meaning in (
        ("N", "v['Glucose'] >= 126"),
        ("P", "v['Glucose'] > 126"),
        ("P", "v['Glucose'] >= 126.5"),
        ("P", "(v['Glucose'] >= 126) | (v['Age'] >= 90)"),
        ("P", "refuse"),
    ):
        assert Natural(right.text, outcome, meaning).verdict.kind == "wrong", meaning
    assert Natural("Glucose ?? 126", "P", "refuse").verdict.kind == "rightly refused"
    with pytest.raises(ValueError, match="may not hold"):
        difference(Natural("", "P", "().__class__"), {1.0: right})
