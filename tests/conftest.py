"""Shared by all tests: the browser they may need, and how Hypothesis looks for counterexamples."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

# Nothing is timed in a test; CI draws the same examples each time, so that a failure repeats.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)

IN_CI = os.environ.get("CI") == "true"
settings.load_profile("ci" if IN_CI else "local")


def chromium() -> str | None:
    """Path of the browser, or None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") is None or chromium() is not None:
        return
    reason = "chromium is not installed: apt-get install chromium"
    if IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Executable to give Playwright as `executable_path`, in tests marked `browser`."""
    path = chromium()
    assert path is not None
    return path
