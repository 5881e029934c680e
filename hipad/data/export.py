"""Tables to hand on: CSV whose texts a spreadsheet shows and does not run."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

# A spreadsheet takes a text that starts so for a formula: `%` and `|` in some of them only, the
# full-width and small forms of the signs in eastern ones, which NFKC turns into the usual ones.
FORMULA_SIGNS: Final = frozenset("=+-@%|\u2212")
CONTROL: Final = frozenset("\t\r\n\0\v\f")
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
UNSEEN: Final = frozenset(("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Zs", "Mn", "Me"))


def csv_safe(cell: object) -> object:
    """A cell with an apostrophe before it if a spreadsheet would take the text for a formula.

    >>> csv_safe("=cmd()"), csv_safe("-1.5"), csv_safe(-1.5), csv_safe("plain")
    ("'=cmd()", '-1.5', -1.5, 'plain')
    """
    if isinstance(cell, str) and starts_like_formula(cell) and not _is_number(cell):
        return f"'{cell}"
    return cell


def starts_like_formula(text: str) -> bool:
    """Whether a text starts with a control character, or with a formula behind what is not seen.

    >>> starts_like_formula("\\u200b =1"), starts_like_formula("＝1"), starts_like_formula("a=1")
    (True, True, False)
    """
    if text and text[0] in CONTROL:
        return True
    for sign in text:
        if unicodedata.category(sign) not in UNSEEN:
            return unicodedata.normalize("NFKC", sign)[:1] in FORMULA_SIGNS
    return False


def to_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Named columns of equal length as CSV text, with the line ends that spreadsheets expect.

    >>> to_csv({"feature": ["a", "@b"], "weight": [0.5, -1.0]}).splitlines()
    ['feature,weight', 'a,0.5', "'@b,-1.0"]
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # so that a lone CR or LF gets quotes
    writer.writerow([csv_safe(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        writer.writerow([csv_safe(cell) for cell in row])
    return text.getvalue()


def _is_number(cell: str) -> bool:
    """Whether this is a plain number and nothing else, not even a space."""
    return NUMBER.fullmatch(cell) is not None
