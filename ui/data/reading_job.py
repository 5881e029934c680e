"""A file on its way to a table: read in a process of its own, which the page watches.

    reading = Reading("mine.csv", content)
    reading.launch()
    reading.seen()                # the page calls this at every look; an unseen one ends itself
    reading.cancel()

The thread calls nothing of streamlit. Only a few files are read at once on a server; the others
wait for a place.
"""

from __future__ import annotations

import threading
import time
import zlib
from typing import Final

from hipad.data import LIMITS, Cancelled, Limits, Table, Turn, read_apart
from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.data.limits import stated_number
from hipad.exceptions import HipadError
from ui.jobs import LOOK, UNSEEN_SECONDS, JobStatus

KEPT_BYTES: Final = 100 * 2**20  # of a file: of a larger one nothing is kept but the table
PLACES: Final = threading.BoundedSemaphore(stated_number("HIPAD_READERS", 2, least=0))


class Reading:
    """One file: waiting, running, finished, failed, or stopped: by the user, or unseen."""

    def __init__(
        self,
        name: str,
        content: bytes,
        *,
        limits: Limits = LIMITS,
        turn: Turn = "auto",
        stated: FileFormat = FOUND_OUT,
        unseen_seconds: float = UNSEEN_SECONDS,
        places: threading.Semaphore = PLACES,
    ) -> None:
        self.name = name
        self.status = JobStatus.WAITING
        self.done: float | None = None  # share that is read, where it is known
        self.words = ""
        self.table: Table | None = None
        self.error = ""
        self.told_at = -1  # the state of the page at which its error was told
        self.source = b""  # the packed content, for another reading of it
        self._content, self._limits, self._turn = content, limits, turn
        self._stated = stated
        self._unseen_seconds, self._places = unseen_seconds, places
        self._last_seen = time.monotonic()
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._work, name="hipad-reading", daemon=True)

    @property
    def is_active(self) -> bool:
        return self.status in (JobStatus.WAITING, JobStatus.RUNNING)

    @property
    def was_cancelled(self) -> bool:
        return self.status is JobStatus.STOPPED and not self.error

    def launch(self) -> None:
        """Start the thread that reads."""
        self.seen()
        self._thread.start()

    def seen(self) -> None:
        """Somebody looks at this reading."""
        self._last_seen = time.monotonic()

    def cancel(self) -> None:
        """Stop; the process that reads is ended."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the thread to end."""
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            self.table = self._read()
            self.status = JobStatus.FINISHED
        except Cancelled:
            self._stop()
        except HipadError as error:
            self.error, self.status = str(error), JobStatus.FAILED
        except Exception as error:
            # The text of an unforeseen error may carry patient values, its type does not.
            self.error = f"{self.name}: reading failed inside the program ({type(error).__name__})"
            self.status = JobStatus.FAILED
        finally:
            self._content = b""

    def _read(self) -> Table:
        while not self._places.acquire(timeout=LOOK):
            if self._must_stop():
                raise Cancelled
        try:
            self.status = JobStatus.RUNNING
            if len(self._content) <= KEPT_BYTES:
                self.source = zlib.compress(self._content, 1)
            return read_apart(
                self._give(),
                self.name,
                limits=self._limits,
                turn=self._turn,
                stated=self._stated,
                progress=self._tell,
                cancelled=self._must_stop,
            )
        finally:
            self._places.release()

    def _give(self) -> bytes:
        """Hand the content over and keep no reference, so that its memory can be freed."""
        content, self._content = self._content, b""
        return content

    def _tell(self, done: float | None, words: str) -> None:
        self.done, self.words = done, words

    def _stop(self) -> None:
        if not self._cancelled.is_set():
            self.error = (
                f"reading {self.name} was stopped, because the page was closed or out of sight for "
                "too long: upload it again"
            )
        self.status = JobStatus.STOPPED

    def _must_stop(self) -> bool:
        unseen = time.monotonic() - self._last_seen
        return self._cancelled.is_set() or unseen > self._unseen_seconds
