from __future__ import annotations

import pytest

from hipad.rules.lexer import AFTER_NUMBER, COUNT_WORDS, PHRASES
from tests.rules.reading import premises


@pytest.mark.parametrize(("phrase", "sign"), [pair for pair in PHRASES.items() if pair[1] != "!="])
def test_every_phrase_stands_for_its_sign(phrase, sign):
    assert premises(f"a {' '.join(phrase)} 2") == [f"a {sign} 2"]


@pytest.mark.parametrize(("words", "sign"), AFTER_NUMBER.items())
def test_words_after_a_number_stand_for_a_sign(words, sign):
    assert premises(f"a 30 {' '.join(words)}") == [f"a {sign} 30"]


def test_numbers_in_words():
    assert (COUNT_WORDS["one"], COUNT_WORDS["ten"], len(COUNT_WORDS)) == (1, 10, 10)
