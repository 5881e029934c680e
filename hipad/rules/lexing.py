"""The words of one line, by the terminals of `grammar.lark`.

lark's own lexer counts lines and makes a match of every blank, which is half of the time that
reading takes; a rule stands on one line, so its words come from a single sweep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token
from lark.common import LexerConf
from lark.exceptions import UnexpectedCharacters
from lark.lexer import BasicLexer, Lexer

_UNKNOWN = "UNKNOWN"


class LineLexer(Lexer):
    """Finds the words that lark's basic lexer finds, in the same order of precedence."""

    def __init__(self, conf: LexerConf) -> None:
        words = [
            f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})"
            for terminal in BasicLexer(conf).terminals
            if terminal.name not in conf.ignore
        ]
        self._next_word = re.compile(rf"\s*+(?:{'|'.join(words)}|(?P<{_UNKNOWN}>\S))")

    def lex(self, text: str) -> Iterator[Token]:  # type: ignore[override]
        """The words of the line; UnexpectedCharacters where none begins."""
        for found in self._next_word.finditer(text):
            kind = found.lastgroup or _UNKNOWN
            start = found.start(kind)
            if kind == _UNKNOWN:
                raise UnexpectedCharacters(text, start, 1, start + 1)
            yield Token(kind, found[kind], start, 1, start + 1)
