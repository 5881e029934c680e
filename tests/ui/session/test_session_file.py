from __future__ import annotations

import json

import numpy as np
import pytest

from hipad.data import Table
from hipad.exceptions import DataError
from hipad.rules.names import MOST_BLOCKS
from tests.data.mutations import mutations
from tests.ui.sessions import PIMA, doctored
from ui.data.loading import build
from ui.dataset import Loaded, Preparation
from ui.session import session_file
from ui.session.session_file import LARGEST, MOST_MODELS, ModelRecipe, Refit, Session, read_session
from ui.settings import RunSettings

SESSION = Session(
    data_name="mine.csv",
    data_key="abc",
    preparation=Preparation("outcome", "yes", exclude=("id",), test_fraction=0.3),
    rules='a >= 1 => "yes"  # naïve',
    blocks={"K": "a:b"},
    settings=RunSettings(patients=20.0, fewness="few"),
    draw={"noise": (0.1, 0.2), "seed": 3},
    models=(ModelRecipe("first", "", {}, RunSettings()),),
    pinned="first",
)


def with_field(path, value):
    """The session as a file in which the field at `path`, such as "settings.mu", has this value."""
    content = json.loads(SESSION.to_json())
    *outer, last = path.split(".")
    place = content
    for name in outer:
        place = place[int(name) if name.isdigit() else name]
    place[last] = value
    return json.dumps(content).encode()


def test_a_session_is_read_back_as_it_was():
    assert read_session(SESSION.to_json().encode()) == SESSION


def test_a_session_holds_nothing_of_the_data():
    known = {"kind", "version", "fit", *SESSION.__dataclass_fields__}
    assert set(json.loads(SESSION.to_json())) == known


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", 99, "version 1"),
        ("version", True, "version 1"),
        ("rules", 5, "rules: expected a text, got 5"),
        ("rules", "\ud800", "rules: expected a text of whole characters"),
        ("rules", "a" * 1_048_577, "rules: expected at most 1,048,576 characters, got 1,048,577"),
        ("settings.lambda1", "rm -rf", "settings: lambda1: expected a number from 0"),
        ("settings.lambda2", float("nan"), "lambda2: expected a number from"),
        ("settings.lambda2", float("inf"), "lambda2: expected a number from"),
        ("settings.lambda2", 10**400, "lambda2: expected a number from"),
        ("settings.patients", "equal", 'from 0.0 to 1,000,000.0, or "auto"'),
        ("settings.patients", True, "got True"),
        ("settings.mu", 0, "mu: expected a number from 1e-06"),
        ("settings.tolerance", 0, "tolerance: expected a power of ten from 1e-12 to 1e-2, got 0"),
        ("settings.tolerance", 3e-7, "tolerance: expected a power of ten"),
        ("settings.max_sweeps", 10**11, "max_sweeps: expected a whole number from 1 to 1,000,000"),
        ("settings.max_sweeps", 5000.0, "max_sweeps: expected a whole number"),
        ("settings.balanced", 1, "balanced: expected true or false, got 1"),
        ("settings.method", ["hipad"], "method: expected one of auto, hipad, admm, exact"),
        ("settings.unknown", 1, "settings: expected only fewness"),
        ("settings", {}, "settings: expected fewness, got none"),
        ("preparation.label", 3, "preparation: label: expected a text"),
        ("preparation.label", "\udfff", "label: expected a text of whole characters"),
        ("preparation.missing", "guess", "missing: expected one of median, mean"),
        ("preparation.seed", -1, "seed: expected a whole number from 0 to 1,000,000, got -1"),
        ("preparation.seed", 1_000_001, "seed: expected a whole number from 0 to 1,000,000"),
        ("preparation.test_fraction", 0.01, "test_fraction: expected a number from 0.05 to 0.98"),
        ("preparation.test_fraction", 1.0, "test_fraction: expected a number from 0.05 to 0.98"),
        ("preparation.exclude", "id", "exclude: expected a list"),
        ("blocks", {"": "a"}, "blocks: expected a name of 1 to 200 letters"),
        ("blocks", {"K": "a", " K": "b"}, "blocks: expected each name once"),
        ("blocks", {f"b{j}": "a" for j in range(MOST_BLOCKS + 1)}, "at most 10,000 blocks"),
        ("blocks.K", None, "blocks: K: expected a text, got None"),
        ("models", [{}], "models: 1: expected name, got none"),
        ("models", {"name": "x"}, "models: expected a list"),
        ("models", [None] * (MOST_MODELS + 1), "models: expected at most 50 models, got 51"),
        ("draw.seed", None, "draw: seed: expected a whole number"),
        ("draw.n_train", 10**9, "draw: n_train: expected a whole number from 4 to 2,000"),
        ("draw.noise", [0.5, 0.1], "draw: noise: expected two growing numbers"),
        ("draw.code", 1, "draw: expected only preset"),
        ("pinned", "x" * 41, "pinned: expected at most 40 characters, got 41"),
    ],
)
def test_a_field_that_no_form_allows_is_refused_with_its_name(path, value, message):
    with pytest.raises(DataError) as refused:
        read_session(with_field(path, value))
    assert message in str(refused.value)
    assert len(str(refused.value)) < 1_000


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"\xff",
        b"1" * 5_000,
        b" " * (LARGEST + 1),
        with_field("draw.seed", 10**400),
    ],
)
def test_what_is_no_session_at_all_is_refused(content):
    with pytest.raises(DataError, match="session file"):
        read_session(content)


def test_a_field_that_stands_there_twice_is_refused():
    text = SESSION.to_json().replace('"pinned"', '"rules": "",\n "pinned"')
    with pytest.raises(DataError, match="expected each field once, got 'rules'"):
        read_session(text.encode())


def test_damaged_bytes_end_in_a_session_or_a_sentence():
    taken = refused = 0
    for content in mutations(PIMA.to_json().encode(), 1_000, seed=8):
        try:
            read_session(content)
            taken += 1
        except DataError:
            refused += 1
    assert min(taken, refused) > 10


def test_doctored_fields_end_in_a_session_that_reads_back_or_a_sentence():
    taken = refused = 0
    for content in doctored(2_000, seed=8):
        try:
            session = read_session(content)
        except DataError as error:
            refused += 1
            str(error).encode()  # can be shown on a page
            continue
        taken += 1
        assert read_session(session.to_json().encode()) == session
    assert min(taken, refused) > 150


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
