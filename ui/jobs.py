"""Background jobs: work in threads of their own, which pages poll and steer.

    job = fit_job(start, judge)       # a fit: start() gives a run, judge(classifier) its outcome
    job = budgeted_job(work)          # work(budget) yields results, each better than the last
    job.launch()
    job.seen()                        # pages call this as they poll; unseen jobs end themselves
    job.pause(); job.go_on(); job.stop(); job.go_on()

The thread calls nothing of streamlit. Pages read `status`, `outcome`, `error` and `history`, which
grows at its end only; nothing of a job is final before `is_final`. Few jobs run at once, the others
wait for a slot. Between two steps of a fit, `SCHEDULER` lets clicks and timers of pages go first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, TypeVar

import streamlit as st

from hipad.data.file_format import stated_number
from hipad.exceptions import HipadError
from hipad.solvers import Progress
from hipad.utils import Budget

UNSEEN_SECONDS: Final = stated_number("HIPAD_UNSEEN_SECONDS", 60)
RUN_SLOTS: Final = threading.BoundedSemaphore(stated_number("HIPAD_JOBS", 4))
POLL_SECONDS: Final = 0.05  # between two looks at the events while nothing is computed
REFRESH_SECONDS: Final = 0.5  # between two drawings of a page that polls jobs

Outcome = TypeVar("Outcome")


class JobStatus(StrEnum):
    """State of a job, in the words the page shows."""

    WAITING = "waiting for a free place"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


class JobStopped(Exception):
    """Raised by the work of a job that ends before its end because it must stop."""


class BackgroundJob(Generic[Outcome]):
    """Work in a thread of its own: waiting, running, paused, stopped, finished or failed.

    `steps` gets the job and does its work between two `yield`s; there the job pauses and stops. It
    writes `outcome`, and where it knows them `history`, `progress` and `message`. After a stop,
    `go_on` calls it again: what shall stay must be kept outside it.
    """

    def __init__(
        self,
        steps: Callable[[BackgroundJob[Outcome]], Iterator[object]],
        *,
        name: str = "the run",
        rule_names: Sequence[str] = (),
        speed: float | None = None,
        unseen_seconds: float = UNSEEN_SECONDS,
        slots: threading.Semaphore = RUN_SLOTS,
    ) -> None:
        self.name = name
        self.status = JobStatus.WAITING
        self.outcome: Outcome | None = None
        self.error: str | None = None  # what to tell the user of `exception`
        self.exception: Exception | None = None
        self.reason = ""  # why it stopped, when nobody asked it to
        self.history: list[Progress] = []
        self.progress: float | None = None  # share that is done, where it is known
        self.message = ""  # what is being done
        self.speed = speed  # steps per second; None for as fast as it goes
        self.rule_names = tuple(rule_names)  # what to call each of a record's rule slacks
        self.stop_requested = threading.Event()
        self._steps, self._slots = steps, slots
        self._unseen_seconds, self._last_seen = unseen_seconds, time.monotonic()
        self._going = threading.Event()
        self._has_slot = False
        self._thread: threading.Thread | None = None

    @property
    def is_active(self) -> bool:
        """Whether a thread is at work, or waits to be."""
        active = (JobStatus.WAITING, JobStatus.RUNNING, JobStatus.PAUSED)
        return self._thread is not None and self.status in active

    @property
    def is_final(self) -> bool:
        """Whether the work went to its end, so that its outcome will not change."""
        return self.status is JobStatus.FINISHED

    @property
    def was_stopped(self) -> bool:
        """Whether it ended before its end, by request or unseen: it may be launched again."""
        return self.status is JobStatus.STOPPED

    def launch(self) -> None:
        """Start the thread, or start it again after a stop."""
        self.seen()
        self.stop_requested.clear()
        self._going.set()
        self.status, self.reason = JobStatus.WAITING, ""
        self._thread = threading.Thread(target=self._run, name="hipad-job", daemon=True)
        self._thread.start()

    def seen(self) -> None:
        """Note that somebody looks at this job."""
        self._last_seen = time.monotonic()

    def pause(self) -> None:
        """Rest after the present step, until `go_on`."""
        self._going.clear()

    def stop(self) -> None:
        """End after the present step; the outcome so far stays, and `go_on` takes it up again."""
        self.stop_requested.set()

    def go_on(self) -> None:
        """Go on after a pause or a stop."""
        if self.was_stopped:
            self.launch()
        self._going.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most so long; return whether the job has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is not None and not self._thread.is_alive()

    def watch(self, seconds: float | None = None) -> None:
        """Wait for the end, at most so long, and keep the job alive meanwhile."""
        end = float("inf") if seconds is None else time.monotonic() + seconds
        self.seen()
        while not self.wait(min(1.0, max(0.0, end - time.monotonic()))) and time.monotonic() < end:
            self.seen()

    def must_stop(self) -> bool:
        """Return whether to stop: by request, or because nobody looked for too long."""
        if self.stop_requested.is_set():
            return True
        if time.monotonic() - self._last_seen > self._unseen_seconds:
            self.reason = "the page was closed or out of sight for too long"
            return True
        return False

    def _run(self) -> None:
        try:
            finished = self._take_slot() and self._take_steps()
            status = JobStatus.FINISHED if finished else JobStatus.STOPPED
        except JobStopped:
            status = JobStatus.STOPPED
        except Exception as error:
            # The text of an unforeseen error may carry patient values, its type does not.
            unforeseen = f"{self.name} failed inside the program ({type(error).__name__})"
            self.error = str(error) if isinstance(error, HipadError) else unforeseen
            self.exception, status = error, JobStatus.FAILED
        finally:
            self._leave_slot()
        self.status = status

    def _take_steps(self) -> bool:
        """Work to the end; False when that was stopped before."""
        steps = self._steps(self)
        while not self.must_stop():
            begun = time.monotonic()
            if not self._going.is_set():
                self._rest()
                continue
            try:
                next(steps)
            except StopIteration:
                return True
            self._keep_pace(begun)
        steps.close()  # type: ignore[attr-defined]  # of a generator: what it began is ended here
        return False

    def _take_slot(self) -> bool:
        while not self.must_stop():
            if self._slots.acquire(timeout=POLL_SECONDS):
                self.status, self._has_slot = JobStatus.RUNNING, True
                return True
        return False

    def _leave_slot(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._slots.release()

    def _rest(self) -> None:
        """Wait out a pause; its slot is free for others meanwhile."""
        self.status = JobStatus.PAUSED
        self._leave_slot()
        while not (self._going.wait(POLL_SECONDS) or self.must_stop()):
            pass
        self.status = JobStatus.WAITING
        self._take_slot()

    def _keep_pace(self, begun: float) -> None:
        """Sleep until the next step is due, at a speed that may change meanwhile."""
        while self.speed and not self.must_stop() and self._going.is_set():
            left = begun + 1 / self.speed - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, POLL_SECONDS))


class Run(Protocol):
    """A fit in steps, which can be stopped, resumed, and asked for its result at any time."""

    def __iter__(self) -> Iterator[Progress]: ...
    def __next__(self) -> Progress: ...
    def stop(self) -> None: ...
    def resume(self) -> None: ...
    def finish(self) -> Any: ...


Steps = Callable[[BackgroundJob[Outcome]], Iterator[object]]


def fit_steps(start: Callable[[], Run], judge: Callable[[Any], Outcome]) -> Steps[Outcome]:
    """Return the work of a job that takes the steps of a run; a stopped run is judged so far."""
    runs: list[Run] = []  # the one run, once it is begun

    def steps(job: BackgroundJob[Outcome]) -> Iterator[None]:
        if not runs:
            runs.append(start())
        (run,) = runs
        run.resume()
        try:
            SCHEDULER.give_way()
            for progress in run:
                job.history.append(progress)
                yield
                SCHEDULER.give_way()
        except GeneratorExit:
            run.stop()
        job.outcome = judge(run.finish())

    return steps


def fit_job(
    start: Callable[[], Run], judge: Callable[[Any], Outcome], **options: Any
) -> BackgroundJob[Outcome]:
    """Return a job that takes the steps of a run; a stopped run is judged as far as it came."""
    return BackgroundJob(fit_steps(start, judge), **options)


CHECK_SECONDS: Final = 12.0  # for one check of rules
CHECK_UNSEEN_SECONDS: Final = 5.0
CHECK_SLOTS: Final = threading.BoundedSemaphore(2)  # of all sessions


@dataclass(eq=False, kw_only=True)
class JobBudget(Budget):
    """A budget of a job: spent as well when the job must stop."""

    job: BackgroundJob[Any]

    @property
    def is_spent(self) -> bool:
        return super().is_spent or self.job.must_stop()


def budgeted_job(
    work: Callable[[Budget], Iterator[Outcome]],
    *,
    seconds: float = CHECK_SECONDS,
    unseen_seconds: float = CHECK_UNSEEN_SECONDS,
    slots: threading.Semaphore = CHECK_SLOTS,
) -> BackgroundJob[Outcome]:
    """Return a job that keeps the latest result, until its time is over or nobody looks."""

    def steps(job: BackgroundJob[Outcome]) -> Iterator[None]:
        budget = JobBudget(seconds=seconds, stop=job.stop_requested, job=job)
        for job.outcome in work(budget):
            yield
        if job.must_stop():
            raise JobStopped

    return BackgroundJob(steps, name="the check", unseen_seconds=unseen_seconds, slots=slots)


def poll(jobs: BackgroundJob[Any] | Sequence[BackgroundJob[Any]], draw: Callable[[], None]) -> None:
    """Draw this part of a page now and, while one of the jobs works, again and again.

    Polling keeps a job alive. When a status changes, the whole page is drawn anew.
    """
    polled = [jobs] if isinstance(jobs, BackgroundJob) else list(jobs)
    drawn = [job.status for job in polled]

    def look() -> None:
        for job in polled:
            job.seen()
        if [job.status for job in polled] != drawn:
            st.rerun()
        draw()

    busy = any(job.is_active for job in polled)
    st.fragment(look, run_every=REFRESH_SECONDS if busy else None)()


def thinned(history: list[Progress], most: int = 500) -> list[Progress]:
    """Return at most this many records, the last among them, for charts."""
    history = history[:]
    if len(history) <= most:
        return history
    step = (len(history) - 1) / (most - 1)
    return [history[round(i * step)] for i in range(most)]


# --------------------------------------------------------------------------------------------------
# Scheduling on one interpreter: a click comes before timers of pages and before steps of fits.
#
#     with SCHEDULER.page(): ...    # a page is drawn, because somebody clicked or its work is done
#     with SCHEDULER.timer(): ...   # a part of a page is drawn again by its timer
#     SCHEDULER.give_way()          # between two steps of a fit
#
# Python lets one thread run at a time. Where 25 people watch runs, their timers and fits would take
# all turns, and a calm user's click would wait for seconds. So timers are drawn a few at a time,
# and they and the fits rest while a page is drawn, for a bounded time: nobody waits for ever.

MOST_TIMERS: Final = 2  # drawn at the same time
TIMER_SECONDS: Final = 2.0  # that a timer waits at most
STEP_SECONDS: Final = 0.25  # that a step of a fit waits at most
TURN_SECONDS: Final = 0.02  # between two looks whether there is a turn


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
