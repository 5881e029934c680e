"""The cells of one sheet of a workbook as texts, read row by row and within limits.

A workbook's own numbers of rows are not trusted: a row that is not there costs nothing. Formulas
that were saved without their values and cells that hold an error are counted by column.
"""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from itertools import chain
from typing import Any, Final

from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from hipad.data.limits import Limits
from hipad.errors import DataError
from hipad.wording import count

PIECE_BYTES: Final = 2**20
DOCTYPE: Final = b"<!DOCTYPE"
ELEMENT_BYTES: Final = 200  # that an element of XML takes in memory
ENCODING: Final = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([^"']*)""")
SAFE_ENCODINGS: Final = (b"utf-8", b"us-ascii", b"ascii")
LOOKS_LIKE_XML: Final = (b"<", b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\0<")


def check_xml(data: bytes, limits: Limits) -> None:
    """Refuse XML that declares entities, hides its letters, or is too much for memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            with archive.open(name) as part:
                start = part.read(PIECE_BYTES)
                is_xml = start.lstrip()[:3].startswith(LOOKS_LIKE_XML)
                if is_xml or name.endswith((".xml", ".rels")):
                    rest = iter(partial(part.read, PIECE_BYTES), b"")
                    _check_part(name, chain([start], rest), limits)


def _check_part(name: str, pieces: Iterable[bytes], limits: Limits) -> None:
    """Look at a part in pieces, each with the end of the last, so that no word is cut in two."""
    elements, last = 0, b""
    for number, piece in enumerate(pieces):
        declared = ENCODING.search(piece[:500]) if number == 0 else None
        hidden = declared is not None and declared.group(1).lower() not in SAFE_ENCODINGS
        joined = last + piece
        if hidden or b"\0" in piece or DOCTYPE in joined:
            raise DataError(f"{name} holds what no workbook needs: save it again")
        elements += piece.count(b"<") - joined.count(b"</")
        last = piece[1 - len(DOCTYPE) :].replace(b"</", b"")
        if elements * ELEMENT_BYTES > limits.memory_bytes:
            raise DataError(f"expected a smaller workbook, got {elements:,} cells: save it as CSV")


class SheetReader(WorkSheetParser):
    """The rows of a sheet that hold something, and what could not be read of them."""

    def __init__(self, *arguments: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*arguments, data_only=True, **options)
        self.limits = limits
        self.without_value: Counter[int] = Counter()  # formulas, by column from one
        self.errors: Counter[int] = Counter()

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Each row's number and its cells up to the last that is filled."""
        cells, filled, until = 0, 0, time.monotonic() + self.limits.seconds
        for number, row in self.parse():
            written = {cell["column"]: _written(cell["value"]) for cell in row}
            width = max((column for column, text in written.items() if text), default=0)
            cells += width
            filled += len(written)
            self.limits.check_content(cells, filled)
            self.limits.check_shape(number, width, cells=cells)
            if time.monotonic() > until:
                raise DataError(f"reading took more than {self.limits.seconds} s: save it as CSV")
            if width:
                yield number, [written.get(column, "") for column in range(1, width + 1)]

    def parse_cell(self, element: Any) -> dict[str, Any]:
        """One cell; an error counts as a gap, and so does a formula without a value."""
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["data_type"] == "e" and cell["value"] is not None:
            self.errors[cell["column"]] += 1
            cell["value"] = None
        elif cell["value"] is None and element.find(FORMULA_TAG) is not None:
            # A formula whose result is an empty text was saved with its value.
            self.without_value[cell["column"]] += element.get("t") != "str"
        return cell

    def remarks(self, names: list[str]) -> list[str]:
        """What the user should know of cells that were not read as they look."""
        told = {
            "formula": (self.without_value, "saved without a value, taken as missing"),
            "cell": (self.errors, "with an error (such as #DIV/0!), taken as missing"),
        }
        found = [
            f"{count(where.total(), noun)} {what}: {_columns(where, names)}"
            for noun, (where, what) in told.items()
            if where.total()
        ]
        merged = len(self.merged_cells.mergeCell) if self.merged_cells is not None else 0
        if merged:
            found.append(f"{count(merged, 'merged range')}: only the first cell has the value")
        return found


def _columns(where: Counter[int], names: list[str]) -> str:
    shown = [names[j - 1] if j <= len(names) else f"column_{j}" for j in sorted(+where)]
    more = f" and {len(shown) - 5:,} more" if len(shown) > 5 else ""
    return "column " + ", ".join(repr(name[:40]) for name in shown[:5]) + more


def _written(value: object) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)
