"""Names that a text cannot hold as one word, such as IL-6, told by how they begin."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from hipad.rules.language.spelling import RESERVED, plain_signs

_PLAIN = re.compile(r"[^\W\d][\w]*")
_LETTER = re.compile(r"[^\W\d_]")
_DASHES = str.maketrans("–—−", "---")
_CHUNK = re.compile(r"\w+|\W")


class OddNames(NamedTuple):
    """Names in small letters that begin alike, and their lengths from the longest on."""

    names: set[str]
    lengths: list[int]


def odd_by_beginning(names: Iterable[str]) -> dict[str, OddNames]:
    """Names with blanks or signs, by their first word or sign; what is all digits is none."""
    found: dict[str, set[str]] = {}
    for name in names:
        name = name if name.isascii() else plain_signs(name).translate(_DASHES)
        if _PLAIN.fullmatch(name) or name.lower() in RESERVED or not _LETTER.search(name):
            continue
        first = _CHUNK.match(name)
        if first is not None and not name[0].isspace():
            found.setdefault(first[0].lower(), set()).add(name.lower())
    return {
        first: OddNames(alike, sorted({len(name) for name in alike}, reverse=True))
        for first, alike in found.items()
    }
