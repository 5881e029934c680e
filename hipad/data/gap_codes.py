"""Numbers that stand for a missing value, such as 999: asked about, and removed when stated."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from hipad.data.file_format import Answer, FileFormat, Question
from hipad.data.table import Table
from hipad.data.texts import to_number
from hipad.wording import count, number

HIGH_CODES: Final = (7, 8, 9, 77, 88, 99, 777, 888, 999, 7777, 8888, 9999, 99999, 999999)
LOW_CODES: Final = (-1, -4, -7, -8, -9, -77, -88, -99, -777, -888, -999, -9999, -99999)
APART: Final = 2  # times the largest other value: a code is far from what is measured
LEAST_VALUES: Final = 2  # different ones beside a code
MOST_CODES: Final = 3  # different codes of one column
MOST_ASKED: Final = 20
COLUMNS_LOOKED_AT: Final = 2_000


def with_gap_codes(table: Table, stated: FileFormat) -> Table:
    """The table without the codes that are stated, and with questions about others it may have."""
    table = _without_stated(table, stated)
    if table.is_sparse or table.turned or not table.numbers.size:
        return table
    questions: list[Question] = []
    for name, codes in _likely_codes(table).items():
        if len(questions) == MOST_ASKED:
            break
        values = table.column(name)
        n = int(np.isin(values, codes).sum())
        rest = values[np.isfinite(values) & ~np.isin(values, codes)]
        words = tuple(f"{code:g}" for code in codes)
        shown = " and ".join(words)
        questions.append(
            Question(
                f"code:{name}",
                f"{count(n, 'cell')} {shown} in column {name!r}, whose other values go from "
                f"{number(rest.min())} to {number(rest.max())}, read as "
                f"{'numbers' if len(words) > 1 else 'a number'}: a code for a missing value?",
                (Answer(f"{shown}: a gap", {"column_gaps": {name: words}}),),
            )
        )
    if not questions:
        return table
    reading = table.reading
    return replace(table, reading=replace(reading, questions=(*reading.questions, *questions)))


def _without_stated(table: Table, stated: FileFormat) -> Table:
    """Cells of single columns that the user calls gaps, whatever the format of the file."""
    text = dict(table.text)
    gaps = dict(table.reading.gaps)
    place = {name: j for j, name in enumerate(table.number_names)}
    for name, words in stated.column_gaps.items():
        if name in text:
            hit = np.isin(text[name], words)
            text[name] = np.where(hit, "", text[name])
        elif name in place and not table.is_sparse:
            codes = [value for word in words if (value := to_number(word)) is not None]
            column = table.numbers[:, place[name]]
            hit = np.isin(column, [code for code in codes if code == code])
            column[hit] = np.nan
        else:
            continue
        for word in words:
            gaps[word] = gaps.get(word, 0) + (int(hit.sum()) if len(words) == 1 else 0)
    if not stated.column_gaps:
        return table
    return replace(table, text=text, reading=replace(table.reading, gaps=gaps, stated=stated))


def _likely_codes(table: Table) -> dict[str, list[float]]:
    """Codes far from all other values of a column, by its name."""
    numbers = table.numbers
    with np.errstate(invalid="ignore"):
        high = np.fmax.reduce(numbers, axis=0)
        low = np.fmin.reduce(numbers, axis=0)
    maybe = np.flatnonzero(np.isin(high, HIGH_CODES) | np.isin(low, LOW_CODES))
    found: dict[str, list[float]] = {}
    for j in maybe[:COLUMNS_LOOKED_AT].tolist():
        values = np.unique(numbers[:, j])
        codes = _codes(values[np.isfinite(values)])
        if codes:
            found[table.number_names[j]] = codes
    return found


def _codes(values: npt.NDArray[np.float64]) -> list[float]:
    """Of sorted different values, those at the ends that are codes."""
    codes: list[float] = []
    rest = values
    while len(rest) > LEAST_VALUES and len(codes) < MOST_CODES:
        if rest[-1] in HIGH_CODES and _is_apart(rest[-1], rest[:-1]):
            codes.append(float(rest[-1]))
            rest = rest[:-1]
        elif rest[0] in LOW_CODES and rest[1] >= 0 and (rest[0] < -5 or len(rest) > 3):
            codes.append(float(rest[0]))
            rest = rest[1:]
        else:
            break
    # A run of codes such as 8 and 9 is one only if the values below are far from all of them.
    if codes and codes[0] > 0 and not _is_apart(min(codes), rest):
        return []
    return sorted(codes)


def _is_apart(code: float, rest: npt.NDArray[np.float64]) -> bool:
    below = [value for value in rest.tolist() if value not in HIGH_CODES] or rest.tolist()
    if code < 10 and below != list(range(int(below[0]), int(below[0]) + len(below))):
        return False  # one digit is a code on a scale such as 1 to 4 only
    return bool(max(below) > 0 and code >= APART * max(below) and min(below) >= -code)
