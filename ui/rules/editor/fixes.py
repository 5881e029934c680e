"""Remedies that one click writes: each is compiled on the data before it is offered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.suggestions import remedies
from ui.dataset import Dataset
from ui.words import one_line

LONGEST: Final = 70  # characters of a remedy on its button


@dataclass(frozen=True)
class Fix:
    """What the button says, and the line after it."""

    label: str
    line: str


def fixes_of(error: RuleError, line: str, data: Dataset) -> list[Fix]:
    """Up to three remedies of a mistake in a line."""
    found = remedies(line, error, data.lexicon, data.classes)
    return [Fix(one_line(remedy.label, LONGEST), remedy.text) for remedy in found]
