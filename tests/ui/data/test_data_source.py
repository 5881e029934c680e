from __future__ import annotations

import re

import pytest

from hipad.rules import parse_rules
from hipad.utils import ROOT, SAMPLES
from ui.data.data_source import GAINS, RULES, SAMPLE, gain
from ui.data.samples import CARDS


@pytest.mark.parametrize("name", GAINS)
def test_the_gain_is_what_was_measured(name):
    rival, share = GAINS[name]
    text = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    row = rf"^\| {SAMPLE} \| 16 labelled \| accuracy \| {re.escape(rival)} \| ([\d.]+) "
    assert re.findall(row, text, re.MULTILINE) == [f"{share:.3f}"]


def test_the_rules_are_those_of_the_sample():
    own = parse_rules((SAMPLES / SAMPLE / f"{SAMPLE}.rules").read_text("utf-8"))
    told = parse_rules(RULES)
    assert [rule.conditions for rule in told] == [rule.conditions for rule in own]
    assert SAMPLE in {card.key for card in CARDS}


def test_the_picture_says_the_gain():
    assert "from 71 % to 84 %" in gain()[1]
