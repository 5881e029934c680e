"""Background jobs in threads, how pages poll them, and whose turn it is to compute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, TypeVar

import streamlit as st

from hipad.data.limits import stated_number
from hipad.exceptions import HipadError
from hipad.solvers import Progress

# --------------------------------------------------------------------------------------------------
# Fair turns on one interpreter: a click comes before timers of pages and before steps of fits.
#
#     with TURNS.page(): ...        # a page is drawn, because somebody clicked or its work is done
#     with TURNS.timer(): ...       # a part of a page is drawn again by its timer
#     TURNS.give_way()              # between two steps of a fit
#
# Python lets one thread run at a time. Where 25 people watch runs, their timers and fits would take
# all turns, and a calm user's click would wait for seconds. So timers are drawn a few at a time,
# and they and the fits rest while a page is drawn, for a bounded time: nobody waits for ever.

MOST_TIMERS: Final = 2  # drawn at the same time
TIMER_SECONDS: Final = 2.0  # that a timer waits at most
STEP_SECONDS: Final = 0.25  # that a step of a fit waits at most
TURN_SECONDS: Final = 0.02  # seconds between two looks whether there is a turn


class FairScheduler:
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
            time.sleep(TURN_SECONDS)
        with self._noted(self._timers, object()):
            yield

    def give_way(self, seconds: float = STEP_SECONDS) -> None:
        """Wait while a page is drawn, at most so long."""
        end = time.monotonic() + seconds
        while self._pages and time.monotonic() < end:
            time.sleep(TURN_SECONDS)

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


SCHEDULER: Final = FairScheduler()


# --------------------------------------------------------------------------------------------------
# Jobs: a fit in a thread of its own, which the page watches and steers.
#
#     job = Job(start, judge)       # start() gives a run to iterate; judge(classifier) its outcome
#     job.launch()
#     job.seen()                    # the page calls this at every look; unseen jobs end themselves
#     job.pause(); job.go_on(); job.stop(); job.go_on()
#
# The thread calls nothing of streamlit. Readers see `history` (grows at its end only), `status`,
# `outcome` and `error`; whatever they see of a job that has not finished is not final, and
# `is_final` says so. Only a few jobs run at once; the others wait for a place.

UNSEEN_SECONDS: Final = stated_number("HIPAD_UNSEEN_SECONDS", 60)
PLACES: Final = threading.BoundedSemaphore(stated_number("HIPAD_JOBS", 4))
POLL_SECONDS: Final = 0.05  # seconds between two looks at the events while nothing is computed

Outcome = TypeVar("Outcome")


class JobStatus(StrEnum):
    """Where a job stands, in the words the page shows."""

    WAITING = "waiting for a free place"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


class Run(Protocol):
    """What a job needs of a fit: steps to take, and a result at any time."""

    def __iter__(self) -> Iterator[Progress]: ...
    def __next__(self) -> Progress: ...
    def stop(self) -> None: ...
    def resume(self) -> None: ...
    def finish(self) -> Any: ...


class Job(Generic[Outcome]):
    """One fit: waiting, running, paused, stopped, finished or failed."""

    def __init__(
        self,
        start: Callable[[], Run],
        judge: Callable[[Any], Outcome],
        *,
        rule_names: Sequence[str] = (),
        speed: float | None = None,
        unseen_seconds: float = UNSEEN_SECONDS,
        places: threading.Semaphore = PLACES,
    ) -> None:
        self.history: list[Progress] = []
        self.status = JobStatus.WAITING
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.reason = ""  # why it stopped, when nobody asked it to
        self.speed = speed  # steps per second; None for as fast as it goes
        self.rule_names = tuple(rule_names)  # what to call each of a record's rule slacks
        self._start, self._judge = start, judge
        self._run: Run | None = None
        self._unseen_seconds, self._places = unseen_seconds, places
        self._last_seen = time.monotonic()
        self._stopping, self._going = threading.Event(), threading.Event()
        self._going.set()
        self._has_place = False
        self._thread: threading.Thread | None = None

    @property
    def is_active(self) -> bool:
        """Whether a thread is at work, or waits to be."""
        return self.status in (JobStatus.WAITING, JobStatus.RUNNING, JobStatus.PAUSED)

    @property
    def is_final(self) -> bool:
        """Whether the run went to its end, so that its model will not change."""
        return self.status is JobStatus.FINISHED

    def launch(self) -> None:
        """Start the thread, or start it again after a stop."""
        self.seen()
        self._stopping.clear()
        self._going.set()
        self.status, self.reason = JobStatus.WAITING, ""
        self._thread = threading.Thread(target=self._work, name="hipad-job", daemon=True)
        self._thread.start()

    def seen(self) -> None:
        """Somebody looks at this job."""
        self._last_seen = time.monotonic()

    def pause(self) -> None:
        """Rest after the present step, until `go_on`."""
        self._going.clear()

    def stop(self) -> None:
        """End after the present step; the model so far stays, and `go_on` takes it up again."""
        self._stopping.set()

    def go_on(self) -> None:
        """Go on after a pause or a stop."""
        if self.status is JobStatus.STOPPED:
            self.launch()
        self._going.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        try:
            try:
                done = self._take_steps()
                if self._run is not None:  # to judge a model takes fits of its own
                    self.outcome = self._judge(self._run.finish())
            finally:
                self._leave_place()
            self.status = JobStatus.FINISHED if done else JobStatus.STOPPED
        except HipadError as error:
            self.error, self.status = str(error), JobStatus.FAILED
        except Exception as error:
            # The text of an unforeseen error may carry patient values, its type does not.
            self.error = f"the run failed inside the program ({type(error).__name__})"
            self.status = JobStatus.FAILED

    def _take_steps(self) -> bool:
        """Iterate the run to its end; False when it was stopped before."""
        if not self._take_place():
            return False
        if self._run is None:
            self._run = self._start()
        self._run.resume()
        return self._iterate(self._run)

    def _iterate(self, run: Run) -> bool:
        while not self._must_stop():
            begun = time.monotonic()
            if not self._going.is_set():
                self._rest()
                continue
            SCHEDULER.give_way()
            progress = next(run, None)
            if progress is None:
                return True
            self.history.append(progress)
            self._keep_pace(begun)
        run.stop()
        return False

    def _take_place(self) -> bool:
        while not self._must_stop():
            if self._places.acquire(timeout=POLL_SECONDS):
                self.status, self._has_place = JobStatus.RUNNING, True
                return True
        return False

    def _leave_place(self) -> None:
        if self._has_place:
            self._has_place = False
            self._places.release()

    def _rest(self) -> None:
        """Wait out a pause; its place is free for others meanwhile."""
        self.status = JobStatus.PAUSED
        self._leave_place()
        while not (self._going.wait(POLL_SECONDS) or self._must_stop()):
            pass
        self.status = JobStatus.WAITING
        self._take_place()

    def _keep_pace(self, begun: float) -> None:
        """Sleep until the next step is due, at a speed that may change meanwhile."""
        while self.speed and not self._must_stop() and self._going.is_set():
            left = begun + 1 / self.speed - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, POLL_SECONDS))

    def _must_stop(self) -> bool:
        if self._stopping.is_set():
            return True
        if time.monotonic() - self._last_seen > self._unseen_seconds:
            self.reason = "the page was closed or out of sight for too long"
            return True
        return False


def thinned(history: list[Progress], most: int = 500) -> list[Progress]:
    """At most this many records, the last among them, for charts."""
    history = history[:]
    if len(history) <= most:
        return history
    step = (len(history) - 1) / (most - 1)
    return [history[round(i * step)] for i in range(most)]


# --------------------------------------------------------------------------------------------------
# A part of a page that looks at jobs again and again while they work.

REFRESH_SECONDS: Final = 0.5  # seconds between two looks


def poll(jobs: Job[Any] | Sequence[Job[Any]], draw: Callable[[], None]) -> None:
    """Draw this part now and, while one of the jobs works, again and again.

    Looking at a job keeps it alive. When a status changes, the whole page is drawn anew.
    """
    watched = [jobs] if isinstance(jobs, Job) else list(jobs)
    drawn = [job.status for job in watched]

    def look() -> None:
        for job in watched:
            job.seen()
        if [job.status for job in watched] != drawn:
            st.rerun()
        draw()

    busy = any(job.is_active for job in watched)
    st.fragment(look, run_every=REFRESH_SECONDS if busy else None)()
