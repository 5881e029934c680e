"""The server's log tells where an error happened and of which type, never its text.

The text of an error may quote a cell of a patient's table. Streamlit logs every unforeseen error
with it, so this takes the text out of whatever is logged, by whichever library.
"""

from __future__ import annotations

import logging
import threading
import traceback
from pathlib import Path
from typing import Any


def keep_values_out() -> None:
    """From now on errors are logged in this process as `where_and_what` tells them."""
    make = logging.getLogRecordFactory()

    def without_text(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            words = str(record.msg) if isinstance(record.msg, str) else type(record.msg).__name__
            record.msg, record.args = f"{words}\n{where_and_what(error)}", ()
            record.exc_info = None
        return record

    logging.setLogRecordFactory(without_text)
    threading.excepthook = _log_thread


def where_and_what(error: BaseException | None) -> str:
    """The calls that led to an error and its type, and the same of the errors behind it."""
    parts: list[str] = []
    while error is not None and len(parts) < 10:
        calls = traceback.extract_tb(error.__traceback__)
        lines = [f"  {Path(call.filename).name}:{call.lineno} in {call.name}" for call in calls]
        parts.append("\n".join([*lines, type(error).__name__]))
        error = error.__cause__ or error.__context__
    return "\n caused by\n".join(parts)


def _log_thread(hook: threading.ExceptHookArgs) -> None:
    if hook.exc_value is not None:
        logging.getLogger(__name__).error("A thread failed", exc_info=hook.exc_value)
