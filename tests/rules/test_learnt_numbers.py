from __future__ import annotations

import numpy as np
import pytest

from hipad.rules.context import RowsNeeded
from tests.rules.settled import X, refusal, settled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share <= 50%", ["share <= 0.5"]),
        ("hbc >= 6.5 %", ["hbc >= 6.5"]),
    ],
)
def test_a_percentage_is_what_the_data_have(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("median(K) >= 2", "of a block is not linear"),
        ("hbc >= 50 %", "can be 0.5 or 50"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_a_remedy(text, words):
    assert words in refusal(text)


def test_figures_come_from_the_training_rows():
    (text,) = settled("a > p90(a)")
    assert float(text.split()[-1]) == pytest.approx(np.percentile(X[:, 0], 90))
    (text,) = settled("a >= 1.2*mean(a)")
    assert float(text.split()[-1]) == pytest.approx(1.2 * X[:, 0].mean())


@pytest.mark.parametrize("text", ["a > p90(a)", "z(a) > 2", "share <= 50 %"])
def test_without_rows_that_is_said(text):
    with pytest.raises(RowsNeeded):
        settled(text, known=False)
