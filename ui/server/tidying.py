"""Memory of closed sessions goes back to the system, without waiting for the next visitor.

Streamlit keeps the session of a closed tab for a while (`server.disconnectedSessionTTL`), so that a
broken connection loses nothing. When that time is over it forgets the session only at the next
visit, and with it the data, the models and the uploaded files. Here a task of the server looks
every few seconds, stops what such a session still computes, and lets go of all it holds.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from streamlit import cli_util, config
from streamlit.runtime import Runtime, get_instance
from streamlit.web.server import server_util

from hipad.data.sandbox import lacking
from ui.server.latest_run import heed_latest_run
from ui.server.logs import keep_values_out
from ui.server.taking_turns import take_turns
from ui.server.whole_pages import send_whole_pages
from ui.state import KEY, AppState
from ui.turns import TURNS

SWEEP_SECONDS: Final = 5.0
COLLECT_SECONDS: Final = 30.0  # between two collections of what pages left behind
SWITCH_SECONDS: Final = 0.0005  # that a thread computes while others wait; Python has 0.005
LOGGER: Final = logging.getLogger(__name__)


@asynccontextmanager
async def attended(_app: object) -> AsyncIterator[None]:
    """The life of the server: it opens the browser when it starts, and tidies up all along."""
    keep_values_out()
    if lacks := lacking():
        LOGGER.warning("On this system a process that reads a file can %s: see SECURITY.md", lacks)
    heed_latest_run()
    send_whole_pages()
    take_turns()
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


def open_browser() -> None:
    """Show the app to whoever started it, as `streamlit run` does for plain scripts."""
    address = server_util.get_display_address(config.get_option("server.address") or "localhost")
    cli_util.open_browser(server_util.get_url(address))


async def sweep_forever() -> None:
    """Release closed sessions every few seconds.

    This runs on the server's own loop, where sessions open and close, so nothing changes meanwhile.
    """
    sweeper = Sweeper(get_instance())
    collected, drawn = time.monotonic(), TURNS.drawn
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        is_due = TURNS.drawn != drawn and time.monotonic() > collected + COLLECT_SECONDS
        try:
            if sweeper.sweep() or is_due:
                collected, drawn = time.monotonic(), TURNS.drawn
                await asyncio.to_thread(give_back_memory)
        except Exception:  # one session that cannot be closed must not keep all others
            LOGGER.exception("A closed session could not be released")


class Sweeper:
    """Knows the sessions of the last look, and lets go of those that are gone since."""

    def __init__(self, runtime: Runtime) -> None:
        # Streamlit has no public way to its sessions; the version is pinned, and a test has a real
        # server release a real session.
        self._manager: Any = runtime._session_mgr
        self._known: dict[str, Any] = {}

    def sweep(self) -> int:
        """Let go of the sessions that nobody can come back to; how many there were."""
        expired = self._manager._session_storage._cache.expire()
        self._known |= {name: info.session for name, info in expired}
        present = {info.session.id: info.session for info in self._manager.list_sessions()}
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
