"""Where a line falls into premise and outcome: at an arrow, a verb, if, a colon or a comma."""

from __future__ import annotations

from typing import Final

from hipad.rules.language.words.cursor import Cursor

EXAMPLE: Final = "Glucose >= 126 => diabetic"
_VERBS: Final = (("implies",), ("means",), ("indicates",), ("predicts",), ("leads", "to"))
_WHEN: Final = (("if",), ("when",), ("whenever",), ("provided", "that"))
PEOPLE: Final = ("patients", "people", "subjects", "anyone", "everyone", "those")


def outside_brackets(cursor: Cursor) -> list[int]:
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


def read_halves(cursor: Cursor) -> tuple[Cursor, Cursor]:
    """The words of the premise and those of the outcome."""
    start, end = cursor.at, len(cursor.words)
    places = outside_brackets(cursor)
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
    if not any(cursor.says(word) for word in PEOPLE):
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
