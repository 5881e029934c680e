"""A check of the rules in a thread of its own, with a budget, which the page looks in on.

    job = CheckJob(work)          # work(budget) yields results, each better than the one before
    job.launch()
    job.wait(0.4)                 # small sets of rules are done by then
    job.latest, job.is_done       # the best result so far
    job.stop()                    # the text has changed

The thread calls nothing of streamlit. It ends when its time is over, when it is stopped, and soon
after nobody has looked at it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from hipad.exceptions import HipadError
from hipad.rules import Budget

SECONDS: Final = 12.0  # for one check
UNSEEN_SECONDS: Final = 5.0
PLACES: Final = threading.BoundedSemaphore(2)  # checks at work at once, of all sessions
LOOK: Final = 0.05  # seconds between two looks while nothing is computed

Result = TypeVar("Result")


@dataclass(eq=False)
class WatchedBudget(Budget):
    """A budget that ends as well when nobody looks any more."""

    unseen_seconds: float = UNSEEN_SECONDS
    last_seen: float = field(default_factory=time.monotonic)

    @property
    def is_unseen(self) -> bool:
        return time.monotonic() - self.last_seen > self.unseen_seconds

    @property
    def is_spent(self) -> bool:
        """True if no more work should be begun."""
        return super().is_spent or self.is_unseen


class CheckJob(Generic[Result]):
    """One check: its latest result, and whether a better one may come."""

    def __init__(
        self,
        work: Callable[[Budget], Iterator[Result]],
        *,
        seconds: float = SECONDS,
        unseen_seconds: float = UNSEEN_SECONDS,
        places: threading.Semaphore = PLACES,
    ) -> None:
        self.latest: Result | None = None
        self.error: str | None = None
        self.was_left = False  # it was stopped, or nobody looked: it may be begun anew
        self._work, self._places = work, places
        self.budget = WatchedBudget(seconds, unseen_seconds=unseen_seconds)
        self._thread = threading.Thread(target=self._run, name="hipad-check", daemon=True)

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def launch(self) -> None:
        self._thread.start()

    def seen(self) -> None:
        """Somebody looks at this check."""
        self.budget.last_seen = time.monotonic()

    def stop(self) -> None:
        self.budget.stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Look until it is done, for so long at most."""
        latest = float("inf") if seconds is None else time.monotonic() + seconds
        while not self.is_done and time.monotonic() < latest:
            self.seen()
            self._thread.join(min(1.0, max(0.0, latest - time.monotonic())))

    def _run(self) -> None:
        while not self._places.acquire(timeout=LOOK):
            if self.budget.stop.is_set() or self.budget.is_unseen:
                self.was_left = True
                return
        self.budget.begun = time.monotonic()
        try:
            for result in self._work(self.budget):
                self.latest = result
                if self.budget.stop.is_set():
                    break
            self.was_left = self.budget.is_unseen or self.budget.stop.is_set()
        except HipadError as error:
            self.error = str(error)
        except Exception as error:
            # The text of an unforeseen error may carry patient values, its type does not.
            self.error = f"the check failed inside the program ({type(error).__name__})"
        finally:
            self._places.release()
