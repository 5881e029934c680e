"""Many or costly rules: the page answers soon, and says in the end what it did not get to."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hipad.rules import check_rules
from hipad.rules.lexer import MOST_RULES
from ui.rules import checks
from ui.rules.checks import checked_rules


def ranges(n: int, form: str = "mean(x{a}:x{b}) >= {c} => {outcome}") -> str:
    rng = np.random.default_rng(0)
    lines = []
    for k in range(n):
        a, length = int(rng.integers(0, 9_400)), int(rng.integers(50, 500))
        outcome = ("positive", "negative")[k % 2]
        c = round(float(rng.uniform(0, 0.2)), 3)
        lines.append(form.format(a=a, b=a + length, c=c, outcome=outcome))
    return "\n".join(lines)


def seconds(step) -> float:
    begun = time.perf_counter()
    step()
    return time.perf_counter() - begun


def settle(app, most: float = 40) -> None:
    """Look at the page as its own fragment does, until the check is done."""
    end = time.perf_counter() + most
    while checking_of(app).is_active and time.perf_counter() < end:
        checking_of(app).wait(1)
    app.run()


def checking_of(app):
    return checks.checking(app.state)


def test_three_hundred_rules_on_long_ranges(app):
    app.load("ksvm-s-10k")
    app.state.rules.change(ranges(300), "many")
    assert seconds(lambda: app.go("rules")) < 15
    settle(app)
    text = app.text()
    assert "300 rules on, 0 off" in text
    assert "The table shows the first 200 of 300 rules" in text
    assert "which say the opposite" in text
    assert app.largest_element() < 2**20
    assert seconds(app.run) < 10


def test_rules_that_take_too_long_to_compare_are_told(app, monkeypatch):
    def hurried(*args, budget, **options):
        budget.steps = 20
        return check_rules(*args, budget=budget, **options)

    monkeypatch.setattr("hipad.evaluation.rule_study.check_rules", hurried)
    app.load("ksvm-s-10k")
    app.state.rules.change(ranges(60), "costly")
    app.go("rules")
    settle(app)
    checked = checked_rules(app.state)
    assert checked.is_final
    assert "unchecked" in {finding.kind for finding in checked.findings}
    assert "of 60 rules were not compared with all others" in app.text()
    assert checked.unadvised == 60
    assert "Better thresholds were not searched for 60 rules" in app.text()


def test_while_the_check_is_at_work_the_page_says_so(app, monkeypatch):
    monkeypatch.setattr(
        "hipad.evaluation.rule_study.check_rules", lambda *a, budget, **k: _until(budget)
    )
    app.load("pima").go("rules")
    text = app.text()
    assert "2 rules on, 0 off" in text
    assert "being compared with each other" in text
    first = checking_of(app)
    assert first.is_active
    app.state.rules.change("Glucose >= 120 => diabetic", "another")
    app.run()
    first.wait(30)
    assert not first.is_active
    checking_of(app).stop()


def _until(budget):
    while not budget.is_spent:
        time.sleep(0.01)
    return ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Glucose >= 1 => diabetic\n" * 90_000, "at most 1,048,576 characters"),
        ("Age >= 1 => diabetic\n" * (MOST_RULES + 1), "at most 2,000 rules, got 2,001"),
    ],
)
def test_more_rules_than_anybody_writes_are_one_sentence(app, text, words):
    app.load("pima")
    app.state.rules.change(text, "a flood")
    assert seconds(lambda: app.go("rules")) < 15
    assert words in app.text()
    assert not checked_rules(app.state).checks
    app.go("workbench").go("run").go("data")


def test_thousands_of_unknown_names_are_told_soon(app):
    app.load("ksvm-s-10k")
    text = "\n".join(f"x{j}q >= 1 => positive" for j in range(MOST_RULES))
    app.state.rules.change(text, "typing")
    assert seconds(lambda: app.go("rules")) < 20
    assert "2,000 lines cannot be used yet" in app.text()


def test_sliders_are_made_for_the_rules_in_sight(app):
    app.load("pima")
    lines = [f"Glucose >= {100 + k} => diabetic" for k in range(12)]
    app.state.rules.change("\n".join(lines), "many")
    app.finish().go("workbench")
    assert len([s for s in app.at.slider if s.key.startswith("bench_threshold_")]) == 6
