"""A sample on its way: drawn and prepared by a thread, while every page stays usable.

    state.begin_load(Loading("Diabetes", make, runs=True))   # those before it are void
    loading.wait(0.1)                                        # the page looks in again and again
    state.take(loading)                                      # only the newest load may be taken

The thread calls nothing of streamlit and changes nothing of a session: `Arrived` is all it makes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from dataclasses import replace
from typing import Final, NamedTuple

from hipad.data import Options, split
from hipad.data.preprocessing import roles_for
from hipad.data.roles import group_column
from hipad.exceptions import DataError
from ui.data.building import build
from ui.data.guessing import first_preparation
from ui.dataset import Dataset, Loaded, Preparation
from ui.turns import TURNS

PLACES: Final = threading.BoundedSemaphore(2)  # loads at work at once, of all sessions
LOOK: Final = 0.05  # seconds between two looks at a place


class Arrived(NamedTuple):
    """Data that are ready to be used."""

    loaded: Loaded
    preparation: Preparation
    data: Dataset


def prepared(loaded: Loaded, preparation: Preparation | None = None) -> Arrived:
    """Prepare tables as asked, or as they suggest; DataError says why that cannot be done."""
    TURNS.give_way()
    preparation = preparation or first_preparation(loaded)
    if preparation.test == "split" and not can_split(loaded, preparation):
        preparation = replace(preparation, test="none")
    return Arrived(loaded, preparation, build(loaded, preparation, loaded.blocks, loaded.rules))


def can_split(loaded: Loaded, preparation: Preparation) -> bool:
    """Whether patients can be held back; several rows of few patients may leave none to learn."""
    options = Options(**preparation.options())
    try:
        if not group_column(roles_for(loaded.table, options)):
            return True
        split(loaded.table, options, preparation.test_fraction, preparation.seed)
    except DataError:
        return False
    return True


class Loading:
    """One load: at work, done, or cancelled by a newer one."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Loaded],
        *,
        runs: bool = False,
        places: threading.Semaphore = PLACES,
    ) -> None:
        self.name = name
        self.runs = runs  # whether a run begins when the data are taken
        self._make, self._places = make, places
        self._future: Future[Arrived] = Future()
        self._cancelled = threading.Event()

    def launch(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._work, name="hipad-loading", daemon=True).start()

    def cancel(self) -> None:
        """Nobody wants these data any more: do not begin, or forget what is made."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the data, at most so long; True when there is nothing more to wait for."""
        return bool(wait([self._future], seconds).done)

    def result(self) -> Arrived:
        """The data, when they are there; raises what went wrong."""
        return self._future.result()

    def _work(self) -> None:
        while not self._places.acquire(timeout=LOOK):
            if self._cancelled.is_set():
                break
        else:
            try:
                if not self._cancelled.is_set():
                    self._future.set_result(prepared(self._make()))
            except BaseException as error:  # raised again where the data are taken
                self._future.set_exception(error)
            finally:
                self._places.release()
        if not self._future.done():
            self._future.set_exception(CancelledError())
