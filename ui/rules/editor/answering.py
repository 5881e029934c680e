"""What the server tells the editor: the text, what each line means, and what is wrong where.

Places are counted as the browser counts them, in UTF-16 units from the start of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

from hipad.evaluation.rule_study import Study
from hipad.exceptions import RuleError
from hipad.rules.compiled_rule import meaning
from hipad.rules.lexer import Place
from ui.dataset import Dataset
from ui.rules.editor.fixes import fixes_of
from ui.words import one_line

MOST_WORDS: Final = 200_000  # characters of all meanings, and of all mistakes
LONGEST: Final = 400  # characters of one meaning or mistake
MOST_MENDED: Final = 10  # mistakes for which remedies are tried
_PLACE: Final = re.compile(r"^line \d+(?:, column \d+)?: ")
_WORD: Final = re.compile(r"`[^`]*`?|\"[^\"]*\"?|[\w.]+|[<>=!]+|\S")


class Places:
    """Where lines and columns of a text lie for the browser."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(units, self.lines))]

    def line(self, number: int) -> str:
        """A line without its end; lines count from one."""
        return "".join(self.lines[number - 1 : number][0].splitlines())

    def at(self, number: int, column: int = 1) -> int:
        """A place by its line and column, both counted from one."""
        return self._starts[number - 1] + units(self.lines[number - 1][: column - 1])

    def has(self, number: int | None) -> bool:
        return number is not None and 1 <= number <= len(self.lines)


def units(text: str) -> int:
    """How long a text is for a browser.

    >>> units("ab"), units("a😀")
    (2, 3)
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def said_of(text: str, checked: Study | None, data: Dataset) -> dict[str, list[Any]]:
    """The meaning of every line that has one, and every mistake with its remedies."""
    if checked is None:
        return {"meanings": [], "problems": []}
    places = Places(text)
    return {
        "meanings": list(_meanings(places, checked)),
        "problems": list(_problems(places, checked.errors, data)),
    }


def _meanings(places: Places, checked: Study) -> Iterator[tuple[int, str]]:
    """Where each line begins and what it means; several where `or` joins conditions."""
    by_line: dict[int, list[str]] = {}
    left = MOST_WORDS
    for place, is_on, text in _told(checked):
        if place is None or not places.has(place[0]) or left < 0:
            continue
        words = one_line(text if is_on else f"switched off: {text}", LONGEST)
        by_line.setdefault(place[0], []).append(words)
        left -= len(words)
    for number, several in by_line.items():
        yield places.at(number), "; or ".join(several)[: 2 * LONGEST]


def _told(checked: Study) -> Iterator[tuple[Place | None, bool, str]]:
    """Every rule and statement: where it stands, whether it is on, and what it means."""
    for check in checked.checks:
        told = check.train.no_value if check.train else ""
        gaps = f" ({told})" if told else ""
        yield check.rule.place, check.rule.enabled, meaning(check.compiled) + gaps
    for each in checked.stated:
        yield each.statement.place, each.statement.enabled, each.meaning


def _problems(
    places: Places, errors: tuple[RuleError, ...], data: Dataset
) -> Iterator[dict[str, Any]]:
    left = MOST_WORDS
    for n, error in enumerate(errors):
        if left < 0 or not places.lines:
            return
        number = error.line if error.line is not None and places.has(error.line) else 1
        line = places.line(number)
        fixes = fixes_of(error, line, data) if n < MOST_MENDED and error.line is not None else []
        words = one_line(sentence(error), LONGEST)
        left -= len(words)
        start, end = span(line, error.column)
        yield {
            "line": places.at(number),
            "from": places.at(number, start + 1),
            "to": places.at(number, end + 1),
            "words": words,
            "fixes": [{"label": fix.label, "before": line, "after": fix.line} for fix in fixes],
        }


def span(line: str, column: int | None) -> tuple[int, int]:
    """The word at a column, to be underlined; the last sign where the line ends too early.

    >>> span("Glukose >= 1", 1), span("a >=", 5), span("a >= 1", None)
    ((0, 7), (3, 4), (0, 6))
    """
    if column is None:
        return 0, len(line)
    at = min(max(column - 1, 0), len(line))
    word = _WORD.search(line, at)
    if word is not None:
        return word.span()
    last = len(line.rstrip())
    return max(last - 1, 0), last


def sentence(error: RuleError) -> str:
    """The message without its place, which the editor shows by itself."""
    text = _PLACE.sub("", str(error))
    return text[:1].upper() + text[1:]
