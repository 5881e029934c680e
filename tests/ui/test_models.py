from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from hipad.data import Table
from hipad.estimator.model_io import read_model
from hipad.evaluation.comparison import flips
from hipad.evaluation.metrics import Proportion
from hipad.rules import parse_rules
from ui import models
from ui.data.samples import synthetic
from ui.dataset import Loaded
from ui.models import Harm
from ui.run.replay.run_animation import harm_words
from ui.state import AppState


def loaded(positive: str) -> Loaded:
    """Patients with a high x are sick; alphabetically 'sick' comes before 'well'."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    label = np.where(X[:, 0] > 0, "sick", "well")
    table = Table(X, tuple("vwxyz"), {"state": label}, "made", label="state", sha256="s")
    return Loaded("made", table, positive=positive, settings={"fewness": "some"})


@pytest.mark.parametrize("positive", ["sick", "well"])
def test_scores_point_to_the_positive_class_whatever_the_alphabet_says(positive):
    state = AppState()
    state.load(loaded(positive))
    model = state.request().fit()
    assert state.data.classes[1] == positive
    assert model.judgement.accuracy.value > 0.8
    assert np.sign(model.weights[0]) == (1 if positive == "sick" else -1)
    said = model.scores(state.data.X_test) > 0
    assert np.mean(said == (state.data.y_test == positive)) > 0.8


@pytest.mark.parametrize("positive", ["sick", "well"])
def test_a_rule_that_says_positive_means_the_users_positive_class(positive):
    state = AppState()
    state.load(loaded(positive))
    state.rules.change("v >= 3 => positive", "mine")
    (record,) = state.request().fit().classifier.rule_report_
    assert record.outcome == positive


def test_a_job_gives_the_same_model_as_a_fit_and_one_without_rules():
    state = AppState()
    state.load(loaded("sick"))
    state.rules.change("v >= 1 => sick", "mine")
    state.launch()
    state.job.wait(60)
    np.testing.assert_allclose(state.model.weights, state.request().fit().weights, atol=1e-9)
    assert state.model.without_rules is not None
    assert state.job.rule_names == ("rule 1",)


@pytest.mark.parametrize("fewness", ["some", "automatic"])
def test_the_headline_without_rules_is_a_run_without_rules(fewness):
    state = AppState()
    state.load(loaded("sick"))
    state.settings = state.settings.changed(fewness=fewness)
    state.rules.change("v >= 1 => sick", "mine")
    state.launch()
    state.job.wait(60)
    alone = state.model.without_rules
    state.settings = state.settings.changed(use_rules=False)
    assert state.request().fit().judgement == alone


def test_a_worth_moved_there_and_back_is_where_it_was():
    state = AppState()
    state.load(loaded("sick"))
    state.rules.change("v >= 1 => sick", "mine")
    first = model = state.request().fit()
    for patients in (13.0, 2.0, 40.0):
        moved = replace(state.request(), settings=state.settings.changed(patients=patients))
        model = moved.fit(like=model)
        assert not np.array_equal(model.weights, first.weights)
    back = state.request().fit(like=model)
    np.testing.assert_array_equal(back.weights != 0, first.weights != 0)
    np.testing.assert_allclose(back.weights, first.weights, rtol=1e-9, atol=1e-12)
    assert back.judgement == first.judgement


def test_penalties_of_ones_own_reach_the_admm():
    state = AppState()
    state.load(loaded("sick"))
    state.settings = state.settings.changed(mu=0.125)
    run = state.request().start()
    next(run)
    assert run.hipad.admm.mu.hinge == 0.125


def test_rules_that_are_off_or_worth_nothing_have_no_slack_to_name():
    state = AppState()
    state.load(loaded("sick"))
    state.rules.change(
        "a: v >= 1 => sick\noff b: v >= 2 => sick\nc: v >= 3 => sick worth 0 patients", "mine"
    )
    state.launch()
    state.job.wait(60)
    assert state.job.error is None
    assert state.job.rule_names == ("a",)
    assert len(state.job.history[-1].rule_slacks) == 1


@pytest.fixture(scope="module")
def flipped():
    """A synthetic draw whose first rule says the opposite of the truth."""
    state = AppState()
    state.load(synthetic("10k", n_train=60, n_test=100, n_features=400, block_size=10))
    text = (
        "strong: mean(K1) >= 4 => negative worth 60 patients\n"
        "weak: mean(K4) >= 3 => negative worth 20 patients"
    )
    state.rules.change(text, "flipped")
    return state


def finished(state):
    job = state.request().job()
    job.launch()
    job.wait()
    assert job.error is None
    return job.outcome


def test_harm_names_the_rule_whose_removal_restores_most(flipped):
    model = finished(flipped)
    harm = model.harm
    assert harm.right.k < harm.without.k
    assert harm.interval[1] < 0
    assert harm.cause == "strong: mean(K1) >= 4 => negative worth 60 patients"
    left = "off strong: mean(K1) >= 4 => negative\nmean(K4) >= 3 => negative worth 20 patients"
    flipped.rules.change(left, "off")
    assert finished(flipped).judgement.accuracy == harm.restored
    assert "This rule may be the cause: strong" in harm_words(harm)
    assert harm.learnt is not None
    assert "The weight that is set may be too large" in harm_words(harm)
    assert f"{harm.right.k} of 100 test patients right" in harm_words(harm)


def test_harm_of_right_rules_is_none(flipped):
    flipped.rules.change("mean(K1) >= 4 => positive\nmean(K4) >= 3 => negative", "right")
    model = finished(flipped)
    assert model.without_rules is not None
    assert model.harm is None


def test_harm_without_test_patients_is_not_claimed(flipped):
    """On the patients that models were fitted to, the one without rules looks better by itself."""
    flipped.prepare(replace(flipped.preparation, test="none"))
    flipped.rules.change("mean(K1) >= 4 => negative\nmean(K2) >= 1 => negative", "wrong")
    assert finished(flipped).harm is None


def test_harm_words_name_no_rule_where_none_restores():
    told = harm_words(Harm(Proportion(3, 20), Proportion(15, 20), (-0.8, -0.3)))
    assert "No single rule explains it" in told
    assert "weight" not in told


def test_harm_words_offer_to_learn_a_weight():
    harm = Harm(Proportion(3, 20), Proportion(15, 20), (-0.8, -0.3), learnt=Proportion(14, 20))
    assert "may be too large: let it be learnt; then 14 are right" in harm_words(harm)


@pytest.mark.parametrize(("worse", "alarm"), [(1, False), (8, True)])
def test_one_patient_of_sixteen_is_no_alarm(worse, alarm):
    before = np.ones(16)
    after = np.where(np.arange(16) < worse, -1.0, 1.0)
    assert flips(before, after, np.ones(16, dtype=bool)).is_fall == alarm


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
