from __future__ import annotations

from tests.ui.pima import fitted
from ui.workbench.comparison import Side
from ui.workbench.kept_models import models_table, thresholds


def test_a_kept_model_shows_its_thresholds_and_worths():
    state, _ = fitted()
    rules = "Age >= 50 => diabetic worth 20 patients\nBMI <= 20 => healthy"
    told = thresholds(state.request(rules=rules).fit())
    assert told == "Age >= 50 ⇒ diabetic, weight 20; BMI <= 20 ⇒ healthy, weight learnt"


def test_kept_models_are_distinct_in_the_table():
    state, model = fitted()
    sides = [Side.of(own, state.data) for own in (model, model.named("second"))]
    table = models_table(sides, "second", [side.model.judgement for side in sides])
    assert table["reference"].tolist() == ["", "reference"]
    assert all("weight" in words for words in table["rules"])
