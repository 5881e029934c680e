"""How far reading has come, told by the readers to whoever listens.

Readers call `tell_rows` as often as they like; it costs nothing while nobody listens, and a
listener hears of it a few times a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PAUSE: Final = 0.2  # seconds between two words to the listener

Listener = Callable[[float | None, str], None]  # the share done where it is known, and words

_listener: Listener | None = None
_next_time = 0.0


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, this process's readers tell the listener."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def tell_rows(done: int, most: int) -> None:
    """So many rows are read of so many."""
    global _next_time
    if _listener is None or time.monotonic() < _next_time:
        return
    _next_time = time.monotonic() + PAUSE
    _listener(done / max(most, 1), f"{done:,} of {most:,} rows read")
