"""A place in the words of a line, and the phrases that stand for signs: `is at least`."""

from __future__ import annotations

from typing import Any, Final

from hipad.errors import RuleError
from hipad.rules.language.bounds import DEEPEST_WORDS, too_deep
from hipad.rules.language.spelling import RESERVED, rule_error
from hipad.rules.language.words.lexing import Vocabulary, Word

END: Final = "END"
RELATION_KINDS: Final = {"GE": ">=", "LE": "<=", "GT": ">", "LT": "<", "EQ": "=", "NE": "!="}
COUNT_WORDS: Final = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        range(1, 11),
        strict=True,
    )
)

_THAN: Final = {
    ">": "greater more higher larger bigger older above over",
    "<": "less lower smaller fewer younger below under",
}


def _phrases() -> dict[tuple[str, ...], str]:
    """Every phrase that compares, without a leading is, and the sign it stands for."""
    found: dict[tuple[str, ...], str] = {
        ("at", "least"): ">=",
        ("at", "most"): "<=",
        ("at", "or", "above"): ">=",
        ("at", "or", "below"): "<=",
        ("at", "or", "over"): ">=",
        ("at", "or", "under"): "<=",
        ("not", "below"): ">=",
        ("not", "under"): ">=",
        ("not", "above"): "<=",
        ("not", "over"): "<=",
        ("above",): ">",
        ("over",): ">",
        ("beyond",): ">",
        ("exceeds",): ">",
        ("exceed",): ">",
        ("exceeding",): ">",
        ("below",): "<",
        ("under",): "<",
        ("reaches",): ">=",
        ("up", "to"): "<=",
        ("equals",): "=",
        ("equal",): "=",
        ("equal", "to"): "=",
        ("not", "equal", "to"): "!=",
        ("differs", "from"): "!=",
        ("does", "not", "exceed"): "<=",
        ("do", "not", "exceed"): "<=",
        ("doesn't", "exceed"): "<=",
        ("is",): "=",
        ("are",): "=",
        ("is", "not"): "!=",
        ("are", "not"): "!=",
        ("isn't",): "!=",
        ("aren't",): "!=",
    }
    for sign, words in _THAN.items():
        for word in words.split():
            found[word, "than"] = sign
            found[word, "or", "equal"] = found[word, "or", "equal", "to"] = sign + "="
            found[word, "than", "or", "equal"] = sign + "="
            found[word, "than", "or", "equal", "to"] = sign + "="
            other = "<=" if sign == ">" else ">="
            found["no", word, "than"] = found["not", word, "than"] = other
    for phrase, sign in list(found.items()):
        if phrase[0] not in ("is", "are", "isn't", "aren't", "does", "do", "doesn't", "exceeds"):
            found["is", *phrase] = found["are", *phrase] = sign
    return found


PHRASES: Final = _phrases()
_LONGEST: Final = max(map(len, PHRASES))
_FIRST: Final = frozenset(words[0] for words in PHRASES)
AFTER_NUMBER: Final = {
    (join, word): sign
    for join in ("or", "and")
    for sign, words in (
        (">=", "more higher above over greater older up larger"),
        ("<=", "less lower below under fewer younger down smaller"),
    )
    for word in words.split()
}


class Cursor:
    """Walks over words; every mistake it reports has its column."""

    def __init__(self, line: str, words: list[Word], vocabulary: Vocabulary | None = None) -> None:
        self.line = line
        self.words = words
        self.at = 0
        self.vocabulary = vocabulary
        self.subject: Any = None  # the last side that was compared, for "a >= 2 or <= -3"
        self.asked = ""  # the sign it was compared with
        self.implied: Word | None = None  # the last name after a number, with a blank between them
        self.depth = 0  # of words and brackets inside each other
        self.own: str | None = None  # whose mean, median and sd are meant where nothing is said
        self._end = Word(END, "", len(line.rstrip()), len(line.rstrip()))

    def part(self, first: int, last: int) -> Cursor:
        """A cursor over some of the words."""
        other = Cursor(self.line, self.words[first:last], self.vocabulary)
        other.subject, other.asked, other.depth = self.subject, self.asked, self.depth
        if last < len(self.words):
            start = self.words[last].start
            other._end = Word(END, self.words[last].text, start, start)
        return other

    def peek(self, ahead: int = 0) -> Word:
        at = self.at + ahead
        return self.words[at] if at < len(self.words) else self._end

    def take(self) -> Word:
        word = self.peek()
        self.at += 1
        return word

    def accept(self, *kinds: str) -> Word | None:
        """The next word if it is of one of these kinds, else None."""
        return self.take() if self.peek().kind in kinds else None

    def says(self, *texts: str, ahead: int = 0) -> bool:
        """Whether the next words are these, in any case and not quoted."""
        return all(self.peek(k).low == text for k, text in enumerate(texts, ahead))

    def accept_words(self, *texts: str) -> bool:
        """Step over these words if they come next."""
        if self.peek().low != texts[0] or not self.says(*texts):
            return False
        self.at += len(texts)
        return True

    def deeper(self) -> None:
        """One step further in; RuleError if it goes too deep to be meant."""
        self.depth += 1
        if self.depth > DEEPEST_WORDS:
            raise too_deep(self.peek().column)

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.words)

    def text(self, first: int, last: int | None = None) -> str:
        """What the user wrote from one word up to another."""
        words = self.words[first : self.at if last is None else last]
        return self.line[words[0].start : words[-1].end] if words else ""

    def error(self, message: str, word: Word | None = None, *, remedy: str = "") -> RuleError:
        """An error at a word, or at the next one."""
        return rule_error(message, column=(word or self.peek()).column, suggestion=remedy or None)

    def is_name(self, ahead: int = 0) -> bool:
        """Whether a word that may be part of a name comes next."""
        word = self.peek(ahead)
        return word.kind in ("QUOTED", "STRING") or (
            word.kind == "NAME" and word.low not in RESERVED
        )

    def relation(self) -> tuple[str, int] | None:
        """The sign that comes next, as such or in words, and how many words it takes."""
        word = self.peek()
        if word.kind in RELATION_KINDS:
            return RELATION_KINDS[word.kind], 1
        return self.phrase()

    def phrase(self, ahead: int = 0) -> tuple[str, int] | None:
        """The sign that the next words stand for, the longest phrase first."""
        first = self.peek(ahead)
        if first.low not in _FIRST:
            return None
        said = []
        for k in range(_LONGEST):
            word = self.peek(ahead + k)
            if not word.low:
                break
            said.append(word.low)
        for n in range(len(said), 0, -1):
            if sign := PHRASES.get(tuple(said[:n])):
                return sign, n
        return None
