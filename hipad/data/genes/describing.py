"""What is known of patients beside their values: classes in rows of the file or in a second one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hipad.data.table import Table, Text, tidy_names
from hipad.data.texts import to_number
from hipad.errors import DataError
from hipad.wording import count, some

TOP, BOTTOM = 60, 10  # rows at the ends of a file in which classes are looked for
LOOKED_AT: Final = 1_000  # cells of a row
MOST_LEVELS: Final = 10  # different numbers that may be classes
LIKELY: Final = re.compile(
    r".*(diagnos|disease|class|label|outcome|status|group|subtype|response|condition|phenotype|"
    r"fusion|relapse|case|tumou?r|treatment|type).*",
    re.IGNORECASE,
)


def likely_class(text: Mapping[str, Text]) -> str | None:
    """The column that is called as classes are and has few values; two values come first."""
    levels = {name: len({*cells.tolist()} - {""}) for name, cells in text.items()}
    fit = [name for name, n in levels.items() if LIKELY.fullmatch(name) and 2 <= n <= MOST_LEVELS]
    return min(fit, key=lambda name: levels[name] != 2, default=None)


@dataclass(frozen=True)
class LabelRows:
    """Rows that hold a text for each column of a file, as classes above the values do."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]] = ()

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def has_classes(self) -> bool:
        """Whether a row has few values that come again, as classes do and units do not."""
        return any(
            2 <= len({*filled}) <= len(filled) / 2
            for row in self.rows
            if (filled := [cell.strip() for cell in row[1:] if cell.strip()])
        )

    def of(self, columns: Sequence[str]) -> dict[str, list[str]]:
        """Each row by its first cell, with its cells of these columns."""
        names, _ = tidy_names(self.header)
        place = {name: j for j, name in enumerate(names)}
        result: dict[str, list[str]] = {}
        for row in self.rows:
            cells = [row[j] if (j := place[name]) < len(row) else "" for name in columns]
            result.setdefault(row[0].strip(), cells)
        return result


def is_label_row(cells: Sequence[str]) -> bool:
    """Whether a row of written cells, its name first, holds texts where values are expected."""
    step = max(1, len(cells) // LOOKED_AT)  # of a long row some cells tell as much as all
    filled = [cell for cell in cells[1::step] if cell.strip()]
    texts = sum(to_number(cell.replace(",", ".")) is None for cell in filled)
    return len(filled) >= 2 and 2 * texts > len(filled) and bool(cells[:1] and cells[0].strip())


def label_rows(rows: Sequence[Sequence[str]]) -> list[int]:
    """Which rows, of those at the ends, hold texts; none where most do, as in a table of texts."""
    ends = {*range(min(TOP, len(rows))), *range(max(0, len(rows) - BOTTOM), len(rows))}
    found = [i for i in sorted(ends) if is_label_row(rows[i])]
    return found if 2 * len(found) <= len(ends) else []


def with_labels(table: Table, labels: Table) -> Table:
    """The table with the columns of a second one, whose rows are found by the patients' IDs."""
    key, places = _places(table, labels)
    missing = int((places < 0).sum())
    if missing == table.n_rows:
        raise DataError(
            f"expected a column with the patients' IDs, such as {some(table.ids[:2])}, got none "
            f"among {some(labels.names)}"
        )
    text, written, left_out = _texts(labels, key, places, set(table.names))
    if not text:
        raise DataError(
            f"expected a column with classes beside {key!r}, got {some(left_out) or 'none'}: "
            "a class is a text, or one of a few numbers"
        )
    remarks = [f"columns from a second file: {some(text)}"]
    if missing:
        remarks.append(f"{count(missing, 'patient')} not in the second file")
    if left_out:
        remarks.append(f"columns of the second file left out: {some(left_out)}")
    both = hashlib.sha256(f"{table.sha256}+{labels.sha256}".encode()).hexdigest()
    return replace(
        table,
        text={**table.text, **text},
        about=(*table.about, *text),
        label=likely_class(text) or next(iter(text)),
        remarks=(*table.remarks, *remarks),
        sha256=both,
        written={**table.written, **written},
    )


def _places(table: Table, labels: Table) -> tuple[str, np.ndarray]:
    """The column of IDs in the second table, and for each patient its row there, or -1."""
    best, found = "", np.full(table.n_rows, -1)
    for name in labels.names:
        row = {cell: i for i, cell in enumerate(labels.as_text(name).tolist()) if cell}
        here = np.array([row.get(patient, -1) for patient in table.ids], dtype=int)
        if here.size and (here >= 0).sum() > (found >= 0).sum():
            best, found = name, here
    if not table.ids and labels.n_rows == table.n_rows:  # without IDs the order is all there is
        return "", np.arange(table.n_rows)
    return best, found


def _texts(
    labels: Table, key: str, places: np.ndarray, taken: set[str]
) -> tuple[dict[str, Text], dict[str, Text], list[str]]:
    """Columns that may be classes, in the order of the patients, as written, and others' names."""
    result: dict[str, Text] = {}
    written: dict[str, Text] = {}
    left_out = []
    for name in labels.names:
        if name == key:
            continue
        cells = np.append(labels.as_text(name), "")
        if name in labels.number_names and len(np.unique(cells)) > MOST_LEVELS + 1:
            left_out.append(name)
            continue
        new = f"{name} (second file)" if name in taken else name
        at = np.where(places < 0, len(cells) - 1, places)
        result[new] = cells[at]
        if name in labels.written:
            written[new] = np.append(labels.written[name], "")[at]
    return result, written, left_out
