"""Progress on stderr: one line that is rewritten, and nothing at all outside a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TextIO, TypeVar

from hipad.estimator.choosing.tried_values import N_STEPS, RIDGES
from hipad.solver import Progress

WIDTH = 24  # characters of the bar
PAUSE = 0.1  # seconds between two drawings
Item = TypeVar("Item")


class Bar:
    """A line of progress; leaving the `with` block clears it."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream if stream is not None else sys.stderr
        self.shown = self.stream.isatty()
        self.last = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def show(self, text: str, done: float | None = None, *, always: bool = False) -> None:
        """Draw a text and, where it is known, how much is done."""
        now = time.monotonic()
        if not self.shown or (now - self.last < PAUSE and not always):
            return
        self.last = now
        self.stream.write(f"\r\x1b[K{drawn(done)}{text}"[:120])
        self.stream.flush()

    def progress(self, record: Progress, of: str = "") -> None:
        """Draw a step of a fit; `of` says of which, where there are several."""
        if record.phase == 0:
            most = N_STEPS * len(RIDGES)
            self.show(
                f"{of}choosing lambda1 and lambda2: value {record.iteration}",
                record.iteration / most,
            )
            return
        doing = "finding features" if record.phase == 1 else "accurate classifier"
        self.show(
            f"{of}{doing}: step {record.iteration:,}, {record.support_size:,} features, "
            f"objective {record.shared:.4g}"
        )


def drawn(done: float | None) -> str:
    """The bar itself.

    >>> drawn(0.5)
    '[############            ] '
    """
    if done is None:
        return ""
    return "[" + ("#" * round(min(max(done, 0.0), 1.0) * WIDTH)).ljust(WIDTH) + "] "


def counted(items: Iterable[Item], what: str) -> Iterator[Item]:
    """The items, with a bar that counts them."""
    total = len(items) if isinstance(items, Sized) else 0
    with Bar() as bar:
        for n, item in enumerate(items, 1):
            bar.show(f"{what} {n} of {total}", (n - 1) / total if total else None, always=True)
            yield item
