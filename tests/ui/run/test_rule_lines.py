from __future__ import annotations

import math

import pytest

from tests.small import data, fit
from ui.run.rule_lines import _margin, row


def test_a_rule_is_told_in_words():
    (record,) = fit(*data()).rule_report_
    told = row(record)
    assert told["rule"] == "rule 1"
    assert told["says"] == "x0 >= 2 => 1"
    assert told["applies to"].endswith(" of 30")
    assert told["effect"] in ("changes the model", "adds nothing", "outvoted")


@pytest.mark.parametrize(
    ("value", "words"), [(None, "–"), (math.nan, "–"), (math.inf, "nobody"), (-0.126, "-0.13")]
)
def test_margins_have_their_sign_and_may_be_unknown(value, words):
    assert _margin(value, "nobody") == words
