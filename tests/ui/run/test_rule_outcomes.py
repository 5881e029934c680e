from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hipad.rules import RuleTrust
from tests.small import data, fit
from ui.run.rule_outcomes import _margin, cells, weight_words


def test_a_rule_is_told_in_words():
    (record,) = fit(*data()).rule_report_
    told = cells(record)
    assert told["rule"] == "rule 1"
    assert told["says"] == "x0 >= 2 => 1"
    assert told["applies to"].endswith(" of 30")
    assert told["effect"] in ("changes the model", "adds nothing", "outvoted")


@pytest.mark.parametrize(
    ("value", "words"), [(None, "–"), (math.nan, "–"), (math.inf, "nobody"), (-0.126, "-0.13")]
)
def test_margins_have_their_sign_and_may_be_unknown(value, words):
    assert _margin(value, "nobody") == words


def test_a_rules_trust_stands_beside_it_and_a_written_weight_instead():
    (record,) = fit(*data()).rule_report_
    learnt = cells(replace(record, trust=RuleTrust(0.5, 0.9, 30.0), written=None))
    assert learnt["trust"] == pytest.approx(90.0)
    assert learnt["weight"] == "learnt"
    written = replace(record, trust=None, written=20.0)
    assert cells(written)["trust"] is None
    assert weight_words(written) == "20, written"
