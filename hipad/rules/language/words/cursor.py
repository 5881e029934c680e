"""A place in the words of a line: what comes next, and what stands there."""

from __future__ import annotations

from typing import Any, Final

from hipad.errors import RuleError
from hipad.rules.language.bounds import DEEPEST_WORDS, too_deep
from hipad.rules.language.spelling import RESERVED, rule_error
from hipad.rules.language.words.lexing import Vocabulary, Word
from hipad.rules.language.words.phrases import FIRST_WORDS, LONGEST_PHRASE, PHRASES

END: Final = "END"
RELATION_KINDS: Final = {"GE": ">=", "LE": "<=", "GT": ">", "LT": "<", "EQ": "=", "NE": "!="}


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
        self.unit = ""  # in brackets after the feature, for numbers without one
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
        """The word so many places ahead; at the end a word of kind END."""
        at = self.at + ahead
        return self.words[at] if at < len(self.words) else self._end

    def take(self) -> Word:
        """The next word, which is stepped over."""
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
        """Whether no word is left."""
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
        if first.low not in FIRST_WORDS:
            return None
        said = []
        for k in range(LONGEST_PHRASE):
            word = self.peek(ahead + k)
            if not word.low:
                break
            said.append(word.low)
        for n in range(len(said), 0, -1):
            if sign := PHRASES.get(tuple(said[:n])):
                return sign, n
        return None
