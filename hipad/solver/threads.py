"""One BLAS thread inside solves: the matrices are small, and a second thread makes them slower.

Limits are global to the process, so nested and concurrent solves are counted: the first one sets
the limit, the last one lifts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_depth = 0
_limit: Any = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def single_thread() -> Iterator[None]:
    """Run the body with one BLAS thread."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _depth, _limit
    with _lock:
        if _depth == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
            _limit.__enter__()
        _depth += 1


def _leave() -> None:
    global _depth, _limit
    with _lock:
        _depth -= 1
        if _depth == 0:
            _limit.__exit__(None, None, None)
            _limit = None
