"""Coroutines for tests that may run beside a browser, whose driver has a loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_apart(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end in a thread that has no loop yet."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()
