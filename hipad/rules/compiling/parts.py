"""The parts of a list of names: separated by commas, with names in backticks and /expressions/.

Every function here reads its text once: no pattern in it can be made to go back over what it has
read, whatever a user writes.
"""

from __future__ import annotations

import re

from hipad.rules.language.spelling import read_quoted, rule_error

_EXPRESSION = re.compile(r"/(?:\\.|[^/\\])++/(?=\s*+(?:[,;]|$))")
_PIECE = re.compile(r"`(?:[^`]++|``)++`|[^,;`]++")
_ENDS = re.compile(r"(`(?:[^`]++|``)++`|[^`:]++)\s*+:\s*+(`(?:[^`]++|``)++`|[^`:]++)")


def split_parts(line: str) -> list[str]:
    """The parts of a line, without the commas or semicolons between them.

    >>> split_parts("JAK*, `a,b`; /^x{2,3}$/, ,")
    ['JAK*', '`a,b`', '/^x{2,3}$/']
    """
    parts, at = [], 0
    while at < len(line):
        start = at = _past_blanks(line, at)
        if expression := _EXPRESSION.match(line, at):
            at = _past_blanks(line, expression.end())
        while piece := _PIECE.match(line, at):
            at = piece.end()
        if line[at : at + 1] == "`":
            raise rule_error(f"the name {line[at : at + 20]} has no end: close it with a backtick")
        if part := line[start:at].strip():
            parts.append(part)
        at += 1
    return parts


def _past_blanks(line: str, at: int) -> int:
    while at < len(line) and line[at].isspace():
        at += 1
    return at


def range_ends(part: str) -> tuple[str, str] | None:
    """The two names of a range such as x101:x150, or None."""
    ends = _ENDS.fullmatch(part)
    return None if ends is None else (plain_name(ends[1]), plain_name(ends[2]))


def plain_name(part: str) -> str:
    """A name without the backticks that it may stand in."""
    part = part.strip()
    return read_quoted(part) if len(part) > 2 and part[0] == part[-1] == "`" else part
