"""Shared by all tests: the browser they may need, and how Hypothesis looks for counterexamples."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from benchmarks.serving import chromium_path

# Nothing is timed in a test; CI draws the same examples each time, so that a failure repeats.
# `make long` draws Hypothesis' usual number of examples, `make test` fewer.
EXAMPLES = int(os.environ.get("HIPAD_TEST_EXAMPLES", "25"))
settings.register_profile(
    "local",
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)

IN_CI = os.environ.get("CI") == "true"
settings.load_profile("ci" if IN_CI else "local")

NO_BROWSER = "no browser was found"
REMEDY = "install chromium, or run .venv/bin/playwright install chromium"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") is None or chromium_path() is not None:
        return
    if IN_CI:
        pytest.fail(f"{NO_BROWSER}: {REMEDY}", pytrace=False)
    pytest.skip(NO_BROWSER)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of a run says which tests did not run for want of a browser."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    skipped = [report for report in reporter.stats.get("skipped", []) if _for_browser(report)]
    if skipped:
        reporter.write_line(
            f"{len(skipped)} browser tests did not run, as {NO_BROWSER}: {REMEDY}", yellow=True
        )


def _for_browser(report: pytest.TestReport) -> bool:
    return NO_BROWSER in str(report.longrepr)


@pytest.fixture(scope="session")
def browser_path() -> str:
    """Executable to give Playwright as `executable_path`, in tests marked `browser`."""
    path = chromium_path()
    assert path is not None
    return path
