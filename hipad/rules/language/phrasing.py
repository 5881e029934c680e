"""One line: a name, a premise, an outcome and a worth, in the orders that people use.

high: Glucose >= 126 => diabetic worth 20 patients
if Glucose >= 126 then diabetic
diabetic if Glucose >= 126
1) Glucose >= 126: diabetic
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hipad.rules.language.cursor import RELATION_KINDS, Cursor
from hipad.rules.language.expressions import plain_text
from hipad.rules.language.lexing import Vocabulary, Word, words_of
from hipad.rules.language.logic import alternatives
from hipad.rules.language.model import Condition
from hipad.rules.language.premises import read_premise
from hipad.rules.language.quantities import is_number, read_number
from hipad.rules.language.spelling import spoken

EXAMPLE: Final = "Glucose >= 126 => diabetic"

_VERBS: Final = (("implies",), ("means",), ("indicates",), ("predicts",), ("leads", "to"))
_WHEN: Final = (("if",), ("when",), ("whenever",), ("provided", "that"))
_PEOPLE: Final = ("patients", "people", "subjects", "anyone", "everyone", "those")
_PATIENTS: Final = frozenset(spoken("patient patients cases samples rows people subjects"))
_WORTHS: Final = (("worth",), ("counts", "for"), ("counts", "as"), ("counting", "for"))
_SPOKEN: Final = re.compile(r"\s++")


@dataclass(frozen=True)
class LineDraft:
    """What one line says, taken apart where it makes several rules."""

    conjunctions: tuple[tuple[Condition, ...], ...]
    outcome: str
    column: int
    name: str = ""
    worth: float | None = None
    enabled: bool = True
    note: str = ""


def read_line(body: str, vocabulary: Vocabulary | None = None) -> LineDraft:
    """Read one line; RuleError with its column if it cannot be read.

    >>> draft = read_line("diabetic if Glucose >= 126")
    >>> draft.outcome, str(draft.conjunctions[0][0])
    ('diabetic', 'Glucose >= 126')
    """
    cursor = Cursor(body, words_of(body, vocabulary), vocabulary)
    _skip_bullet(cursor)
    enabled = not _accept_off(cursor)
    name = _title(cursor)
    premise, outcome = _halves(cursor)
    _skip_people(premise)
    if premise.is_over:
        raise premise.error(f"write a condition first, as in {EXAMPLE}")
    column = premise.peek().column
    node = read_premise(premise)
    label, label_column, worth, note = _outcome(outcome)
    conjunctions = tuple(alternatives(node, column))
    return LineDraft(conjunctions, label, label_column, name, worth, enabled, note)


def _accept_off(cursor: Cursor) -> bool:
    if cursor.says("off") and cursor.peek(1).kind not in (*RELATION_KINDS, "COLON", "ARROW"):
        cursor.take()
        return True
    return False


def _skip_bullet(cursor: Cursor) -> None:
    """Step over the mark of a list: 1) or 1. or (1) or * or a dash with a blank after it."""
    first, second, third = cursor.peek(), cursor.peek(1), cursor.peek(2)
    blank = second.start > first.end
    starts = second.kind in ("NAME", "QUOTED", "NUMBER", "OPEN", "STRING", "BAR", "NOT")
    if first.kind == "TIMES" and blank:
        cursor.at = 1
    elif first.kind in ("NUMBER", "NAME") and second.kind == "CLOSE":
        cursor.at = 2
    elif first.kind == "NUMBER" and first.text.endswith(".") and blank and starts:
        cursor.at = 1
    elif first.kind == "OPEN" and second.kind in ("NUMBER", "NAME") and third.kind == "CLOSE":
        if len(second.text) <= 3 and cursor.peek(3).kind in ("NAME", "QUOTED", "STRING"):
            cursor.at = 3
    elif first.kind in ("MINUS", "NOTE") and blank and starts:
        _check_dash(cursor)
        cursor.at = 1


def _check_dash(cursor: Cursor) -> None:
    """A dash before a sum may be its sign: refuse to guess."""
    for word in cursor.words[1:]:
        if word.kind in RELATION_KINDS or word.kind == "ARROW" or word.low in ("and", "or", "if"):
            return
        if word.kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
            raise cursor.error(
                "a dash before a sum may be its sign or the mark of a list: write * for a list, or "
                "the sign without a blank after it"
            )


def _depth_zero(cursor: Cursor) -> list[int]:
    """Where the words stand that are in no bracket."""
    found, depth = [], 0
    for at in range(cursor.at, len(cursor.words)):
        kind = cursor.words[at].kind
        if kind == "CLOSE":
            depth -= 1
        elif depth == 0:
            found.append(at)
        depth += kind == "OPEN"
    return found


def _title(cursor: Cursor) -> str:
    """The name before a colon, if what follows is a rule."""
    places = _depth_zero(cursor)
    colon = next((at for at in places if cursor.words[at].kind == "COLON"), None)
    if colon is None or colon == cursor.at:
        return ""
    before = cursor.words[cursor.at : colon]
    if any(word.kind in RELATION_KINDS or word.kind in _SPLITS for word in before):
        return ""
    if any(word.low in ("of", "if") and word.kind == "NAME" for word in before):
        return ""
    later = [at for at in places if at > colon]
    if not any(_splits(cursor, at) for at in later):
        return ""
    after = cursor.words[colon + 1] if colon + 1 < len(cursor.words) else None
    if after is not None and after.start == cursor.words[colon].end and not _is_label(before):
        name, other = cursor.text(cursor.at, colon), after.text
        raise cursor.error(
            f"'{name}:{other}' can be a rule's name or a ratio: write {name}/{other} for the "
            "ratio, or a blank after the colon of a rule's name",
            cursor.words[colon],
        )
    text = plain_text(cursor.text(cursor.at, colon).strip())
    cursor.at = colon + 1
    return text


_SPLITS: Final = ("ARROW", "IFF", "BACK", "COMMA", "SEMICOLON")


def _is_label(before: list[Word]) -> bool:
    """Whether a name is plainly one of a rule: R1, rule 2, or between backticks."""
    if len(before) > 1 or before[0].kind == "QUOTED":
        return True
    return bool(re.fullmatch(r"(?:r|rule)_?\d+", before[0].low))


def _splits(cursor: Cursor, at: int) -> bool:
    word = cursor.words[at]
    if word.kind in ("ARROW", "IFF", "BACK", "COLON"):
        return True
    return word.kind == "NAME" and word.low in ("then", "implies", "if", "when", "means")


def _halves(cursor: Cursor) -> tuple[Cursor, Cursor]:
    """The words of the premise and those of the outcome."""
    start, end = cursor.at, len(cursor.words)
    places = _depth_zero(cursor)
    arrows = [at for at in places if cursor.words[at].kind == "ARROW"]
    _check_arrows(cursor, places, arrows)
    if arrows:
        first = _after_if(cursor, start)
        return cursor.part(first, arrows[0]), cursor.part(arrows[0] + 1, end)
    for at in places:
        if cursor.words[at].kind == "BACK":
            return cursor.part(at + 1, end), cursor.part(start, at)
    for at in places:
        cursor.at = at
        if cursor.says("then"):
            last = at - (cursor.words[at - 1].kind == "COMMA")
            return cursor.part(_after_if(cursor, start), last), cursor.part(at + 1, end)
        for words in _VERBS:
            if at > start and cursor.says(*words):
                return cursor.part(_after_if(cursor, start), at), cursor.part(at + len(words), end)
    return _halves_without_arrow(cursor, start, end, places)


def _halves_without_arrow(
    cursor: Cursor, start: int, end: int, places: list[int]
) -> tuple[Cursor, Cursor]:
    for at in places:
        cursor.at = at
        for words in _WHEN:
            if at > start and cursor.says(*words) and not cursor.says("unless", ahead=-1):
                return cursor.part(at + len(words), end), cursor.part(start, at)
    colons = [at for at in places if cursor.words[at].kind == "COLON" and at > start]
    first = _after_if(cursor, start)
    if colons:
        at = colons[-1]
        if _has_relation(cursor, at + 1, end) and not _has_relation(cursor, start, at):
            return cursor.part(at + 1, end), cursor.part(start, at)
        return cursor.part(first, at), cursor.part(at + 1, end)
    if (people := _people_are(cursor, start, end, places)) is not None:
        return people
    commas = [at for at in places if cursor.words[at].kind == "COMMA"]
    if first > start and commas and not _has_relation(cursor, commas[-1], end):
        return cursor.part(first, commas[-1]), cursor.part(commas[-1] + 1, end)
    cursor.at = end
    raise cursor.error(
        f"the rule has no outcome: write '=>' and a class at its end, as in {EXAMPLE}"
    )


def _people_are(
    cursor: Cursor, start: int, end: int, places: list[int]
) -> tuple[Cursor, Cursor] | None:
    """`patients with Glucose >= 126 are diabetic`."""
    cursor.at = start
    cursor.accept_words("all")
    if not any(cursor.says(word) for word in _PEOPLE):
        return None
    verbs = [
        at for at in places if cursor.words[at].low in ("are", "is", "have") and at > start + 1
    ]
    if not verbs or _has_relation(cursor, verbs[-1] + 1, end):
        return None
    return cursor.part(start, verbs[-1]), cursor.part(verbs[-1] + 1, end)


def _after_if(cursor: Cursor, start: int) -> int:
    at, cursor.at = cursor.at, start
    for words in _WHEN:
        if cursor.says(*words):
            start += len(words)
            break
    cursor.at = at
    return start


def _has_relation(cursor: Cursor, first: int, last: int) -> bool:
    part = cursor.part(first, last)
    while not part.is_over:
        if part.relation() is not None or part.says("between") or part.says("in"):
            return True
        part.take()
    return False


def _check_arrows(cursor: Cursor, places: list[int], arrows: list[int]) -> None:
    for at in places:
        if cursor.words[at].kind == "IFF":
            raise cursor.error(
                "a rule speaks in one direction: write one rule with => for each, the second with "
                "the opposite condition and the other class",
                cursor.words[at],
            )
        if cursor.words[at].kind == "DEFINE":
            raise cursor.error("write '=>' before the outcome, in place of ':='", cursor.words[at])
    if len(arrows) < 2:
        return
    between = cursor.words[arrows[0] : arrows[1]]
    if any(word.kind in ("SEMICOLON", "COMMA") for word in between):
        raise cursor.error("write one rule per line", cursor.words[arrows[1]])
    raise cursor.error(
        "a rule has one '=>': to compare, write >= in place of =>", cursor.words[arrows[1]]
    )


def _skip_people(cursor: Cursor) -> None:
    """Step over `patients with`."""
    start = cursor.at
    cursor.accept_words("all")
    if any(cursor.accept_words(word) for word in _PEOPLE) and (
        cursor.accept_words("with")
        or cursor.accept_words("whose")
        or cursor.accept_words("who", "have")
        or cursor.accept_words("having")
    ):
        return
    cursor.at = start


def _outcome(cursor: Cursor) -> tuple[str, int, float | None, str]:
    """The class label, its column, the worth and a note after two dashes."""
    note = ""
    for at, word in enumerate(cursor.words):
        if word.kind == "NOTE" and at:
            note = cursor.line[word.end :].strip()
            cursor = cursor.part(0, at)
            break
    start = cursor.peek()
    worth_at = _worth_at(cursor)
    worth = _worth(cursor, worth_at) if worth_at is not None else None
    end = len(cursor.words) if worth_at is None else _before_worth(cursor, worth_at)
    label = _label(cursor.part(0, end))
    return label, start.column, worth, note


def _label(cursor: Cursor) -> str:
    if cursor.words and cursor.words[-1].kind == "DOT":
        cursor = cursor.part(0, len(cursor.words) - 1)
    if not cursor.words:
        raise cursor.error("write the class label after '=>', as in => diabetic")
    first = cursor.words[0]
    if first.kind in ("STRING", "QUOTED") and len(cursor.words) == 1:
        text = plain_text(first.text)
        if not text.strip():
            raise cursor.error("the outcome is empty: write a class label", first)
        return text
    for word in cursor.words:
        _check_label(cursor, word)
    return _SPOKEN.sub(" ", cursor.text(0, len(cursor.words))).replace("−", "-")


def _check_label(cursor: Cursor, word: Word) -> None:
    text = word.low if word.kind == "NAME" else ""
    if word.kind in ("SEMICOLON", "COMMA"):
        raise cursor.error(
            "write one rule per line, a worth as in worth 20 patients, and a note after #", word
        )
    if text in ("otherwise", "else"):
        raise cursor.error(
            f"'{word.text}' is a second rule: write it on a line of its own, with the opposite "
            "condition",
            word,
        )
    if word is cursor.words[0]:
        return
    if word.kind in RELATION_KINDS or word.kind == "STRING":
        raise cursor.error('put a class label with signs between quotes, as in => "BCR/ABL"', word)
    if text in ("and", "or") or word.kind in ("AND", "OR"):
        raise cursor.error("a rule has one outcome: write a second rule on a line of its own", word)
    if text in ("weight", "weighted", "with", "probability", "count", "counts", "value"):
        raise cursor.error(
            "say what the rule counts for, as in worth 20 patients, or put the label in quotes",
            word,
        )


def _worth_at(cursor: Cursor) -> int | None:
    for at in range(len(cursor.words)):
        cursor.at = at
        if any(cursor.says(*words) for words in _WORTHS):
            cursor.at = 0
            return at
    cursor.at = 0
    return None


def _before_worth(cursor: Cursor, at: int) -> int:
    """Where the label ends, without commas, brackets and words that lead to the worth."""
    while at > 0:
        word = cursor.words[at - 1]
        lead = word.kind == "NAME" and word.low in ("with", "a", "and", "is", "at") and at > 1
        if not lead and word.kind not in ("COMMA", "OPEN", "SEMICOLON", "MINUS"):
            break
        at -= 1
    return at


def _worth(cursor: Cursor, at: int) -> float:
    cursor.at = at
    word = cursor.take()
    if word.low != "worth":
        cursor.take()
    for filler in ("of", "about", "as", "much"):
        cursor.accept_words(filler)
    cursor.accept("COLON", "EQ")
    minus = cursor.accept("MINUS") is not None
    if not is_number(cursor):
        raise cursor.error("write the worth as a number of patients, as in worth 20 patients", word)
    number = read_number(cursor)
    if minus and number:
        raise cursor.error(
            f"a rule cannot be worth -{number:g} patients: write 0 or more, or the other outcome",
            word,
        )
    if cursor.peek().kind == "NAME" and cursor.peek().low in _PATIENTS:
        cursor.take()
    cursor.accept_words("each")
    cursor.accept("CLOSE")
    cursor.accept("DOT")
    if not cursor.is_over:
        raise cursor.error(
            "write the worth as a number of patients, as in worth 20 patients, and a note after #"
        )
    cursor.at = 0
    return number
