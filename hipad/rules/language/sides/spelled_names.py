"""Names of features as they stand in a line: alone, of several words, quoted or in brackets."""

from __future__ import annotations

from typing import Final

from hipad.rules.language.spelling import read_quoted, spoken
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Word

_LINKS: Final = ("of", "the", "than", "as")
NO_NAME: Final = frozenset({"worth", "patients"})
_STOPS: Final = NO_NAME | frozenset(
    spoken("from to of times lies ranges exactly than with as top ratio")
)


def plain_text(text: str) -> str:
    """A name without the marks that it stands in."""
    if len(text) > 2 and text[0] in "`\"'" and text[-1] == text[0]:
        return read_quoted(text)
    if len(text) > 2 and text[0] + text[-1] in ("“”", "«»", "„“", "„”", "‘’"):
        return text[1:-1].strip()
    return text


def read_name(cursor: Cursor) -> str:
    """The name that comes next, of several words where these stand together."""
    first = cursor.peek()
    if first.kind in ("QUOTED", "STRING"):
        name = plain_text(cursor.take().text)
        if not name.strip():
            raise cursor.error("the name is empty: write it between backticks", first)
        return name
    count = 1
    while cursor.is_name(count) and cursor.peek(count).kind == "NAME":
        if cursor.phrase(count) is not None or cursor.peek(count).low in _STOPS:
            break
        count += 1
    if cursor.vocabulary is not None:
        count = _known_words(cursor, count)
    name = " ".join(word.text for word in cursor.words[cursor.at : cursor.at + count])
    cursor.at += count
    return name


def _known_words(cursor: Cursor, count: int) -> int:
    """How many of the words make the longest known name; all of them if none does."""
    assert cursor.vocabulary is not None
    words = [word.text for word in cursor.words[cursor.at : cursor.at + count]]
    for n in range(min(count, 8), 0, -1):
        if cursor.vocabulary.is_name(" ".join(words[:n])):
            return n
    return count


def bracketed_name(cursor: Cursor, opening: Word) -> str | None:
    """The name between square brackets, as [blood pressure]."""
    closing = next(
        (k for k in range(cursor.at, len(cursor.words)) if cursor.words[k].kind == "CLOSE"), None
    )
    if closing is None or not all(
        word.kind in ("NAME", "QUOTED", "STRING", "NUMBER", "MINUS")
        for word in cursor.words[cursor.at : closing]
    ):
        return None
    inside = cursor.line[opening.end : cursor.words[closing].start].strip()
    cursor.at = closing + 1
    return plain_text(inside) if inside else None


def names_follow(cursor: Cursor, ahead: int) -> bool:
    """Whether a name, or a bracket, stands so many words ahead."""
    word = cursor.peek(ahead)
    return cursor.is_name(ahead) or (word.kind == "OPEN" and word.text == "(")


def skip_links(cursor: Cursor) -> None:
    """Step over small words before a name, as of and the."""
    while cursor.peek().kind == "NAME" and cursor.peek().low in _LINKS and names_follow(cursor, 1):
        cursor.take()
