"""No value of the data comes into a log."""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Iterator

import pytest

from workbench.logs import keep_values_out, where_and_what

VALUE = "patient 73211009"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What a logger writes while values are kept out; everything is as before afterwards."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    before, hook = logging.getLogRecordFactory(), threading.excepthook
    logging.getLogger().addHandler(handler)
    keep_values_out()
    yield written
    logging.getLogger().removeHandler(handler)
    logging.setLogRecordFactory(before)
    threading.excepthook = hook


def fail() -> None:
    try:
        raise KeyError(VALUE)
    except KeyError as error:
        raise ValueError(f"no column for {VALUE}") from error


def test_an_error_is_logged_by_place_and_type(log: io.StringIO) -> None:
    try:
        fail()
    except ValueError as error:
        logging.getLogger("some.library").error("Uncaught app execution", exc_info=error)
    assert VALUE not in log.getvalue()
    assert "Uncaught app execution" in log.getvalue()
    for word in ("test_logs.py", "in fail", "ValueError", "KeyError"):
        assert word in log.getvalue()


def test_texts_that_quote_the_error_are_left_out_too(log: io.StringIO) -> None:
    for words in (("failed: %s", VALUE), (ValueError(VALUE),)):
        try:
            fail()
        except ValueError:
            logging.getLogger("any").exception(*words)
    assert VALUE not in log.getvalue()
    assert "failed: %s" in log.getvalue()


def test_a_thread_that_fails_tells_no_value(
    log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert "ValueError" in log.getvalue()
    assert VALUE not in log.getvalue() + capsys.readouterr().err


def test_errors_that_cause_each_other_come_to_an_end() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert where_and_what(first).count("ValueError") < 10
