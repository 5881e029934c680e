from __future__ import annotations

import threading

import numpy as np
import pytest

from hipad.rules import Box, Budget, check_rules, compile_rules
from hipad.rules.overlap import Pairs, Regions

LO, HI = -2.0, 3.0


def rules_text(seed: int, n: int = 14) -> str:
    """Rules of many forms that meet, hold and miss each other."""
    rng = np.random.default_rng(seed)

    def premise() -> str:
        a, b = np.sort(rng.integers(0, 9, 2))
        c, limit = rng.integers(0, 9), round(float(rng.uniform(-1.5, 2.5)), 1)
        sign = rng.choice([">=", "<="])
        forms = (
            f"mean(x{a}:x{b}) {sign} {limit}",
            f"x{c} {sign} {limit}",
            f"x{c} {sign} {limit} and mean(x{a}:x{b}) <= {limit + 1:.1f}",
            f"sum(x{a}:x{b}) - 2*x{c} {sign} {limit} and x{a} >= 0",
            f"x{c} between {limit - 1:.1f} and {limit:.1f}",
            f"min(x{a}:x{b}) >= {limit}",
        )
        return str(rng.choice(forms))

    outcomes = rng.choice(["positive", "negative"], n)
    return "\n".join(f"{premise()} => {outcome}" for outcome in outcomes)


@pytest.mark.parametrize("seed", range(40))
def test_a_glance_says_what_each_pair_says_alone(seed):
    rules = compile_rules(rules_text(seed), n_features=9)
    pairs = Pairs(Regions.of(rules, Box(LO, HI)), Budget())
    alone = Regions.of(rules, Box(LO, HI))
    for i in pairs.alive:
        others = [j for j in pairs.alive if j != i]
        assert pairs.meeting(i, others) == [j for j in others if alone.meeting(i, j) is not None]
        assert pairs.near(i) == [
            j for j in pairs.near(i) if set(rules[i].columns) & set(rules[j].columns)
        ]
        for j in others:
            if set(rules[i].columns) & set(rules[j].columns):
                assert pairs.inside(i, j) == alone.inside(i, j)
    assert not pairs.missed


def test_a_budget_that_ends_leaves_a_word_on_what_was_not_reached():
    rules = compile_rules(rules_text(0, 40), n_features=9)
    whole = check_rules(rules, LO, HI)
    assert not [f for f in whole if f.kind == "unchecked"]
    for steps in (0, 10, 30):
        found = check_rules(rules, LO, HI, budget=Budget(steps=steps))
        (unchecked,) = [f for f in found if f.kind == "unchecked"]
        assert "of 40 rules were not compared with all others" in unchecked.sentence
        assert {str(f) for f in found if f.kind == "empty"} <= {str(f) for f in whole}


def test_a_stop_ends_the_check_at_once():
    stop = threading.Event()
    stop.set()
    rules = compile_rules(rules_text(1), n_features=9)
    (finding,) = check_rules(rules, LO, HI, budget=Budget(stop=stop))
    assert finding.kind == "unchecked"
    assert finding.sentence.startswith("14 of 14 rules")


def test_hundreds_of_rules_on_long_ranges_need_few_steps():
    rng = np.random.default_rng(0)
    starts, lengths = rng.integers(0, 9_400, 300), rng.integers(50, 500, 300)
    text = "\n".join(
        f"mean(x{a}:x{a + n}) >= {k % 7} => {('positive', 'negative')[k % 2]}"
        for k, (a, n) in enumerate(zip(starts, lengths, strict=True))
    )
    budget = Budget(steps=3_000)
    found = check_rules(compile_rules(text, n_features=10_000), 0.0, 10.0, budget=budget)
    assert not [f for f in found if f.kind == "unchecked"]
    assert len([f for f in found if f.kind == "conflict"]) == 150


def test_an_empty_set_of_rules_has_no_findings():
    assert check_rules((), 0.0, 1.0) == ()
