"""Frozen dataclasses as plain JSON values, and back by their type hints.

Only declared fields are read back, as the types they declare, so a file can bring numbers, texts
and lists, never an object of its own choosing. Numbers that JSON lacks are written as texts ("inf",
"nan"); finite ones round-trip exactly.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import numpy as np

NOT_IN_JSON: Final = ("inf", "-inf", "nan")
EXACT: Final = 2**53  # floating point holds whole numbers up to here


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
    if origin in (Union, UnionType):
        options = [part for part in parts if part is not NoneType]
        return None if value is None else rebuild(options[0], value)
    if kind is np.ndarray or origin is np.ndarray:
        return _array(parts, value)
    if origin is tuple:
        return tuple(rebuild(parts[0], item) for item in _checked(value, list))
    if origin is dict:
        items = _checked(value, dict).items()
        return {key: rebuild(parts[1], item) for key, item in items}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        given = _checked(value, dict)
        return kind(**{f.name: rebuild(hints[f.name], given[f.name]) for f in fields(kind)})  # type: ignore[operator]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return _number(value) if kind is float else _checked(value, kind)


def _array(parts: tuple[Any, ...], value: Any) -> np.ndarray:
    """An array of the declared type; an array that declares none holds column numbers."""
    (dtype,) = get_args(parts[1]) if parts else (np.int64,)
    array = np.array([_number(item) for item in _checked(value, list)])
    whole = np.issubdtype(dtype, np.integer)
    if whole and not (np.isfinite(array) & (np.abs(array) < EXACT) & (array % 1 == 0)).all():
        raise ValueError("expected whole numbers")
    return array.astype(dtype)


def _number(value: Any) -> float:
    """A number, or the text of one that JSON lacks."""
    if value in NOT_IN_JSON if isinstance(value, str) else type(value) in (int, float):
        return float(value)
    raise ValueError(f"expected a number, got {value!r:.40}")


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value
