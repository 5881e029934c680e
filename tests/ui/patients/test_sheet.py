from __future__ import annotations

import math

import numpy as np
import pytest

from hipad.evaluation.new_rows import explain_row, smallest_change
from tests.ui.patients.judged import judged
from ui.patients.sheet import (
    blocks_chart,
    change_sentence,
    contribution_table,
    contributions_chart,
    headline,
    what_if_sentence,
)


def explained(row, source="test"):
    _, model, patients = judged(source)
    data = patients.data
    return explain_row(
        model.classifier, patients.X[[row]], data.X_train, blocks=data.blocks,
        sign=model.oriented.sign,
    )  # fmt: skip


@pytest.mark.parametrize("row", [0, 7, 100])
def test_contributions_add_up_to_the_score_that_the_model_gives(row):
    _, model, patients = judged()
    told = explained(row)
    table = contribution_table(told, patients.data)
    score = model.scores(patients.X[[row]])[0]
    assert told.base + math.fsum(table["adds"]) == pytest.approx(score, abs=1e-12)
    x = patients.X[row, [patients.data.index.names.index(name) for name in table["feature"]]]
    assert np.array_equal(table["value"], x)
    chart, _ = contributions_chart(told, patients.data, "patient")
    assert sum(chart.data[0].x) == pytest.approx(score - told.base, abs=1e-12)
    chart, _ = blocks_chart(told, patients.data)
    assert sum(chart.data[0].x) == pytest.approx(score - told.base, abs=1e-12)


def test_the_headline_says_by_which_model_the_answer_is():
    _, model, patients = judged()
    told = explained(0)
    words = headline(model, patients, 0, told)
    assert f"{100 * patients.risks[0]:.1f} %" in words
    assert "has not seen" not in words
    _, model, patients = judged("cross-validated")
    assert "has not seen this patient" in headline(
        model, patients, 0, explained(0, "cross-validated")
    )


def test_the_smallest_change_flips_the_answer_of_the_model():
    _, model, patients = judged()
    data, x = patients.data, patients.X[[5]]
    found = smallest_change(
        model.classifier, x, np.arange(data.n_features), data.X_train, sign=model.oriented.sign
    )
    changed = x.copy()
    for column, _, new in found.changes:
        changed[0, column] = new
    assert (model.scores(changed)[0] > 0) != (model.scores(x)[0] > 0)
    words = change_sentence(found, data)
    assert data.index.name(found.changes[0][0]) in words.replace("\\", "")


def test_features_without_a_weight_cannot_flip_anything():
    _, model, patients = judged()
    found = smallest_change(
        model.classifier, patients.X[[5]], [], patients.data.X_train, sign=model.oriented.sign
    )
    assert "cannot change the answer" in change_sentence(found, patients.data)


def test_what_if_says_the_risk_of_the_model_at_the_new_score():
    _, model, patients = judged()
    words = what_if_sentence(model, patients.data, -0.5, 0.5)
    low, high = model.oriented.risks(np.array([-0.5, 0.5]))
    assert f"{100 * low:.1f} %" in words
    assert f"**{100 * high:.1f} %**" in words
    assert "another one" in words
    assert "Move a value" in what_if_sentence(model, patients.data, 0.5, 0.5)
