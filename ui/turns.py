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
LOOK: Final = 0.02  # seconds between two looks whether a timer is still wanted


class Turns:
    """Who draws a page, who draws for a timer, and who waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pages = self._timers = 0
        self.drawn = 0  # pages and timers until now

    @contextmanager
    def page(self) -> Iterator[None]:
        """Draw a page, at once; others rest meanwhile."""
        self._count(pages=1)
        try:
            yield
        finally:
            self._count(pages=-1)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Within the drawing of a page, wait for something: others need not rest."""
        self._count(pages=-1)
        try:
            yield
        finally:
            self._count(pages=1)

    @contextmanager
    def timer(self, is_wanted: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Draw a part of a page when there is a turn, or when it is no longer wanted."""
        end = time.monotonic() + TIMER_SECONDS
        with self._changed:
            while not self._is_free() and time.monotonic() < end and is_wanted():
                self._changed.wait(LOOK)
            self._timers += 1
        try:
            yield
        finally:
            self._count(timers=-1)

    def give_way(self, seconds: float = STEP_SECONDS) -> None:
        """Wait while a page is drawn, at most so long."""
        if self._pages > 0:
            with self._changed:
                self._changed.wait_for(lambda: self._pages <= 0, seconds)

    def _is_free(self) -> bool:
        return self._pages <= 0 and self._timers < MOST_TIMERS

    def _count(self, *, pages: int = 0, timers: int = 0) -> None:
        with self._changed:
            self._pages += pages
            self._timers += timers
            self.drawn += pages < 0 or timers < 0
            self._changed.notify_all()


TURNS: Final = Turns()
