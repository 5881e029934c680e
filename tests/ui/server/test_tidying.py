"""A session whose time is over is let go: its job, its files and its data."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from tests.ui.server.loops import run_apart
from ui.jobs import BackgroundJob, JobStatus, fit_job
from ui.server import lifespan
from ui.server.lifespan import Sweeper, give_back_memory, stop_work
from ui.state import KEY, AppState


class Session:
    """As much of a Streamlit session as is used."""

    def __init__(self, name: str, state: AppState | None = None) -> None:
        self.id = name
        self.session_state: dict[str, Any] = {} if state is None else {KEY: state}
        self.is_shut = False

    def shutdown(self) -> None:
        self.is_shut = True


class Manager:
    """As much of Streamlit's session manager as is used."""

    def __init__(self, seconds: float) -> None:
        self.active: list[Any] = []
        self._session_storage = MemorySessionStorage(ttl_seconds=seconds)  # type: ignore[arg-type]

    def connect(self, session: Session) -> None:
        self.active.append(SimpleNamespace(session=session))

    def disconnect_all(self) -> None:
        for info in self.active:
            self._session_storage.save(info)
        self.active = []

    def list_sessions(self) -> list[Any]:
        return self.active + self._session_storage.list()


def sweeper_of(manager: Manager) -> Sweeper:
    return Sweeper(SimpleNamespace(_session_mgr=manager))  # type: ignore[arg-type]


class Endless:
    """A run that goes on until it is stopped."""

    def __iter__(self) -> Endless:
        return self

    def __next__(self) -> Any:
        threading.Event().wait(0.01)
        return SimpleNamespace(phase=1)

    def stop(self) -> None: ...
    def resume(self) -> None: ...
    def finish(self) -> None: ...


def test_a_session_that_is_open_or_may_come_back_is_kept() -> None:
    manager, session = Manager(seconds=60), Session("a", AppState())
    sweeper = sweeper_of(manager)
    manager.connect(session)
    assert sweeper.sweep() == 0
    manager.disconnect_all()
    assert sweeper.sweep() == 0
    assert not session.is_shut
    assert KEY in session.session_state


def test_a_session_whose_time_is_over_is_let_go_with_all_it_holds() -> None:
    job: BackgroundJob[Any] = fit_job(Endless, lambda _: None, unseen_seconds=3600)  # type: ignore[arg-type]
    job.launch()
    manager, session = Manager(seconds=0), Session("a", AppState(job=job))
    state = weakref.ref(session.session_state[KEY])
    sweeper = sweeper_of(manager)
    manager.connect(session)
    manager.connect(Session("b"))
    sweeper.sweep()
    manager.disconnect_all()  # saving one makes the storage itself forget the other
    assert sweeper.sweep() == 2
    job.wait(30)
    gc.collect()
    assert session.is_shut
    assert job.status is JobStatus.STOPPED
    assert state() is None
    assert sweeper.sweep() == 0


def test_a_session_that_came_and_went_between_two_looks_is_let_go() -> None:
    manager, session = Manager(seconds=0), Session("a", AppState())
    sweeper = sweeper_of(manager)
    manager.connect(session)
    manager.disconnect_all()
    assert sweeper.sweep() == 1
    assert session.is_shut


def test_a_session_without_a_job_or_state_is_no_trouble() -> None:
    stop_work({})
    stop_work({KEY: AppState()})


@pytest.mark.parametrize("headless", [True, False])
def test_the_browser_is_opened_for_whoever_sits_here(
    monkeypatch: pytest.MonkeyPatch, headless: bool
) -> None:
    opened: list[str] = []
    options = {"server.headless": headless, "server.address": "127.0.0.1", "server.port": 8501}
    monkeypatch.setattr(lifespan.config, "get_option", options.get)
    monkeypatch.setattr(lifespan.cli_util, "open_browser", opened.append)
    monkeypatch.setattr(lifespan.server_util, "get_url", lambda host: f"http://{host}")
    monkeypatch.setattr(lifespan, "keep_values_out", lambda: None)
    monkeypatch.setattr(lifespan, "take_turns", lambda: None)
    monkeypatch.setattr(lifespan, "switch_often", lambda: None)

    async def live() -> None:
        async with lifespan.lifespan(None):
            pass

    run_apart(live())
    assert opened == ([] if headless else ["http://127.0.0.1"])


def test_one_session_that_cannot_be_closed_does_not_keep_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = iter([ValueError(), 1, asyncio.CancelledError()])
    given_back: list[bool] = []

    class Stubborn:
        def sweep(self) -> int:
            look = next(looks)
            if isinstance(look, BaseException):
                raise look
            return look

    monkeypatch.setattr(lifespan, "SWEEP_SECONDS", 0)
    monkeypatch.setattr(lifespan, "get_instance", lambda: None)
    monkeypatch.setattr(lifespan, "Sweeper", lambda _: Stubborn())
    monkeypatch.setattr(lifespan, "give_back_memory", lambda: given_back.append(True))
    with pytest.raises(asyncio.CancelledError):
        run_apart(lifespan.sweep_forever())
    assert given_back == [True]
    assert "could not be released" in caplog.text


def test_memory_can_be_given_back_on_any_system() -> None:
    give_back_memory()


def test_the_collector_spares_what_the_server_is_made_of() -> None:
    lifespan.set_aside()
    try:
        assert gc.get_freeze_count() > len(gc.get_objects())
    finally:
        gc.unfreeze()
