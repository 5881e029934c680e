"""Fair turns on one interpreter: a click comes before timers of pages and before steps of fits.

    with TURNS.page(): ...        # a page is drawn, because somebody clicked or its work is done
    with TURNS.timer(): ...       # a part of a page is drawn again by its timer
    TURNS.give_way()              # between two steps of a fit

Python lets one thread run at a time. Where 25 people watch runs, their timers and fits would take
all turns, and a calm user's click would wait for seconds. So timers are drawn a few at a time, and
they and the fits rest while a page is drawn, for a bounded time: nobody waits for ever.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

MOST_TIMERS: Final = 2  # drawn at the same time
TIMER_SECONDS: Final = 2.0  # that a timer waits at most
STEP_SECONDS: Final = 0.25  # that a step of a fit waits at most
LOOK: Final = 0.02  # seconds between two looks whether there is a turn


class Turns:
    """Who draws a page, who draws for a timer, and who waits.

    There is no lock: threads would queue for it. Each notes itself in a dictionary, in one step of
    the interpreter, and whoever waits looks again after a moment.
    """

    def __init__(self) -> None:
        self._pages: dict[object, None] = {}
        self._timers: dict[object, None] = {}
        self.drawn = 0  # pages and timers until now, about

    @contextmanager
    def page(self) -> Iterator[None]:
        """Draw a page, at once; others rest meanwhile."""
        with self._noted(self._pages, threading.get_ident()):
            yield

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Within the drawing of a page, wait for something: others need not rest."""
        me = threading.get_ident()
        was_noted = me in self._pages
        self._pages.pop(me, None)
        try:
            yield
        finally:
            if was_noted:
                self._pages[me] = None

    @contextmanager
    def timer(self, is_wanted: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Draw a part of a page when there is a turn, or when it is no longer wanted."""
        end = time.monotonic() + TIMER_SECONDS
        while not self._is_free() and time.monotonic() < end and is_wanted():
            time.sleep(LOOK)
        with self._noted(self._timers, object()):
            yield

    def give_way(self, seconds: float = STEP_SECONDS) -> None:
        """Wait while a page is drawn, at most so long."""
        end = time.monotonic() + seconds
        while self._pages and time.monotonic() < end:
            time.sleep(LOOK)

    def _is_free(self) -> bool:
        return not self._pages and len(self._timers) < MOST_TIMERS

    @contextmanager
    def _noted(self, place: dict[object, None], name: object) -> Iterator[None]:
        place[name] = None
        try:
            yield
        finally:
            place.pop(name, None)
            self.drawn += 1


TURNS: Final = Turns()
