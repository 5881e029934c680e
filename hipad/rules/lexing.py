"""The words of one line, by the terminals of `grammar.lark`.

lark's own lexer counts lines and makes a match of every blank, which is half of the time that
reading takes; a rule stands on one line, so its words come from a single sweep.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import Token
from lark.common import LexerConf
from lark.lexer import BasicLexer, Lexer

UNKNOWN = "UNKNOWN"
"""The kind of a character that begins no word; no rule of the grammar has a place for it."""

_NEXT_LINE = "_NEXT_LINE"  # declared in the grammar, found in no line


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
            for found in self._next_word.finditer(line):
                kind = found.lastgroup or UNKNOWN
                start = found.start(kind)
                words.append(Token(kind, found[kind], start, number, start + 1))
        return words
