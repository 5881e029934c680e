"""What the server writes to its log: where an error arose and of what type, never its text.

The text of an error may quote a cell of a patient's table. So records of errors are rewritten where
all of them are made, whichever library writes them.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

from streamlit import config

_make = logging.getLogRecordFactory()


def keep_values_out() -> None:
    """From now on no error's text reaches a log of this process."""
    logging.setLogRecordFactory(_record)
    config.set_option("logger.enableRich", False)  # rich, where installed, prints errors whole
    threading.excepthook = _end_of_thread


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = _make(*args, **kwargs)
    if isinstance(record.msg, BaseException):
        record.msg = f"error of type {type(record.msg).__name__}"
    if isinstance(record.args, tuple):
        record.args = tuple(_named(arg) for arg in record.args)
    if record.exc_info and record.exc_info[1] is not None:
        record.msg = f"{record.getMessage()}\n{_places(record.exc_info[1])}"
        record.args, record.exc_info = (), None
    return record


def _named(arg: Any) -> Any:
    return type(arg).__name__ if isinstance(arg, BaseException) else arg


def _places(error: BaseException) -> str:
    """The calls that led to an error, and the types of it and of those behind it.

    >>> try:
    ...     int("patient 17")
    ... except ValueError as error:
    ...     print(_places(error).splitlines()[-1])
    ValueError
    """
    lines: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        lines[:0] = [*_calls(cause.__traceback__), type(cause).__name__]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines)


def _calls(at: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(at)
    return [f'  File "{f.filename}", line {f.lineno}, in {f.name}' for f in frames]


def _end_of_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        print(f"a thread ended:\n{_places(args.exc_value)}", file=sys.stderr)
