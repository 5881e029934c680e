from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from hipad.exceptions import DataError
from tests.ui.datasets import SICK, loaded, with_kept_model
from ui.data.loading import LoadingJob, build
from ui.dataset import Preparation
from ui.state import AppState, SessionCache, StateSnapshot, SupersededError, attempt


def test_data_that_cannot_be_used_leave_everything_as_it_was():
    state = AppState()
    state.load(loaded(sick=SICK))
    before = (state.loaded, state.data, state.preparation, state.version)
    with pytest.raises(DataError):
        state.load(loaded(sick=["ill"] * 8))
    with pytest.raises(DataError):
        state.prepare(Preparation(label="nothing"))
    assert before == (state.loaded, state.data, state.preparation, state.version)


def test_without_data_there_is_nothing_to_fit_or_prepare():
    for ask in (AppState().request, lambda: AppState().prepare(Preparation(label="x"))):
        with pytest.raises(DataError, match="none are loaded"):
            ask()


def test_new_data_forget_the_models_and_what_was_remembered():
    state = AppState()
    state.load(loaded(sick=SICK))
    model = state.request().fit().named("mine")
    state.keep(model)
    state.keep(model)
    state.pinned = "mine"
    assert state.models == [model]
    assert state.pinned_model is model
    state.remember("thing", 1, lambda: 1)
    state.load(loaded(sick=SICK))
    assert (state.models, state.pinned, state.memo) == ([], "", {})


@pytest.fixture
def with_model():
    state = AppState()
    state.load(loaded(sick=SICK))
    return with_kept_model(state)


def fields(state):
    names = ("loaded", "preparation", "data", "blocks", "job", "models", "pinned", "settings")
    return [getattr(state, name) for name in names] + [state.rules.text]


def test_other_data_lose_nothing(with_model):
    state, before = with_model, fields(with_model)
    state.load(loaded(sick=SICK))
    assert state.models == []
    state.rules.change("a >= 3 => ill", "new")
    state.launch()
    state.job.wait(60)
    after = fields(state)
    state.go_back()
    assert fields(state) == before
    state.go_back()
    assert fields(state) == after


def test_other_patients_lose_nothing_and_the_models_follow(with_model):
    state, before = with_model, fields(with_model)
    for seed in (1, 2, 3):
        state.prepare(Preparation(label="sick", seed=seed))
    state.refitting.job.wait(60)
    state.take_refitted()
    state.job.wait(60)
    assert [model.name for model in state.models] == ["mine"] == [state.pinned]
    assert state.models[0] not in before[5]
    assert state.job.is_final
    assert len(state.pasts) == 1
    state.go_back()
    assert fields(state) == before


def test_without_a_run_or_a_model_nothing_is_set_aside():
    state = AppState()
    state.load(loaded(sick=SICK))
    state.prepare(Preparation(label="sick", seed=1))
    state.load(loaded(sick=SICK))
    assert state.pasts == []


def test_what_is_set_aside_can_be_let_go_and_is_bounded(with_model):
    state = with_model
    for _ in range(4):
        state.load(loaded(sick=SICK))
        state.keep(state.request().fit().named("m"))
    assert len(state.pasts) == 2
    state.let_go()
    assert len(state.pasts) == 1


def test_launch_positive_class_follows_the_first_rule():
    state = AppState()
    state.load(loaded(sick=["AML"] * 3 + ["ALL"] * 5))
    assert (state.data.classes, state.data.decided_by) == (("ALL", "AML"), "rarer")
    patients = [rows.tolist() for rows in state.data.patients]
    state.rules.change("a >= 1 => ALL", "a rule")
    state.launch()
    state.job.wait(60)
    assert (state.data.classes, state.data.decided_by) == (("AML", "ALL"), "rule")
    assert state.model.classes == ("AML", "ALL")
    state.prepare(Preparation(label="sick", positive="AML"))
    assert [rows.tolist() for rows in state.data.patients] == patients
    state.stop_work()


def held_load(name, **more):
    """A load that ends when its event is set."""
    go_on = threading.Event()

    def make():
        assert go_on.wait(30)
        return replace(loaded(sick=SICK), name=name)

    return LoadingJob(name, make, **more), go_on


def test_take_refuses_a_load_that_a_newer_one_has_followed():
    state = AppState()
    (older, end_older), (newer, end_newer) = held_load("older"), held_load("newer", runs=True)
    state.begin_load(older)
    state.begin_load(newer)
    end_newer.set()
    assert newer.wait(30)
    state.take(newer)
    job = state.job
    end_older.set()
    assert older.wait(30)
    with pytest.raises(SupersededError):
        state.take(older)
    with pytest.raises(SupersededError):
        state.take(newer)  # by a page that waited for the same load
    assert state.loaded.name == "newer"
    assert state.job is job is not None


@pytest.mark.parametrize("older", ["load", "prepare"])
def test_load_that_ends_late_changes_nothing(monkeypatch, older):
    """Two threads of one session: the older change is still being prepared as the newer ends."""
    state = AppState()
    state.load(replace(loaded(sick=SICK), name="first"))
    began, go_on = threading.Event(), threading.Event()

    def slow(*args):
        began.set()
        assert go_on.wait(30)
        return build(*args)

    late = {
        "load": lambda: state.load(replace(loaded(sick=SICK), name="older")),
        "prepare": lambda: state.prepare(replace(state.preparation, seed=7)),
    }[older]
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr("ui.data.loading.build", slow)
        monkeypatch.setattr("ui.state.build", slow)
        running = pool.submit(late)
        assert began.wait(30)
        monkeypatch.undo()
        state.load(replace(loaded(sick=SICK), name="newer"))
        state.launch()
        data, job = state.data, state.job
        go_on.set()
        assert isinstance(running.exception(30), SupersededError)
    assert (state.loaded.name, state.data, state.job) == ("newer", data, job)


def test_unload_voids_a_load_on_its_way():
    state = AppState()
    loading, go_on = held_load("late")
    state.begin_load(loading)
    state.unload()
    go_on.set()
    with pytest.raises(SupersededError):
        state.take(loading)
    assert state.data is None


def test_go_back_and_let_go_twice_do_no_harm():
    state = AppState()
    state.go_back()
    state.let_go()
    assert state.data is None


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DataError("expected more"), "expected more"),
        (MemoryError(), "this table is too large for memory"),
        (KeyError("patient 7"), "this failed inside the program (KeyError): nothing changed"),
    ],
)
def test_what_fails_is_told_without_values_of_patients(error, words):
    state = AppState()
    assert not attempt(state, raising(error))
    assert state.error.startswith(words)
    assert "patient 7" not in state.error


def test_what_succeeds_takes_the_last_error_away():
    state = AppState(error="old")
    assert attempt(state, lambda: None)
    assert state.error == ""


def test_what_is_remembered_is_made_anew_for_another_key_only():
    memory, made = SessionCache(), []
    for key in ("a", "a", "b", "a"):
        memory.remember("thing", key, lambda key=key: made.append(key))
    assert made == ["a", "b", "a"]


def test_each_name_is_remembered_by_itself_and_gives_what_was_made():
    memory = SessionCache()
    assert memory.remember("one", 1, lambda: "first") == "first"
    assert memory.remember("two", 1, lambda: "second") == "second"
    assert memory.remember("one", 1, lambda: "again") == "first"


def test_fresh_key_never_comes_back():
    memory = SessionCache()
    keys = [memory.fresh_key("box", shown) for shown in ("a", "a", "b", "a")]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert memory.fresh_key("other", "a") not in keys


def test_is_drawn_knows_the_last_key_of_a_name_only():
    memory = SessionCache()
    first, second = memory.fresh_key("box", "a"), memory.fresh_key("box", "b")
    assert not memory.is_drawn("box", first)
    assert memory.is_drawn("box", second)
    assert not memory.is_drawn("other", second)


def session():
    state = AppState()
    state.load(loaded(sick=SICK))
    state.rules.change("a >= 3 => ill", "written")
    return state


def test_what_was_set_aside_is_put_back():
    state = session()
    before = {name: getattr(state, name) for name in StateSnapshot.NAMES if name != "rules"}
    past = StateSnapshot.of(state, "for a test")
    state.unload()
    past.put_back(state)
    assert {name: getattr(state, name) for name in before} == before
    assert state.rules.text == "a >= 3 => ill"


def test_rules_that_change_later_leave_it_as_it_was():
    state = session()
    past = StateSnapshot.of(state, "for a test")
    state.rules.change("a >= 4 => ill", "later")
    past.put_back(state)
    assert state.rules.text == "a >= 3 => ill"


def test_it_says_what_there_is_to_go_back_to():
    state = session()
    assert StateSnapshot.of(state, "").words == "Your work on made is saved (its rules)"
    state.keep(state.request().fit().named("m"))
    assert StateSnapshot.of(state, "").words == "Your work on made is saved (1 kept model)"
    state.launch()
    state.job.wait(60)
    assert (
        StateSnapshot.of(state, "").words == "Your work on made is saved (1 kept model and a run)"
    )


def test_edits_are_counted_for_each_data_whatever_comes_between():
    first = loaded(sick=SICK)
    second = replace(first, table=replace(first.table, sha256="another"))
    state = AppState()
    assert state.edits == 0
    state.load(first)
    state.edits += 3
    state.load(second)
    assert state.edits == 0
    state.edits += 1
    state.load(first)
    assert state.edits == 3
    state.unload()
    assert state.edits == 0
    state.load(first)
    assert state.edits == 3
