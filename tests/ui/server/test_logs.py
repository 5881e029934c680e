from __future__ import annotations

import io
import logging
import threading

import pytest

from ui.server.lifespan import keep_values_out


@pytest.fixture
def log():
    """What a handler writes once values are kept out."""
    before, hook = logging.getLogRecordFactory(), threading.excepthook
    text = io.StringIO()
    handler, logger = logging.StreamHandler(text), logging.getLogger("any.library")
    logger.addHandler(handler)
    logger.propagate = False
    keep_values_out()
    yield logger, text
    logger.removeHandler(handler)
    logging.setLogRecordFactory(before)
    threading.excepthook = hook


def fail():
    try:
        raise ValueError("patient 17")
    except ValueError as error:
        raise KeyError("patient 17") from error


def test_a_logged_error_tells_its_place_and_type_but_not_its_text(log):
    logger, text = log
    try:
        fail()
    except KeyError as error:
        logger.exception("could not do %s", "100 %")
        logger.error("again", exc_info=error)
        logger.warning(error)
        logger.warning("failed: %s", error)
    written = text.getvalue()
    assert "patient 17" not in written
    assert written.count("KeyError") == 4
    assert "ValueError" in written
    assert "could not do 100 %" in written
    assert "test_logs.py" in written


def test_other_records_are_left_as_they_are(log):
    logger, text = log
    logger.warning("%d of %s", 3, "them")
    assert text.getvalue() == "3 of them\n"


def test_a_thread_that_fails_tells_its_place_alone(log, capsys):
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    written = capsys.readouterr().err
    assert "patient 17" not in written
    assert "KeyError" in written
