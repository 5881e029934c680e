"""The life of the server: its log, its patches of Streamlit, and memory given back."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial, wraps
from types import TracebackType
from typing import Any, Final

from hipad.data.sandbox import lacking
from ui.jobs import SCHEDULER
from ui.server.streamlit_internals import (
    ForwardMsgQueue,
    PagesManager,
    Runtime,
    ScriptRunner,
    config,
    expired_sessions,
    is_stopped,
    is_wanted,
    leave_pages_to_the_script,
    open_browser,
    present_sessions,
    server_runtime,
)
from ui.state import KEY, AppState

# --------------------------------------------------------------------------------------------------
# Logs: where an error arose and of what type, never its text, which may quote a patient's cell.
# Records of errors are rewritten where all of them are made, whichever library writes them.

_make = logging.getLogRecordFactory()


def keep_values_out() -> None:
    """From now on no error's text reaches a log of this process."""
    logging.setLogRecordFactory(_record)
    config.set_option("logger.enableRich", False)  # rich, where installed, prints errors whole
    threading.excepthook = _end_of_thread


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = _make(*args, **kwargs)
    if isinstance(record.msg, BaseException):
        record.msg = f"error of type {type(record.msg).__name__}"
    if isinstance(record.args, tuple):
        record.args = tuple(_named(arg) for arg in record.args)
    if record.exc_info and record.exc_info[1] is not None:
        record.msg = f"{record.getMessage()}\n{_places(record.exc_info[1])}"
        record.args, record.exc_info = (), None
    return record


def _named(arg: Any) -> Any:
    return type(arg).__name__ if isinstance(arg, BaseException) else arg


def _places(error: BaseException) -> str:
    """The calls that led to an error, and the types of it and of those behind it.

    >>> try:
    ...     int("patient 17")
    ... except ValueError as error:
    ...     print(_places(error).splitlines()[-1])
    ValueError
    """
    lines: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        lines[:0] = [*_calls(cause.__traceback__), type(cause).__name__]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines)


def _calls(at: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(at)
    return [f'  File "{f.filename}", line {f.lineno}, in {f.name}' for f in frames]


def _end_of_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        print(f"a thread ended:\n{_places(args.exc_value)}", file=sys.stderr)


# --------------------------------------------------------------------------------------------------
# A click on another page is never lost, even while the page that is left is being drawn anew.
#
# Streamlit draws a page in a run of its script, and answers a click with a new run, telling the old
# one to stop. Both note the page that is wanted at the same place of the session. The old run looks
# whether it must stop only when it draws something: if it was about to start anew, as a timer asks
# for when work is done, it first notes the page that is being left, and the new run draws that.
# Here a run that was told to stop notes nothing any more.

NOTING: Final = ("set_script_intent", "set_current_page_script_hash")

# Streamlit has no public way to this; the version is pinned, and a test has two runs at once.


def keep_latest_run() -> None:
    """From now on only the latest run of a session says which page is wanted."""
    for name in NOTING:
        method = getattr(PagesManager, name)
        if not hasattr(method, "__wrapped__"):
            setattr(PagesManager, name, _unless_stopped(method))


def _unless_stopped(note: Callable[..., None]) -> Callable[..., None]:
    @wraps(note)
    def noting(pages: PagesManager, *what: str, **more: str) -> None:
        if not is_stopped():
            note(pages, *what, **more)

    return noting


# --------------------------------------------------------------------------------------------------
# Scheduling of script runs (`ui/jobs.py`): clicks at once, timers after them.
#
# Options of the web server are read at every part that a page draws, and Streamlit takes a lock for
# each: whoever loses its turn while it holds the lock makes all others wait. Here they are read
# without it; they do not change while the server runs.

# Streamlit has no public way to this; the version is pinned, and a test has a timer wait.


def schedule_runs() -> None:
    """From now on timers of pages wait while somebody's click is answered."""
    if not hasattr(config.get_option, "__wrapped__"):
        config.get_option = _without_lock(config.get_option)  # type: ignore[assignment]
    run = ScriptRunner._run_script
    if not hasattr(run, "__wrapped__"):
        ScriptRunner._run_script = _scheduled(run)  # type: ignore[method-assign]


def _without_lock(get_option: Callable[[str], Any]) -> Callable[[str], Any]:
    @wraps(get_option)
    def getting(key: str) -> Any:
        found = config.get_config_options().get(key)
        return get_option(key) if found is None else found.value

    return getting


def _scheduled(run: Callable[..., None]) -> Callable[..., None]:
    @wraps(run)
    def running(runner: Any, rerun_data: Any) -> None:
        by_itself = rerun_data.is_auto_rerun and rerun_data.fragment_id_queue
        with SCHEDULER.timer(partial(is_wanted, runner)) if by_itself else SCHEDULER.page():
            run(runner, rerun_data)

    return running


# --------------------------------------------------------------------------------------------------
# A page reaches the browser whole, even if a part of it is drawn anew before it was sent.
#
# Streamlit draws a page in a run of its script and keeps what is to be sent in a queue, from which
# the server takes it soon after. A part that looks at a job again and again (a fragment) is drawn
# anew in a run of its own. When that begins, Streamlit takes from the queue whatever the part had
# drawn before, and with it the box that the part stands in. On a busy machine the page itself may
# not have been sent yet: then what stands below the part comes to a place that the browser does not
# know ("Bad delta path index 3"), and React takes the whole page away: it stays white. Here such a
# run takes nothing from the queue; what it draws comes after, in the place of what was there.

CLEARING: Final = "clear"

# Streamlit has no public way to this; the version is pinned, and a test fills a real queue.


def send_whole_pages() -> None:
    """From now on a part that is drawn anew takes nothing away from a page that is to be sent."""
    clear = getattr(ForwardMsgQueue, CLEARING)
    if hasattr(clear, "__wrapped__"):
        return

    @wraps(clear)
    def clearing(
        queue: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> None:
        parts: list[str] | None = None if fragment_ids_this_run is None else []
        clear(queue, retain_lifecycle_msgs, parts)

    setattr(ForwardMsgQueue, CLEARING, clearing)


# --------------------------------------------------------------------------------------------------
# Memory of closed sessions goes back to the system, without waiting for the next visitor.
#
# Streamlit keeps the session of a closed tab for a while (`server.disconnectedSessionTTL`), so that
# a broken connection loses nothing. When that time is over it forgets the session only at the next
# visit, and with it the data, the models and the uploaded files. Here a task of the server looks
# every few seconds, stops what such a session still computes, and lets go of all it holds.

SWEEP_SECONDS: Final = 5.0
COLLECT_SECONDS: Final = 30.0  # between two collections of what pages left behind
SWITCH_SECONDS: Final = 0.0005  # that a thread computes while others wait; Python has 0.005
LOGGER: Final = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """The life of the server: it opens the browser when it starts, and tidies up all along."""
    keep_values_out()
    if lacks := lacking():
        LOGGER.warning("On this system a process that reads a file can %s: see SECURITY.md", lacks)
    keep_latest_run()
    leave_pages_to_the_script()
    send_whole_pages()
    schedule_runs()
    switch_often()
    set_aside()
    if not config.get_option("server.headless"):
        open_browser()
    sweeper = asyncio.create_task(sweep_forever())
    try:
        yield
    finally:
        sweeper.cancel()


def switch_often() -> None:
    """Let threads take turns ten times as often as Python does.

    A page gives up its turn at every part that it sends, a hundred times or more, and then waits
    for each thread that computes to end its own: with a few fits at work that made seconds.
    """
    sys.setswitchinterval(SWITCH_SECONDS)


def set_aside() -> None:
    """Spare the collector what the server is made of.

    All threads wait while it works. Streamlit would collect after every click and every timer,
    which took most of the time of a server with many sessions (`runner.postScriptGC`); here that
    is done now and then.
    """
    gc.collect()
    gc.freeze()


async def sweep_forever() -> None:
    """Release closed sessions every few seconds.

    This runs on the server's own loop, where sessions open and close, so nothing changes meanwhile.
    """
    sweeper = Sweeper(server_runtime())
    collected, drawn = time.monotonic(), SCHEDULER.drawn
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        is_due = SCHEDULER.drawn != drawn and time.monotonic() > collected + COLLECT_SECONDS
        try:
            if sweeper.sweep() or is_due:
                collected, drawn = time.monotonic(), SCHEDULER.drawn
                await asyncio.to_thread(give_back_memory)
        except Exception:  # one session that cannot be closed must not keep all others
            LOGGER.exception("A closed session could not be released")


class Sweeper:
    """Knows the sessions of the last look, and lets go of those that are gone since."""

    def __init__(self, runtime: Runtime) -> None:
        self._server = runtime
        self._known: dict[str, Any] = {}

    def sweep(self) -> int:
        """Let go of the sessions that nobody can come back to; how many there were."""
        self._known |= expired_sessions(self._server)
        present = present_sessions(self._server)
        gone = [session for name, session in self._known.items() if name not in present]
        self._known = present
        for session in gone:
            stop_work(session.session_state)
            session.shutdown()
            session.session_state.clear()
        return len(gone)


def stop_work(session_state: Any) -> None:
    """Stop the work of a session that nobody can come back to, and empty its state.

    Streamlit may hold the state for longer: until the next visit its loop keeps the last session in
    a variable, with the callbacks of its widgets and timers, which know the state.
    """
    with suppress(KeyError):
        state: AppState = session_state[KEY]
        state.stop_work()
        vars(state).update(vars(AppState()))


def give_back_memory() -> None:
    """Collect unreachable objects, and have the C library return free pages."""
    gc.collect()
    with suppress(OSError, AttributeError):  # glibc only
        ctypes.CDLL("libc.so.6").malloc_trim(0)
