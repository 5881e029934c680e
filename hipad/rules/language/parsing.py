"""Text to rules and statements: one per line, or over several where a line plainly goes on.

Every mistake becomes a RuleError that names its line and column and says what to write.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass, replace
from threading import RLock
from typing import Final
from weakref import WeakKeyDictionary

from hipad.errors import RuleError
from hipad.rules.language.bounds import MOST_RULES, text_error, too_many_rules
from hipad.rules.language.line.phrasing import LineDraft, read_line
from hipad.rules.language.model import Rule, RuleSet
from hipad.rules.language.spelling import on_line, plain_line, rule_error
from hipad.rules.language.statements import Statement, read_statement
from hipad.rules.language.words.lexing import Vocabulary

REMEMBERED: Final = 6  # texts: the page asks many times for the rules before and after an edit
MOST_LINES: Final = 60  # of one rule
_ONE_AT_A_TIME: Final = RLock()
_CLOSING = {"`": "`", '"': '"', "'": "'", "“": "”"}
_GOES_ON = re.compile(
    r"(?:\b(?:and|or|not|unless|if|then|but|of|when|either|both|implies)|[-,+*/&|(\[{<>=≥≤→⇒⟹∧∨:])$",
    re.IGNORECASE,
)
_BEGINS_LATE = re.compile(
    r"\s*+(?:(?:and|or|but|unless|then|implies)\b(?!\s*+[<>=≥≤:])|=>|->|[→⇒⟹∧∨&|])", re.IGNORECASE
)
_WORTH = re.compile(r"\s*+[(,]?\s*+worth\b", re.IGNORECASE)
_HAS_ARROW = re.compile(r"={1,3}>|-{1,2}>|[⇒⟹→⟶]|\b(?:then|implies)\b|\S\s+(?:if|when)\s",
                        re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class RulesText:
    """The rules on the lines that can be read, and every mistake, at most one per line."""

    rules: RuleSet
    errors: tuple[RuleError, ...] = ()


@dataclass(frozen=True)
class _Lines:
    """Some lines that say one thing: their text without notes, and where each begins in it."""

    number: int
    body: str
    note: str | None
    starts: tuple[int, ...] = (0,)

    def placed(self, error: RuleError) -> RuleError:
        """The error with its line, at the beginning if no column is known."""
        if error.line is not None:
            return error
        column = (error.column or 1) - 1
        k = max(k for k, start in enumerate(self.starts) if start <= column or k == 0)
        place = (self.number + k, max(column - self.starts[k] + 1, 1))
        found = rule_error(str(error), place, expected=error.expected, suggestion=error.suggestion)
        return on_line(found, place[0])


def parse_rules(text: str, vocabulary: Vocabulary | None = None) -> RuleSet:
    """Read rules, one per line; raise RuleError at the first mistake.

    >>> rules = parse_rules("high: mean(K1) >= 4 => positive  # seen in two trials")
    >>> rules[0].name, rules[0].outcome, rules[0].note
    ('high', 'positive', 'seen in two trials')
    >>> print(parse_rules("a > 1 or b <= 2 => 'not ill'"))
    a > 1 => "not ill"
    b <= 2 => "not ill"
    """
    found = read_rules(text, vocabulary)
    if found.errors:
        raise copy(found.errors[0])  # what is remembered must not collect tracebacks
    return found.rules


def rule_errors(text: str, vocabulary: Vocabulary | None = None) -> list[RuleError]:
    """Every mistake in the text, at most one per line: what an editor underlines."""
    return list(read_rules(text, vocabulary).errors)


def read_rules(text: str, vocabulary: Vocabulary | None = None) -> RulesText:
    """Read whatever can be read. The last few texts are remembered: each is parsed once,
    also where two threads ask at the same moment. With a vocabulary, the names are known, and its
    texts are remembered as long as it lives, whatever is read with others meanwhile.

    >>> found = read_rules("a >= => yes\\nb >= 2 => no")
    >>> found.rules.labels, [error.line for error in found.errors]
    (('rule 2',), [1])
    """
    with _ONE_AT_A_TIME:
        known = _BY_ITSELF if vocabulary is None else _WITH_NAMES.setdefault(vocabulary, {})
        found = known.pop(text) if text in known else _read(text, vocabulary)
        known[text] = found  # the last one that was asked for stands last
        if len(known) > REMEMBERED:
            del known[next(iter(known))]
        return found


def _read(text: str, vocabulary: Vocabulary | None) -> RulesText:
    """What the text says."""
    if error := text_error(text):
        return RulesText(RuleSet(), (error,))
    lines = _joined(text)
    if (number := sum(bool(each.body.strip()) for each in lines)) > MOST_RULES:
        return RulesText(RuleSet(), (too_many_rules(number),))
    reading = _Reading(vocabulary)
    for each in lines:
        reading.read(each)
    return reading.result()


# By vocabulary, which may hold all training rows and is not kept alive: texts and what they say.
_WITH_NAMES: Final[WeakKeyDictionary[Vocabulary, dict[str, RulesText]]] = WeakKeyDictionary()
_BY_ITSELF: Final[dict[str, RulesText]] = {}


class _Reading:
    """What was read so far."""

    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self.vocabulary = vocabulary
        self.rules: list[Rule] = []
        self.statements: list[Statement] = []
        self.errors: list[RuleError] = []
        self.comments: list[str] = []
        self.names: dict[str, int] = {}

    def read(self, lines: _Lines) -> None:
        """Take in one line, or a few that belong together."""
        if not lines.body.strip():
            if lines.note is not None:
                self.comments.append(lines.note.strip())
            return
        try:
            self._read(lines)
        except RuleError as error:
            self.errors.append(lines.placed(error))

    def _read(self, lines: _Lines) -> None:
        note, preface = lines.note or "", tuple(self.comments)
        statement = read_statement(lines.body)
        if statement is not None:
            after, place = len(self.rules), (lines.number, 1)
            self.statements.append(
                replace(statement, note=note, preface=preface, after=after, place=place)
            )
        else:
            draft = read_line(lines.body, self.vocabulary)
            found = _rules(draft, lines, preface)
            self._claim_names(found, lines.number)
            if len(self.rules) + len(found) > MOST_RULES:
                raise too_many_rules(len(self.rules) + len(found), lines.number)
            self.rules += found
        self.comments = []

    def _claim_names(self, found: list[Rule], number: int) -> None:
        for rule in found:
            if rule.name and self.names.setdefault(rule.name, number) != number:
                raise rule_error(
                    f"the rule name '{rule.name}' already stands on line {self.names[rule.name]}: "
                    "give each rule a name of its own",
                    column=1,
                )

    def result(self) -> RulesText:
        rules = RuleSet(
            tuple(self.rules), tuple(self.comments), tuple(self.statements), from_text=True
        )
        return RulesText(rules, tuple(self.errors))


def split_note(line: str) -> tuple[str, str | None]:
    """A line's rule and its note; None if no `#` stands outside quotes and backticks."""
    last = {mark: line.rfind(closing) for mark, closing in _CLOSING.items()}
    at = 0
    while at < len(line) and "#" in line:
        sign = line[at]
        if sign == "#":
            return line[:at], line[at + 1 :]
        if at < last.get(sign, -1):
            at = line.index(_CLOSING[sign], at + 1)
        at += 1
    return line, None


def _joined(text: str) -> list[_Lines]:
    """The lines of a text, those joined that say one thing together."""
    found: list[_Lines] = []
    for number, line in enumerate(text.splitlines(), 1):
        body, note = split_note(line)
        body = plain_line(body)
        before = found[-1] if found else None
        follows = before is not None and before.number + len(before.starts) == number
        if before is not None and follows and body.strip() and _continues(before, body):
            found[-1] = _longer(before, body, note)
        else:
            found.append(_Lines(number, body, note))
    return found


def _continues(before: _Lines, body: str) -> bool:
    """Whether a line goes on with what the lines before it say."""
    start = before.body.rstrip()
    if not start or len(before.starts) >= MOST_LINES:
        return False
    has_arrow = bool(_HAS_ARROW.search(start))
    if _WORTH.match(body):
        return has_arrow and not re.search(r"\bworth\b", start, re.IGNORECASE)
    if has_arrow:
        return bool(re.search(r"(?:=>|->|[→⇒⟹]|\bthen|\bif|\bwhen)$", start, re.IGNORECASE))
    if _BEGINS_LATE.match(body) or _GOES_ON.search(start):
        return True
    return start.count("(") > start.count(")")


def _longer(before: _Lines, body: str, note: str | None) -> _Lines:
    notes = [each.strip() for each in (before.note, note) if each and each.strip()]
    start = len(before.body) + 1
    return _Lines(
        before.number,
        f"{before.body} {body}",
        "; ".join(notes) if notes else None,
        (*before.starts, start),
    )


def parse_line(
    body: str, number: int = 1, note: str = "", vocabulary: Vocabulary | None = None
) -> list[Rule]:
    """The rules of one line: several where conditions are joined by `or`."""
    body = plain_line(body)
    lines = _Lines(number, body, note)
    try:
        return _rules(read_line(body, vocabulary), lines, ())
    except RuleError as error:
        raise lines.placed(error) from None


def _rules(draft: LineDraft, lines: _Lines, preface: tuple[str, ...]) -> list[Rule]:
    """The rules of a draft; they share its worth, and the first bears the preface."""
    many = len(draft.conjunctions)
    worth = None if draft.worth is None else draft.worth / many
    note = "; ".join(filter(None, [draft.note, (lines.note or "").strip()]))
    return [
        Rule(
            conditions,
            draft.outcome,
            f"{draft.name}_{position}" if draft.name and many > 1 else draft.name,
            worth,
            note,
            draft.enabled,
            preface if position == 1 else (),
            place=(lines.number, draft.column),
            n_lines=len(lines.starts),
        )
        for position, conditions in enumerate(draft.conjunctions, 1)
    ]
