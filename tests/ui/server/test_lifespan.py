from __future__ import annotations

import asyncio
import gc
import io
import logging
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from tests.ui.server.event_loops import run_apart
from ui.jobs import BackgroundJob, JobStatus, fit_job
from ui.server import lifespan, streamlit_internals
from ui.server.lifespan import (
    Sweeper,
    give_back_memory,
    keep_values_out,
    send_whole_pages,
    stop_work,
)
from ui.state import KEY, AppState


@pytest.fixture
def log():
    """What a handler writes once values are kept out."""
    before, hook = logging.getLogRecordFactory(), threading.excepthook
    text = io.StringIO()
    handler, logger = logging.StreamHandler(text), logging.getLogger("any.library")
    logger.addHandler(handler)
    logger.propagate = False
    keep_values_out()
    yield logger, text
    logger.removeHandler(handler)
    logging.setLogRecordFactory(before)
    threading.excepthook = hook


def fail():
    try:
        raise ValueError("patient 17")
    except ValueError as error:
        raise KeyError("patient 17") from error


def test_a_logged_error_tells_its_place_and_type_but_not_its_text(log):
    logger, text = log
    try:
        fail()
    except KeyError as error:
        logger.exception("could not do %s", "100 %")
        logger.error("again", exc_info=error)
        logger.warning(error)
        logger.warning("failed: %s", error)
    written = text.getvalue()
    assert "patient 17" not in written
    assert written.count("KeyError") == 4
    assert "ValueError" in written
    assert "could not do 100 %" in written
    assert "test_lifespan.py" in written


def test_other_records_are_left_as_they_are(log):
    logger, text = log
    logger.warning("%d of %s", 3, "them")
    assert text.getvalue() == "3 of them\n"


def test_a_thread_that_fails_tells_its_place_alone(log, capsys):
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    written = capsys.readouterr().err
    assert "patient 17" not in written
    assert "KeyError" in written


PAGES = {name: {"page_script_hash": name, "url_pathname": name} for name in ("data", "run")}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The pages of a session, a run that draws Data, and one that a click on Run has started."""
    for name in lifespan.NOTING:  # put back after the test
        monkeypatch.setattr(PagesManager, name, getattr(PagesManager, name))
    lifespan.keep_latest_run()
    pages = PagesManager(str(tmp_path / "app.py"))
    old, new = (SimpleNamespace(script_requests=ScriptRequests()) for _ in range(2))
    now = {"run": old}
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda **_: now["run"])

    def note(run, page):
        now["run"] = run
        pages.set_script_intent(page, "")
        pages.set_current_page_script_hash(page)

    def shown():
        page = pages.set_pages_and_resolve(PAGES, "data")
        return page["page_script_hash"], pages.current_page_script_hash

    return SimpleNamespace(note=note, shown=shown, old=old, new=new)


def test_a_run_that_must_stop_does_not_call_its_page_back(runs):
    runs.note(runs.old, "data")
    runs.old.script_requests.request_stop()
    runs.note(runs.new, "run")  # the click
    runs.note(runs.old, "data")  # starts anew before it looks whether it must stop
    assert runs.shown() == ("run", "run")


def test_a_run_that_goes_on_says_which_page_is_wanted(runs):
    runs.note(runs.old, "run")
    runs.old.script_requests.request_rerun(RerunData(page_script_hash="data"))
    runs.note(runs.old, "data")
    assert runs.shown() == ("data", "data")


def test_the_latest_run_is_patched_once():
    lifespan.keep_latest_run()
    method = PagesManager.set_script_intent
    lifespan.keep_latest_run()
    assert PagesManager.set_script_intent is method


def drawn(*path: int, part: str = "") -> ForwardMsg:
    """A box at a place of the page, of the page itself or of a part."""
    message = ForwardMsg()
    message.metadata.delta_path[:] = path
    message.delta.add_block.allow_empty = True
    message.delta.fragment_id = part
    return message


@pytest.fixture
def queue(monkeypatch):
    """A page that was drawn and not sent yet; the box at 1 belongs to a part."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)  # put back after the test
    send_whole_pages()
    queue = ForwardMsgQueue()
    for message in (drawn(0, 0), drawn(0, 1, part="live"), drawn(0, 2)):
        queue.enqueue(message)
    return queue


def places(queue):
    return [tuple(message.metadata.delta_path) for message in queue.flush()]


def test_a_part_that_is_drawn_anew_leaves_its_box_in_the_page(queue):
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["live"])
    queue.enqueue(drawn(0, 1, part="live"))
    assert places(queue) == [(0, 0), (0, 1), (0, 2), (0, 1)]


def test_a_page_that_is_drawn_anew_takes_the_place_of_the_old_one(queue):
    queue.clear(retain_lifecycle_msgs=True)
    assert places(queue) == []
    queue.enqueue(drawn(0, 0))
    queue.clear()
    assert queue.is_empty()


def test_whole_pages_are_patched_once(queue):
    method = ForwardMsgQueue.clear
    send_whole_pages()
    assert ForwardMsgQueue.clear is method


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
    monkeypatch.setattr(streamlit_internals.cli_util, "open_browser", opened.append)
    monkeypatch.setattr(streamlit_internals.server_util, "get_url", lambda host: f"http://{host}")
    monkeypatch.setattr(lifespan, "keep_values_out", lambda: None)
    monkeypatch.setattr(lifespan, "schedule_runs", lambda: None)
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
    monkeypatch.setattr(lifespan, "server_runtime", lambda: None)
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
