from __future__ import annotations

import math

import pytest

from tests.ui.pima import compared
from ui.bench.headline import CLEAR, area_words, headline, verdict


def test_a_model_does_not_differ_from_itself():
    found = compared("")
    assert "get the answer they had" in verdict(found)
    assert [abs(figure.change) for figure in headline(found)] == [0, 0, 0, 0]


def test_the_verdict_counts_better_and_worse():
    found = compared("Age >= 50 => diabetic worth 200 patients")
    better, worse = len(found.flips.better), len(found.flips.worse)
    text = verdict(found, expert=True)
    assert f"{better:,} became right and {worse:,} wrong" in text
    assert ("more than chance" in text) == (found.flips.p_value < CLEAR)
    gain = headline(found)[0].change
    assert gain == pytest.approx(100 * (better - worse) / found.new.model.judgement.accuracy.n)


def test_without_both_classes_there_is_no_area():
    assert area_words(math.nan) == "–"
    assert area_words(0.81249) == "0.812"
