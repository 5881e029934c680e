from __future__ import annotations

from hipad.rules import Budget, RuleAblation
from tests.ui.pima import fitted
from ui.workbench.rule_ablation import Ablation, ablations, gained, row, words


def test_each_rule_is_left_out_and_the_others_stay():
    state, model = fitted()
    request = state.request(settings=model.settings)
    *_, last = ablations(request, model, Budget())
    assert last.total == len(last.done) == 2
    first = last.done[0]
    assert first.with_rule == request.fit(like=model).judgement.accuracy.value
    alone = state.request(rules=request.rules.splitlines()[-1], settings=model.settings)
    assert first.without_rule == alone.fit(like=model).judgement.accuracy.value


def test_a_spent_budget_ends_after_the_rule_at_work():
    state, model = fitted()
    found = list(ablations(state.request(), model, Budget(steps=0)))
    assert [len(each.done) for each in found] == [0, 1]


def test_gains_are_told_in_patients():
    helps, harms = RuleAblation("a", 0.75, 0.70), RuleAblation("b", 0.75, 0.80)
    assert (gained(helps, 200), gained(harms, 200)) == (10, -10)
    assert row(harms, 200)["it adds"] == "-10 patients"
    assert row(helps, 20)["it adds"] == "+1 patient"
    assert row(RuleAblation("c", 0.75, 0.75), 200)["it adds"] == "nothing"
    assert "a adds most: without it 10 more of 200 patients" in words(
        Ablation((helps, harms), 2, 200)
    )
    assert words(Ablation((harms,), 1, 200)).startswith("No rule adds")
