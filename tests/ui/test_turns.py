"""Clicks come first, timers and fits rest meanwhile, and nobody waits for ever."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequests,
    ScriptRequestType,
)

from ui import jobs
from ui.jobs import FairScheduler
from ui.server import lifespan


def drawing(turns: FairScheduler, done: threading.Event, *given: object) -> threading.Thread:
    def draw() -> None:
        with turns.timer(*given):  # type: ignore[arg-type]
            done.set()

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    return thread


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(jobs, "TIMER_SECONDS", 3600.0)


def test_a_timer_rests_while_a_page_is_drawn():
    turns, done = FairScheduler(), threading.Event()
    with turns.page():
        drawing(turns, done)
        assert not done.wait(0.2)
        with turns.resting():
            assert done.wait(60)
    done.clear()
    with turns.page():
        drawing(turns, done)
        assert not done.wait(0.2)
    assert done.wait(60)


def test_a_timer_that_is_no_longer_wanted_does_not_rest():
    turns, done = FairScheduler(), threading.Event()
    with turns.page():
        drawing(turns, done, lambda: False)
        assert done.wait(60)


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(jobs, "TIMER_SECONDS", 0.05)
    fair, done = FairScheduler(), threading.Event()
    with fair.page():
        drawing(fair, done)
        assert done.wait(60)
        fair.give_way(0.05)  # comes back


def test_few_timers_are_drawn_at_once():
    fair, done = FairScheduler(), threading.Event()
    with fair.timer(), fair.timer():
        drawing(fair, done)
        assert not done.wait(0.2)
    assert done.wait(60)


def test_a_fit_gives_way_to_a_page():
    fair, done = FairScheduler(), threading.Event()

    def step() -> None:
        fair.give_way(3600)
        done.set()

    with fair.page():
        threading.Thread(target=step, daemon=True).start()
        assert not done.wait(0.2)
    assert done.wait(60)


def test_streamlits_runs_take_turns(monkeypatch):
    """The parts of Streamlit that are not public are as they were when this was written."""
    seen: list[tuple[int, int]] = []
    fair = FairScheduler()
    monkeypatch.setattr(lifespan, "TURNS", fair)
    monkeypatch.setattr(
        ScriptRunner, "_run_script", lambda *_: seen.append((len(fair._pages), len(fair._timers)))
    )
    monkeypatch.setattr(lifespan.config, "get_option", lifespan.config.get_option)
    lifespan.take_turns()
    assert lifespan.config.get_option("server.address") == "127.0.0.1"
    with pytest.raises(RuntimeError, match="not defined"):
        lifespan.config.get_option("server.nowhere")
    runner = SimpleNamespace(_requests=ScriptRequests())
    assert runner._requests._state is ScriptRequestType.CONTINUE
    ScriptRunner._run_script(runner, RerunData())  # type: ignore[arg-type]
    by_itself = RerunData(fragment_id_queue=["a"], is_auto_rerun=True)
    ScriptRunner._run_script(runner, by_itself)  # type: ignore[arg-type]
    ScriptRunner._run_script(runner, RerunData(fragment_id_queue=["a"]))  # type: ignore[arg-type]
    assert seen == [(1, 0), (0, 1), (1, 0)]
    assert not fair._pages
    assert not fair._timers
