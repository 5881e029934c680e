"""The words of one line, by the terminals of `grammar.lark`.

lark's own lexer counts lines and makes a match of every blank, which is half of the time that
reading takes; a rule stands on one line, so its words come from a single sweep.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lark import Token
from lark.common import LexerConf
from lark.lexer import BasicLexer, Lexer

from hipad.rules.language.bounds import (
    DEEPEST,
    LONGEST_RULE,
    MOST_SIGNS,
    rule_too_long,
    too_deep,
    too_many_signs,
)

UNKNOWN = "UNKNOWN"
"""The kind of a character that begins no word; no rule of the grammar has a place for it."""

_NEXT_LINE = "_NEXT_LINE"  # declared in the grammar, found in no line
_SIGNS = {"SIGN", "TIMES", "DIVIDED"}


class LineLexer(Lexer):
    """Finds the words that lark's basic lexer finds, in the same order of precedence."""

    def __init__(self, conf: LexerConf) -> None:
        words = [
            f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})"
            for terminal in BasicLexer(conf).terminals
            if terminal.name not in conf.ignore
        ]
        self._next_word = re.compile(rf"\s*+(?:{'|'.join(words)}|(?P<{UNKNOWN}>\S))")

    def lex(self, lines: Iterable[str]) -> list[Token]:  # type: ignore[override]
        """The words of all lines, each with its column, and a word between two lines."""
        words: list[Token] = []
        for number, line in enumerate(lines, 1):
            if number > 1:
                words.append(Token(_NEXT_LINE, "\n"))
            words += self._words(line, number)
        return words

    def _words(self, line: str, number: int) -> Iterator[Token]:
        """The words of a line, up to one that makes no sense: nothing is read beyond it."""
        line = line.rstrip()  # blanks at the end would be tried one by one
        if len(line) > LONGEST_RULE:
            raise rule_too_long(len(line))
        depth = signs = 0
        for found in self._next_word.finditer(line):
            kind = found.lastgroup or UNKNOWN
            start = found.start(kind)
            yield Token(kind, found[kind], start, number, start + 1)
            if kind == UNKNOWN:
                return
            depth += (kind == "LPAR") - (kind == "RPAR")
            signs += kind in _SIGNS
            if depth > DEEPEST:
                raise too_deep(start + 1)
            if signs > MOST_SIGNS:
                raise too_many_signs(start + 1)
