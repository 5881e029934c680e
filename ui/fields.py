"""What a field of a form or of a session file may hold: one description that both use.

A dataclass states it in its hints, `seed: Annotated[int, Number(0, 1_000_000)]`. Widgets take their
bounds from there (`field_of`), and `rebuild` of `hipad.estimator.files` reads a file's value with
`read`, so that what a form allows and what a file allows cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose, log10
from typing import Any, Final, Generic, TypeVar, get_type_hints

from hipad.estimator.serialization import misfit, named, text_of
from hipad.rules.lexer import LONGEST_TEXT

Value = TypeVar("Value", int, float)
AUTO: Final = "auto"


@dataclass(frozen=True)
class Number(Generic[Value]):
    """A number from `low` to `high`, a whole one where both are; `auto` allows that word too."""

    low: Value
    high: Value
    auto: bool = False

    def read(self, value: Any) -> Any:
        """The value of a file; ValueError says what is allowed."""
        if self.auto and value == AUTO:
            return AUTO
        whole = isinstance(self.low, int)
        kinds: tuple[type, ...] = (int,) if whole else (int, float)
        good = isinstance(value, kinds) and not isinstance(value, bool)
        if not good or not self.low <= value <= self.high:
            kind = "a whole number" if whole else "a number"
            word = f', or "{AUTO}"' if self.auto else ""
            raise misfit(f"{kind} from {self.low:,} to {self.high:,}{word}", value)
        return type(self.low)(value)


@dataclass(frozen=True)
class Power:
    """A power of ten whose exponent lies between `low` and `high`."""

    low: int
    high: int

    def read(self, value: Any) -> float:
        exponent = round(log10(value)) if _is_positive(value) else self.high + 1
        if not self.low <= exponent <= self.high or not isclose(value, 10.0**exponent):
            raise misfit(f"a power of ten from 1e{self.low} to 1e{self.high}", value)
        return 10.0**exponent


@dataclass(frozen=True)
class Percent:
    """A share of one that a form shows as whole percents, from `low` to `high` by `step`."""

    low: int
    high: int
    step: int = 1

    def read(self, value: Any) -> float:
        number = Number(self.low / 100, self.high / 100)
        percents = round(100 * number.read(value))
        if percents % self.step or not isclose(100 * value, percents, abs_tol=1e-9):
            raise misfit(f"a share of one in steps of {self.step / 100:g}", value)
        return percents / 100


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise misfit(f"one of {', '.join(self.words)}", value)
        return value


@dataclass(frozen=True)
class Text:
    """A text of at most so many characters."""

    longest: int

    def read(self, value: object) -> str:
        text = text_of(value)
        if len(text) > self.longest:
            raise ValueError(f"expected at most {self.longest:,} characters, got {len(text):,}")
        return text


@dataclass(frozen=True)
class ValueSpan:
    """Two values of a kind, the second no smaller than the first."""

    each: Percent

    def read(self, value: object) -> tuple[float, float]:
        if not isinstance(value, list) or len(value) != 2:
            raise misfit("two numbers", value)
        first, last = map(self.each.read, value)
        if first > last:
            raise misfit("two growing numbers", value)
        return first, last


@dataclass(frozen=True)
class Some:
    """Some of these fields, each by its name."""

    fields: Mapping[str, Any]

    def read(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise misfit("named values", value)
        found = {}
        for name, part in value.items():
            if name not in self.fields:
                raise misfit(f"only {', '.join(self.fields)}", name)
            found[name] = named(name, lambda: self.fields[name].read(part))  # noqa: B023
        return found


def field_of(kind: type, name: str) -> Any:
    """The description of a dataclass's field, for the widget that shows it."""
    return get_type_hints(kind, include_extras=True)[name].__metadata__[0]


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


SEED: Final = Number(0, 1_000_000)
RULES: Final = Text(LONGEST_TEXT)
NAME: Final = Text(1_000)  # of a file, a sample or data
MODEL_NAME: Final = Text(40)
