from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from hipad.data import Table
from hipad.estimator.model_io import read_model
from hipad.rules import parse_rules
from ui import models
from ui.dataset import Loaded
from ui.state import AppState


@pytest.fixture(scope="module")
def state() -> AppState:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    label = np.where(X[:, 0] > 0, "=sick", "well")
    names = ("=1+1", "b", "c")
    table = Table(X, names, {"state": label}, "made", label="state", sha256="s")
    state = AppState()
    state.load(Loaded("made", table, positive="=sick", settings={"fewness": "very many"}))
    return state


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_weights_are_strongest_first_and_no_formulas(state):
    model = state.request().fit()
    table = rows(models.weights(model, state.data))
    assert table[0]["feature"] == "'=1+1"
    *table, last = table
    sizes = [abs(float(row["per standard deviation"])) for row in table]
    assert sizes == sorted(sizes, reverse=True)
    assert last["feature"] == models.INTERCEPT


def test_weights_and_intercept_give_the_scores(state):
    model = state.request().fit()
    *table, last = rows(models.weights(model, state.data))
    place = {name: j for j, name in enumerate(state.data.feature_names)}
    scores = np.full(len(state.data.X_test), float(last["weight"]))
    for row in table:
        column = place[row["feature"].lstrip("'")]
        scores += float(row["weight"]) * state.data.X_test[:, column]
    np.testing.assert_allclose(scores, model.scores(state.data.X_test), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ["K", "two words", "p-36=t", "a: b"])
def test_rules_go_out_and_come_back_with_their_blocks(name):
    blocks = {name: "b, c", "lines": "b\nc", "odd": "`a: b`, /x:y/"}
    text = "# a note\nb >= 1 => well  # another"
    back, found = models.read_rules_file(models.rules_file(text, blocks))
    assert back.strip() == text
    assert found == {**blocks, "lines": "b, c"}
    (rule,) = parse_rules(models.rules_file(text, blocks))
    assert rule.conditions == parse_rules(text)[0].conditions


def test_answers_are_those_of_the_test_patients(state):
    model = state.request().fit()
    table = rows(models.answers(model, state.data))
    right = sum(row["answer"] == row["truth"] for row in table)
    assert (right, len(table)) == (model.judgement.accuracy.k, model.judgement.accuracy.n)
    (risk,) = (name for name in table[0] if name.startswith("risk of"))
    ordered = sorted(table, key=lambda row: float(row["score"]))
    risks = [float(row[risk]) for row in ordered]
    assert risks == sorted(risks)
    assert all(0 < value < 1 for value in risks)
    labels = state.loaded.table.text["state"]
    assert all(row["truth"].lstrip("'") == labels[int(row["row"]) - 1] for row in table)


def test_the_model_file_predicts_the_same(state, tmp_path):
    model = state.request().fit()
    path = tmp_path / "model.json"
    path.write_text(models.model_file(model, state.data), "utf-8")
    stored = read_model(path)
    X = state.data.X_test
    np.testing.assert_array_equal(stored.classifier.predict(X), model.classifier.predict(X))
    assert stored.origin.label == "state"
