"""Numbers and names as words on a page."""

from __future__ import annotations

import re
from typing import Final

MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&=])")


def plain(name: object, longest: int = 60) -> str:
    r"""A name from the user's data, safe inside Markdown: shown as it is, never as markup.

    >>> plain("*p* $x$ <b>")
    '\\*p\\* \\$x\\$ \\<b\\>'
    """
    text = " ".join(str(name).split())
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return MARKUP.sub(r"\\\1", text)


def count(n: int, noun: str, plural: str = "") -> str:
    """`1 row`, `3,000 rows`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def percent(share: float, digits: int = 1) -> str:
    """`87.5 %`."""
    return f"{100 * share:.{digits}f} %"


def number(value: float, digits: int = 4) -> str:
    """A number with this many significant digits, without noise behind them."""
    return f"{value:.{digits}g}"


def listing(names: list[str], most: int = 5) -> str:
    """The first few names, safe inside Markdown, and how many more there are."""
    shown = ", ".join(plain(name) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
