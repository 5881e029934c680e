from __future__ import annotations

import numpy as np

from hipad.data import Table
from ui.data.loading import build
from ui.dataset import Loaded, Preparation
from ui.session import session_file
from ui.session.session_file import ModelRecipe, Refit
from ui.settings import RunSettings


def made():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    text = {"state": np.where(X[:, 0] > 0, "ill", "well")}
    loaded = Loaded("made", Table(X, ("a", "b", "c"), text, "made", sha256="s"))
    return build(loaded, Preparation(label="state", positive="ill"), {})


def recipe(name, rules=""):
    return ModelRecipe(name, rules, {}, RunSettings(fewness="exact", lambda1=0.05))


def test_models_come_one_after_the_other_and_a_failure_stops_none():
    fits = Refit(made(), (recipe("one"), recipe("bad", "zzz >= 1 => ill"), recipe("two")))
    assert [r.name for r in fits.left] == ["one", "bad", "two"]
    assert list(fits.steps())
    assert [model.name for model in fits.done] == ["one", "two"]
    assert "zzz" in fits.failed["bad"]
    assert fits.left == ()


def test_after_so_many_steps_the_user_is_asked_and_nothing_is_lost(monkeypatch):
    monkeypatch.setattr(session_file, "MOST_STEPS", 3)
    fits = Refit(made(), (recipe("one"), recipe("two")))
    rounds = 0
    while fits.left:
        assert len(list(fits.steps())) <= 3
        rounds += 1
    assert rounds > 1
    assert [model.name for model in fits.done] == ["one", "two"]


def test_each_model_is_handed_over_once():
    work = Refit(made(), (recipe("one"), recipe("two")), pinned="two")
    work.go_on()
    work.job.wait(60)
    assert (len(work.recipes), work.pinned) == (2, "two")
    assert [recipe.name for recipe in work.owed] == ["one", "two"]  # fitted, but nobody has them
    assert [model.name for model in work.arrived()] == ["one", "two"]
    assert work.arrived() == []
    assert work.owed == ()
