"""A worker process ends when the process that it works for has ended, however that came about.

A parent that is killed cannot tell its workers, which would wait for more work for minutes, each
with its own copy of the data. So a worker looks by itself every few seconds. The kernel's own
signal for this (PR_SET_PDEATHSIG) would not do: it comes when the thread ends that started the
worker, and workers outlive threads.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from typing import Final

EVERY: Final = 2.0  # seconds between two looks

_watched: set[int] = set()


def end_with(parent: int) -> None:
    """Have this process end soon after its parent; the parent itself is left alone."""
    if parent in _watched or parent == os.getpid():
        return
    _watched.add(parent)
    threading.Thread(target=_watch, args=(parent,), name="hipad-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while _is_alive(parent):
        time.sleep(EVERY)
    os._exit(1)


def _is_alive(parent: int) -> bool:
    if sys.platform == "win32":  # an orphan keeps the number of its parent there
        told = multiprocessing.parent_process()
        return told is None or told.is_alive()
    return os.getppid() == parent
