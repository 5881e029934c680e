"""What a session has made once and keeps while what it was made of stays the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

Value = TypeVar("Value")


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
