"""Terms, of which the sides of a condition are sums: `2*Glucose`, `mean(K1)`, `4`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from hipad.rules.language.spelling import (
    checked_name,
    checked_number,
    format_number,
    quote_name,
    rule_error,
)

FUNCTIONS = ("mean", "sum", "min", "max")
LEARNT = ("median", "sd", "z")  # of one feature, from the training rows; also p90 and the like
RATIO, SET = "ratio", "set"

_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?|100)")


def percentile(function: str) -> float | None:
    """The share of rows below, in percent, for p90 and the like; else None."""
    found = _PERCENTILE.fullmatch(function)
    return float(found[1]) if found else None


def is_learnt(function: str) -> bool:
    """Whether a function is worked out from the training rows."""
    return function in LEARNT or percentile(function) is not None


@dataclass(frozen=True)
class FeatureSpan:
    """Neighbouring features, written `x101:x150` inside a function."""

    first: str
    last: str

    def __str__(self) -> str:
        return f"{quote_name(self.first)}:{quote_name(self.last)}"


Name = str | FeatureSpan


@dataclass(frozen=True)
class Term:
    """A coefficient times one feature, a function of features, or nothing (a plain number).

    >>> print(Term(2.0, ("p-36=t",)), Term(-1.0, ("K1", "K2"), "mean"), Term(4.0))
    2*`p-36=t` -mean(K1, K2) 4
    """

    coefficient: float = 1.0
    names: tuple[Name, ...] = ()
    function: str = ""
    column: int | None = field(default=None, compare=False, repr=False)
    unit: str = ""  # of a plain number, as the user wrote it
    converted: str = field(default="", compare=False, repr=False)  # "5 cm = 50 mm"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", checked_number(self.coefficient))
        for name in self.names:
            for text in (name,) if isinstance(name, str) else (name.first, name.last):
                checked_name(text)
        lone = not self.names or (len(self.names) == 1 and isinstance(self.names[0], str))
        if not lone if not self.function else not self._fits():
            raise rule_error(f"a term needs one of the functions {FUNCTIONS}", column=self.column)

    def _fits(self) -> bool:
        """Whether the function takes so many names."""
        if self.function in (*FUNCTIONS, SET):
            return bool(self.names)
        if self.function == RATIO:
            return len(self.names) == 2
        return len(self.names) == 1 and is_learnt(self.function)

    @property
    def is_number(self) -> bool:
        """True for a plain number."""
        return not self.names

    @property
    def body(self) -> str:
        """The term without its coefficient."""
        if self.function == RATIO:
            return "/".join(map(name_text, self.names))
        if self.function == SET:
            return f"{{{', '.join(map(name_text, self.names))}}}"
        if self.function:
            return f"{self.function}({', '.join(map(name_text, self.names))})"
        return "".join(map(name_text, self.names))

    def __str__(self) -> str:
        if self.is_number:
            return f"{format_number(self.coefficient)} {self.unit}".strip()
        factor = {1.0: "", -1.0: "-"}.get(self.coefficient)
        return (f"{format_number(self.coefficient)}*" if factor is None else factor) + self.body


Side = tuple[Term, ...]


def side_text(side: Iterable[Term]) -> str:
    """One side of a condition as text, its terms joined by + and -."""
    text = ""
    for term in side:
        piece = str(term)
        if text:
            piece = f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"
        text += piece
    return text


def name_text(name: Name) -> str:
    """A name or a range of names as the rule language writes it."""
    return quote_name(name) if isinstance(name, str) else str(name)
