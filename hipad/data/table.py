"""A table as read from a file: a numeric matrix, text columns, and what the reader noticed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data.file_format import Reading
from hipad.data.texts import MISSING, Text, gap_words, label_text, tidy_text
from hipad.errors import DataError
from hipad.wording import count, some

__all__ = [
    "MISSING", "Matrix", "Table", "Text", "label_text", "tidy_names", "tidy_text",
]  # fmt: skip

Matrix: TypeAlias = Any  # float32 or float64 array, or scipy CSR array (which has no types)
NAME_CHARACTERS: Final = 1_000
ID_NAME: Final = re.compile(
    r"((patient|sample|subject|case|donor|person|record)[\W_]?)?(id|name|code|number|nr|no)|"
    r"patient|sample|subject|case|donor|row|index",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Table:
    """Columns of a file. A gap is NaN among the numbers and "" in text.

    `ids` names the rows and `symbols` the gene of each numeric column, where the file tells them;
    `about` are columns that describe patients and are no features. `written` are columns with few
    levels as the file has them, where a word such as NA was taken as a gap. `reading` is the
    account of how the file was understood.
    """

    numbers: Matrix
    number_names: tuple[str, ...]
    text: dict[str, Text]
    format: str
    remarks: tuple[str, ...] = ()
    label: str | None = None
    sha256: str = ""
    ids: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    turned: bool = False  # the file seemed to have a row for each feature, see genes/turning.py
    written: dict[str, Text] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        if self.n_rows == 0:
            raise DataError("expected rows of data, got a header only: the table is empty")

    @property
    def n_rows(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        return self.number_names + tuple(self.text)

    @property
    def decimal(self) -> str:
        """The mark before the decimals of the file's numbers; empty where it has none."""
        if not self.format.startswith("text"):
            return ""
        return self.reading.found.decimal or "."

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(self.numbers)

    @property
    def row_ids(self) -> tuple[str, ...]:
        """IDs of the rows: those of the file's format, or a text column in which all differ."""
        if self.ids or not self.text:
            return self.ids
        name = next((name for name in self.text if ID_NAME.fullmatch(name)), next(iter(self.text)))
        cells = self.text[name].tolist()
        return tuple(cells) if len(set(cells) - {""}) == self.n_rows > 1 else ()

    def column(self, name: str) -> Text | npt.NDArray[np.float64]:
        """One column by name, as text or as numbers."""
        if name in self.text:
            return self.text[name]
        return self._numbers_of(name).astype(np.float64)

    def as_text(self, name: str, known: Sequence[str] = ()) -> Text:
        """One column by name, as text even where it was read as numbers.

        A word that was taken as a gap is a level where it is one of those that are `known`.
        """
        cells = self.text[name] if name in self.text else label_text(self._numbers_of(name))
        if known and name in self.written:
            return np.where(np.isin(self.written[name], known), self.written[name], cells)
        return cells

    def gap_words(self, name: str) -> dict[str, int]:
        """The words in a column that were taken as gaps, and how often each comes."""
        return gap_words(self.written[name], self.as_text(name)) if name in self.written else {}

    def _numbers_of(self, name: str) -> npt.NDArray[np.floating[Any]]:
        if name not in self.number_names:
            raise DataError(f"expected a column called {name!r}, found none: {some(self.names)}")
        column = self.numbers[:, [self.number_names.index(name)]]
        dense: npt.NDArray[Any] = column.toarray() if sp.issparse(column) else column
        return dense.ravel()


def tidy_names(raw: Sequence[object]) -> tuple[list[str], list[str]]:
    """Column names on one line each and all different, and remarks on what was changed."""
    names = [" ".join(str(name if name is not None else "").split()) for name in raw]
    remarks = []
    if long := [name for name in names if len(name) > NAME_CHARACTERS]:
        names = [name[:NAME_CHARACTERS] for name in names]
        remarks.append(
            f"{count(len(long), 'column name')} cut to {NAME_CHARACTERS:,} characters: {some(long)}"
        )
    unnamed = [j for j, name in enumerate(names) if not name]
    for j in unnamed:
        names[j] = f"column_{j + 1}"
    if unnamed:
        remarks.append(f"{count(len(unnamed), 'column')} without a name: {names[unnamed[0]]} ...")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        names = _numbered(names, set(repeated))
        remarks.append(
            f"{count(len(repeated), 'column name')} not unique ({some(repeated)}): "
            "the later columns got a number"
        )
    return names, remarks


def _numbered(names: list[str], repeated: set[str]) -> list[str]:
    taken, result = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new = name
        while name in repeated and seen[name] > 1 and new in taken:
            new = f"{name}.{seen[name]}"
            seen[name] += new in taken
        taken.add(new)
        result.append(new)
    return result
