from __future__ import annotations

import pytest

from hipad.solvers import Status
from tests.small import data, fit
from ui.run.certificates import BEGINNINGS, numbers, sentence, share


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.0, "one part in 100 million"),
        (2e-7, "one part in 5,000,000"),
        (0.0009, "0.09 %"),
        (0.5, "50 %"),
    ],
)
def test_gaps_in_words(gap, words):
    assert share(gap) == words


def test_every_ending_of_a_fit_has_its_words():
    assert set(BEGINNINGS) == set(Status)


@pytest.mark.parametrize(("method", "over"), [("hipad", "the "), ("exact", "all 6 features")])
def test_the_sentence_says_over_which_features_the_certificate_holds(method, over):
    clf = fit(*data(), method=method)
    words = sentence(clf, 6)
    assert words.startswith("Solved.")
    assert f"Whatever weights are given to {over}" in words


def test_the_numbers_stand_side_by_side():
    table = numbers(fit(*data()))
    assert "result" in table.columns
    assert "status" in table[""].tolist()
