from __future__ import annotations

import numpy as np
import pytest

from hipad.data import Table
from tests.shortening import shorten
from ui.dataset import Loaded
from ui.session.session_file import read_session, session_of
from ui.settings import EXACT
from ui.state import AppState
from ui.workbench import refit
from ui.workbench.refit import held_trust, learnt_patients

FREE = "high: v >= 0.5 => sick\nlow: v <= -0.5 => well"


def patients(n=36):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    label = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, "sick", "well")
    return Table(X, tuple("vwxy"), {"state": label}, "made", label="state", sha256="s")


@pytest.fixture
def short_choice(monkeypatch):
    shorten(monkeypatch)


@pytest.fixture
def state():
    state = AppState()
    state.load(Loaded("made", patients(), positive="sick", rules=FREE))
    return state


def pinned(state, rules, **settings):
    state.rules.change(rules, "test")
    state.settings = type(state.settings)().changed(**settings)
    model = state.request().fit().named("first")
    state.keep(model)
    state.pinned = "first"
    refit.follow_rules(state)
    return model


def same(one, other):
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-12)
    assert one.intercept == pytest.approx(other.intercept, abs=1e-12)


@pytest.mark.parametrize(
    ("rules", "settings"),
    [
        (FREE, {}),
        (FREE.replace("=> sick", "=> sick worth 4 patients"), {}),
        ("v >= 0.5 => sick worth 4 patients", {}),
        (FREE, {"patients": 3.0}),
        (FREE, {"fewness": EXACT, "lambda1": 0.1}),
    ],
    ids=["learnt", "one written", "written", "by the settings", "lambda1 given"],
)
def test_with_nothing_moved_a_refit_is_the_pinned_model(state, rules, settings, short_choice):
    base = pinned(state, rules, **settings)
    request = refit.slider_request(state, base)
    run = request.start()
    same(request.model(run.to_end().finish()), base)
    assert not any(record.phase == 0 for record in run.history)  # no folds


def test_a_weight_that_is_written_leaves_the_others_as_learnt(state, short_choice):
    base = pinned(state, FREE)
    now = state.data.read(FREE.replace("=> sick", "=> sick worth 9 patients")).rules
    trust = held_trust(base, state.data, now)
    assert all(member.weights[0] is None for member in trust)
    assert len({member.weights for member in trust}) == len(trust)
    used = sum(member.share for member in base.classifier.members_)
    assert sum(member.share for member in trust) == pytest.approx(used)


def test_a_threshold_keeps_the_trust_and_a_rule_that_is_off_leaves_it(state, short_choice):
    base = pinned(state, FREE)
    moved = state.data.read(FREE.replace("0.5 => sick", "0.75 => sick")).rules
    assert held_trust(base, state.data, moved) == base.classifier.members_
    off = state.data.read(FREE.replace("high", "off high")).rules
    assert all(len(member.weights) == 1 for member in held_trust(base, state.data, off))


@pytest.mark.parametrize(
    "text",
    [FREE.replace("v >=", "w >="), FREE.replace("=> well", "=> sick"), f"{FREE}\nw>=1=>sick"],
)
def test_another_rule_is_learnt_anew(state, text, short_choice):
    base = pinned(state, FREE)
    assert held_trust(base, state.data, state.data.read(text).rules) == "auto"


def test_a_weight_is_learnt_again_when_it_is_taken_away(state, short_choice):
    base = pinned(state, FREE.replace("=> sick", "=> sick worth 4 patients"))
    assert held_trust(base, state.data, state.data.read(FREE).rules) == "auto"


def test_learnt_patients_are_the_mean_of_the_candidates(state, short_choice):
    base = pinned(state, FREE)
    rules = state.data.read(FREE).rules
    mean = sum(member.share * member.weights[1] for member in base.classifier.members_)
    assert learnt_patients(base, state.data, rules, 1) == pytest.approx(mean)


def test_a_kept_model_of_the_sliders_is_the_same_after_reopening(state, short_choice):
    base = pinned(state, FREE)
    state.tuning.draft = FREE.replace("0.5 => sick", "0.75 => sick")
    model = refit.refitted(state, base).named("moved")
    state.keep(model)
    session = read_session(session_of(state).to_json().encode())
    recipe = next(recipe for recipe in session.models if recipe.name == "moved")
    same(recipe.request(state.data).fit(), model)
