"""What a session has made once and keeps while what it was made of stays the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeVar, cast

Value = TypeVar("Value")
_NUMBERS: Final = count()  # of all sessions together


class Background(ABC):
    """Work that goes on between two drawings of a page, and ends with the session."""

    @abstractmethod
    def stop(self) -> None:
        """End it soon."""


@dataclass
class Memory:
    """Values by name, each with the key that tells whether it must be made anew."""

    memo: dict[str, tuple[object, Any]] = field(default_factory=dict)

    def remember(self, name: str, key: object, make: Callable[[], Value]) -> Value:
        """What `make` gives, made anew only when `key` differs from that of the last time."""
        known = self.memo.get(name)
        if known is None or known[0] != key:
            known = self.memo[name] = (key, make())
        return cast(Value, known[1])

    def fresh_key(self, name: str, shown: object) -> str:
        """The key of a widget that shows this: another whenever that differs, never one again.

        A browser may still report a widget that has gone, as if its user had just changed it: what
        such a report asks for must not be done, see `is_drawn`.
        """
        return self.remember(f"key of {name}", shown, lambda: f"{name}_{next(_NUMBERS)}")

    def is_drawn(self, name: str, key: str) -> bool:
        """Whether the widget of this name was drawn last under this key."""
        return self.memo.get(f"key of {name}", (None, None))[1] == key
