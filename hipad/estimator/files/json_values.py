"""Frozen dataclasses as plain JSON values, and back by their type hints.

Only declared fields are read back, as the types they declare, so a file can bring numbers, texts
and lists, never an object of its own choosing. A hint `Annotated[kind, description]` leaves the
reading to `description.read`. Numbers that JSON lacks are written as texts ("inf", "nan"); finite
ones round-trip exactly. An error names the field that does not fit: "settings: seed: expected ...".
Within `of_any_version` a field that is missing takes its default, and one that is unknown is noted.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from hipad.data.whole_numbers import EXACT

NOT_IN_JSON: Final = ("inf", "-inf", "nan")

Value = TypeVar("Value")

_unknown: ContextVar[list[str] | None] = ContextVar("unknown", default=None)  # fields, by name


@contextmanager
def of_any_version() -> Iterator[list[str]]:
    """Within it, read what an earlier or a later version wrote; give the fields unknown here."""
    found: list[str] = []
    token = _unknown.set(found)
    try:
        yield found
    finally:
        _unknown.reset(token)


def plain(value: Any) -> Any:
    """Dataclasses, arrays and NumPy numbers as dicts, lists and plain numbers.

    >>> plain({"a": np.array([1.0, np.inf]), "b": (np.int64(2), None)})
    {'a': [1.0, 'inf'], 'b': [2, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def rebuild(kind: Any, value: Any) -> Any:
    """A value of the declared type from its plain form; ValueError where it does not fit.

    >>> rebuild(tuple[float, ...] | None, [1, "inf"])
    (1.0, inf)
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is Annotated:
        return parts[1].read(value)
    if origin is Literal:
        return _one_of(parts, value)
    if origin in (Union, UnionType):
        options = [part for part in parts if part is not NoneType]
        return None if value is None else rebuild(options[0], value)
    if kind is np.ndarray or origin is np.ndarray:
        return _array(parts, value)
    if origin is tuple:
        items = enumerate(_checked(value, list), start=1)
        return tuple(named(str(n), lambda: rebuild(parts[0], item)) for n, item in items)  # noqa: B023
    if origin is dict:
        pairs = _checked(value, dict).items()
        return {text_of(k): named(k, lambda: rebuild(parts[1], item)) for k, item in pairs}  # noqa: B023
    if is_dataclass(kind):
        return _dataclass(kind, value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is str:
        return text_of(value)
    return _number(value) if kind is float else _checked(value, kind)


def named(name: str, read: Callable[[], Value]) -> Value:
    """What `read` gives; an error is told with the name of the field."""
    try:
        return read()
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def text_of(value: object) -> str:
    """A text that can be written again: JSON can spell halves of characters that no file holds."""
    if not isinstance(value, str):
        raise misfit("a text", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise misfit("a text of whole characters", value) from error
    return value


def misfit(expected: str, value: object) -> ValueError:
    """The error for a value that does not fit."""
    return ValueError(f"expected {expected}, got {reprlib.repr(value)}")


def _dataclass(kind: Any, value: Any) -> Any:
    """One of these with just its own fields."""
    hints, given, noted = _hints(kind), _checked(value, dict), _unknown.get()
    own = {field.name: field for field in fields(kind)}
    missing = [name for name in own if name not in given]
    if noted is not None:
        missing = [name for name in missing if _is_needed(own[name])]
    if missing:
        raise ValueError(f"expected {missing[0]}, got none")
    if unknown := [name for name in given if name not in own]:
        if noted is None:
            raise misfit(f"only {', '.join(own)}", unknown[0])
        noted += [str(name) for name in unknown]
    there = [name for name in own if name in given]
    return kind(**{n: named(n, lambda: rebuild(hints[n], given[n])) for n in there})  # noqa: B023


def _is_needed(field: Field[Any]) -> bool:
    """Whether a field has no default to take where it is missing."""
    return field.default is MISSING and field.default_factory is MISSING


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _one_of(options: tuple[Any, ...], value: object) -> Any:
    if not isinstance(value, str) or value not in options:
        raise misfit(f"one of {', '.join(map(str, options))}", value)
    return value


def _array(parts: tuple[Any, ...], value: Any) -> np.ndarray:
    """An array of the declared type; an array that declares none holds column numbers."""
    (dtype,) = get_args(parts[1]) if parts else (np.int64,)
    array = np.array([_number(item) for item in _checked(value, list)])
    whole = np.issubdtype(dtype, np.integer)
    exact = (np.abs(array) < EXACT) & (np.trunc(array) == array)
    if whole and not exact.all():
        raise ValueError("expected whole numbers")
    return array.astype(dtype)


def _number(value: Any) -> float:
    """A number, or the text of one that JSON lacks."""
    if value in NOT_IN_JSON if isinstance(value, str) else type(value) in (int, float):
        return float(value)
    raise ValueError(f"expected a number, got {value!r:.40}")


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise misfit(f"{KINDS.get(kind, kind.__name__)}", value)
    return value


KINDS: Final[dict[type, str]] = {
    dict: "named values",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
}
