"""Names from the user's data as words on a page, never taken for markup."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

from hipad.wording import listed

MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&=@])")
# Markdown makes links of addresses even where every sign of them is escaped: a sign that has no
# width, after each of these, keeps them apart.
ADDRESS: Final = re.compile(r"(https?|ftps?|mailto|xmpp|www|@)(?=[:.\w])", re.IGNORECASE)
JOINER: Final = "\u2060"
UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn")  # control, direction and half characters


def plain(name: object, longest: int = 60) -> str:
    r"""A name from the user's data, safe inside Markdown: shown as it is, never as markup.

    >>> plain("*p* $x$ <b>")
    '\\*p\\* \\$x\\$ \\<b\\>'
    """
    text = one_line(name, longest)
    return MARKUP.sub(r"\\\1", ADDRESS.sub(rf"\1{JOINER}", text))


def one_line(name: object, longest: int) -> str:
    """A name cut to size, without line ends and other signs that are not seen."""
    seen = "".join(" " if category(c) in UNSEEN else c for c in str(name)[: 4 * longest])
    text = " ".join(seen.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listing(names: list[str], most: int = 5) -> str:
    """The first few names, safe inside Markdown, and how many more there are."""
    return listed(names, limit=most, spell=plain)
