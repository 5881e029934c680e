"""Remedies that one click writes: each is tried before it is offered.

A mistake comes with texts that could have stood at its place. Which part of the line each replaces
(a word, a condition, the outcome, all of it) is found by trying: only a line that can be read, and
that fits the data, is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from hipad.errors import RuleError
from hipad.rules import RuleSet
from hipad.rules.language.parsing import parse_line, split_note
from ui.dataset import Dataset
from ui.rules.checking import fitting_rules
from ui.words import one_line

MOST: Final = 3  # remedies of one mistake
LONGEST: Final = 60  # characters of a remedy on its button
_WORD: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|[\w.]+(?:-[\w.]+)*|[<>=!]+|.")
_ARROW: Final = re.compile(r"={1,2}>|-{1,2}>|[⇒⟹→]|\bthen\b", re.IGNORECASE)
_JOINT: Final = re.compile(r"\s+(?:and|or)\s+", re.IGNORECASE)
_WORTH: Final = re.compile(r"\s+worth\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"\s*(?:off\s+)?(?:(?:`[^`]*`|[\w.]+)\s*:)?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Fix:
    """What the button says, and the line after it."""

    label: str
    line: str


def fixes_of(error: RuleError, line: str, data: Dataset) -> list[Fix]:
    """Up to three remedies of a mistake in a line, first those that change it least."""
    texts = dict.fromkeys(filter(None, [error.suggestion, *error.expected]))
    fixes: list[Fix] = []
    for text in texts:
        fixed = next((new for new in _placed(text, line, error) if _is_good(new, data)), None)
        if fixed is not None and fixed not in (fix.line for fix in fixes):
            fixes.append(Fix(f"Write {one_line(text, LONGEST)}", fixed))
        if len(fixes) == MOST:
            break
    return sorted(fixes, key=lambda fix: -SequenceMatcher(None, line, fix.line).ratio())


def _placed(text: str, line: str, error: RuleError) -> Iterator[str]:
    """The line with the text in each place where it may be meant."""
    at = max((error.column or 1) - 1, 0)
    for start, end in _parts(line, at):
        if line[start:end].strip():
            yield line[:start] + text + line[end:]


def _parts(line: str, at: int) -> Iterator[tuple[int, int]]:
    """Parts of a line that a remedy may replace: word, condition, outcome, premise, rule."""
    body = split_note(line)[0]
    if word := _WORD.match(body, at):
        yield word.span()
    title = _TITLE.match(body)
    first = title.end() if title else 0
    arrow = _ARROW.search(body)
    last = len(body[: arrow.start() if arrow else None].rstrip())
    joints = [joint.span() for joint in _JOINT.finditer(body, first, last)]
    starts, ends = [first, *(b for _, b in joints)], [*(a for a, _ in joints), last]
    for start, end in zip(starts, ends, strict=True):
        if start <= at < end:
            yield start, end
    if arrow:
        worth = _WORTH.search(body, arrow.end())
        end = len(body[: worth.start() if worth else None].rstrip())
        yield arrow.end() + (body[arrow.end() : end][:1] == " "), end
        yield first, last
    yield first, len(body.rstrip())


def _is_good(line: str, data: Dataset) -> bool:
    try:
        body, note = split_note(line)
        rules = parse_line(body, note=note or "")
    except RuleError:
        return False
    return not fitting_rules(RuleSet(tuple(rules)), data)[1]
