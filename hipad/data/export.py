"""Tables to hand on: CSV whose texts a spreadsheet shows and does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_safe(cell: object) -> object:
    """A cell with an apostrophe before it if a spreadsheet would take the text for a formula.

    >>> csv_safe("=cmd()"), csv_safe("-1.5"), csv_safe(-1.5), csv_safe("plain")
    ("'=cmd()", '-1.5', -1.5, 'plain')
    """
    if isinstance(cell, str) and cell.lstrip(" ").startswith(FORMULA_STARTS):
        return cell if _is_number(cell) else f"'{cell}"
    return cell


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
    try:
        float(cell)
    except ValueError:
        return False
    return True
