"""Rows of written cells turned into numbers and text, whatever they hold.

Every cell is read as a number; where that fails, the column's texts are collected instead. Cells
come in blocks: some rows, one after the other, in one Arrow array, whose string functions read
25 million cells in a few seconds. What a table means does not depend on how it is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray, FloatArray
from hipad.data.file_format import FileFormat, Reading
from hipad.data.formats.text.dialect import ROW_NAMES
from hipad.data.formats.text.number_style import Evidence
from hipad.data.formats.text.numbers import NumberReader
from hipad.data.formats.text.text_columns import (
    ColumnRules,
    WrittenColumn,
    fixed_width,
    read_columns,
    written_gaps,
)
from hipad.data.limits import Limits
from hipad.data.process.telling import tell_rows
from hipad.data.table import Table, tidy_names
from hipad.data.texts import USUAL_GAPS, Cells, GapWords, Text, buffers
from hipad.errors import DataError
from hipad.wording import count

BLOCK_CELLS: Final = 100_000
MOST_ONE_VALUED: Final = 100  # columns: a table with more of them is no list of patients' classes
MOST_GAPS: Final = 50  # different words for gaps that are told
POINT: Final = ord(".")
ZERO: Final = ord("0")
DIGITS: Final = list(b"0123456789")
FIRST_ROWS: Final = 10  # few at first: what they tell about the columns makes the rest cheaper

NumberedRow: TypeAlias = tuple[int, Cells]  # its number in the file, and its cells


class Block(NamedTuple):
    """Some rows: their cells, row after row."""

    cells: Cells
    n_rows: int
    trimmed: int = 0  # rows that had empty cells beyond the header, which are not among the cells
    comments: int = 0  # lines that began with # and are not among the cells


@dataclass(frozen=True)
class CellStyle:
    """What is known of the cells of a table before they are read."""

    stated: FileFormat = field(default_factory=FileFormat)
    separator: str = ""
    evidence: Evidence = field(default_factory=Evidence)  # of the first rows
    watched: tuple[int, ...] = ()  # columns to look at as texts, though they may be plain numbers
    index: int = -1  # the column that only names the rows

    @property
    def decimal(self) -> str:
        """The decimal sign to begin with."""
        if self.stated.decimal:
            return self.stated.decimal
        rules = ColumnRules(stated=self.stated, separator=self.separator)
        return rules.decimal_of(self.evidence, self.evidence)


PLAIN_CELLS: Final = CellStyle()


def table_from_cells(
    header: Sequence[object],
    rows: Callable[[], Iterable[NumberedRow]],
    *,
    most_rows: int,
    format: str,
    limits: Limits,
    style: CellStyle = PLAIN_CELLS,
) -> Table:
    """Build a table from rows that can be read twice; each must be as long as the header."""
    return table_from_blocks(
        header,
        lambda: _blocks(rows(), len(header)),
        most_rows=most_rows,
        format=format,
        limits=limits,
        style=style,
    )


def _blocks(rows: Iterable[NumberedRow], width: int) -> Iterator[Block]:
    held: list[Cells] = []
    most = FIRST_ROWS
    for number, cells in rows:
        check_width(len(cells), width, number)
        held.append(cells)
        if len(held) >= most:
            yield Block(pa.concat_arrays(held), len(held))
            held, most = [], max(FIRST_ROWS, BLOCK_CELLS // max(width, 1))
    if held:
        yield Block(pa.concat_arrays(held), len(held))


class WidthError(DataError):
    """A row is not as long as the header."""


def check_width(got: int, width: int, number: int) -> None:
    """Refuse a row that is not as long as the header."""
    if got != width:
        raise WidthError(
            f"expected {count(width, 'cell')} in every row, as in the header, got "
            f"{got:,} in row {number:,}: look there for a separator or quote too many or too few"
        )


def trimmed_remark(n_rows: int) -> str:
    """Say that empty cells at the end of rows were left out."""
    return f"{count(n_rows, 'row')} longer than the header: the empty cells at the end were dropped"


def table_from_blocks(
    header: Sequence[object],
    blocks: Callable[[], Iterable[Block]],
    *,
    most_rows: int,
    format: str,
    limits: Limits,
    style: CellStyle = PLAIN_CELLS,
) -> Table:
    """Build a table from blocks that can be read twice, with rows as long as the header."""
    names, remarks = _names(header, style)
    limits.check_shape(most_rows, len(names))
    stated = style.stated
    if 0 <= style.index < len(names):
        stated = stated.with_change({"as_text": (names[style.index],)})
    watched = {*style.watched, style.index} & {*range(len(names))}
    as_text = {*stated.as_text}
    watched |= {j for j, name in enumerate(names) if name in as_text}
    words = GapWords(stated.gap_words) if stated.gap_words is not None else USUAL_GAPS
    rules = ColumnRules(names, style.decimal, stated, words, style.separator, style.evidence)
    matrix, texts = _read_numbers(blocks(), (most_rows, len(names)), limits, rules, watched)
    if texts.trimmed:
        remarks.append(trimmed_remark(texts.trimmed))
    if texts.comments:
        remarks.append(f"{count(texts.comments, 'line')} that began with # left out")
    texts.complete(blocks())
    text = {}
    written = _written_numbers(names, matrix, texts.odd, blocks, rules)
    for j, column in read_columns(texts.columns(), rules):
        if column.numbers is not None:
            matrix[:, j] = column.numbers
        if column.remark:
            remarks.append(f"column {names[j]!r}: {column.remark}")
        if column.numbers is None:
            text[names[j]] = column
            if (cells := column.written()) is not None:
                written[names[j]] = cells
    if rules.total.decimal not in ("", rules.decimal) and not stated.decimal:
        # Later rows tell another decimal sign than the first: read all of them by it.
        again = replace(style, evidence=rules.total)
        return table_from_blocks(
            header, blocks, most_rows=most_rows, format=format, limits=limits, style=again
        )
    empty = _empty_columns(header, names, matrix, text)
    if empty:
        remarks.append(f"{count(len(empty), 'column')} without a name and without a value left out")
    kept = [j for j, name in enumerate(names) if name not in text and j not in empty]
    text = {name: column for name, column in text.items() if names.index(name) not in empty}
    # The matrix gives back what text columns took of it before these take more.
    numbers = _keep_columns(matrix, kept)
    columns, left_out = fixed_width(text, len(numbers), limits)
    gaps = {word: n for word, n in rules.gaps.most_common(MOST_GAPS) if word}
    found = FileFormat(
        decimal=rules.decimal, three_digits=rules.three_digits, gap_words=tuple(gaps)
    )
    return Table(
        numbers=numbers,
        number_names=tuple(names[j] for j in kept),
        text=columns,
        format=format,
        remarks=(*remarks, *left_out),
        written={name: written[name] for name in names if name in written},
        reading=Reading(
            found,
            style.stated,
            {"decimal": rules.reason()},
            gaps=gaps,
            questions=tuple(rules.questions),
        ),
    )


def _names(header: Sequence[object], style: CellStyle) -> tuple[list[str], list[str]]:
    """Names of the columns; the one that only names the rows is called so."""
    raw = list(header)
    if 0 <= style.index < len(raw) and not str(raw[style.index] or "").strip():
        raw[style.index] = ROW_NAMES if ROW_NAMES not in raw else "row names"
    return tidy_names(raw)


def _empty_columns(
    header: Sequence[object], names: list[str], matrix: FloatArray, text: dict[str, WrittenColumn]
) -> set[int]:
    """Columns without a name in which no cell is filled, unless all are such."""
    unnamed = [
        j for j, name in enumerate(header) if not str(name if name is not None else "").strip()
    ]
    empty = {
        j
        for j in unnamed
        if (
            bool(text[names[j]].gaps.all())
            if names[j] in text
            else bool(np.isnan(matrix[:, j]).all())
        )
    }
    return empty if len(empty) < len(names) else set()


def _written_numbers(
    names: list[str],
    matrix: FloatArray,
    odd: BoolArray,
    blocks: Callable[[], Iterable[Block]],
    rules: ColumnRules,
) -> dict[str, Text]:
    """Columns of numbers as they were written, where words stand beside one number or none.

    What is a gap among numbers may be the other class of a label there, such as 1 and `none`.
    """
    found = _one_valued(matrix, np.flatnonzero(~odd))
    if not 0 < len(found) <= MOST_ONE_VALUED:
        return {}
    place = {j: i for i, j in enumerate(found.tolist())}
    pieces = [Piece.of(block.cells, block.n_rows, found, place) for block in blocks()]
    columns = ((j, pa.concat_arrays([piece.column(j) for piece in pieces])) for j in place)
    return {names[j]: cells for j, cells in written_gaps(columns, rules)}


def _one_valued(matrix: FloatArray, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of these columns those with gaps and at most one number beside them."""
    low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    gaps = np.zeros(len(columns), dtype=bool)
    start, step = 0, FIRST_ROWS
    while start < len(matrix) and len(columns):
        part = matrix[start : start + step, columns]
        gap = np.isnan(part)
        gaps |= gap.any(axis=0)
        low = np.fmin(low, np.where(gap, np.inf, part).min(axis=0))
        high = np.fmax(high, np.where(gap, -np.inf, part).max(axis=0))
        same = low >= high
        columns, low, high, gaps = columns[same], low[same], high[same], gaps[same]
        start, step = start + step, max(FIRST_ROWS, BLOCK_CELLS // max(len(columns), 1))
    return columns[gaps]


def _read_numbers(
    blocks: Iterable[Block],
    shape: tuple[int, int],
    limits: Limits,
    rules: ColumnRules,
    watched: set[int],
) -> tuple[FloatArray, Texts]:
    """All cells as numbers (NaN where there is none), but for columns that hold something else."""
    matrix, n_rows = np.empty(shape), 0
    texts, reader = Texts(shape[1]), NumberReader(rules.words)
    reader.gaps = rules.gaps
    texts.odd[sorted(watched)] = True
    for cells, n, trimmed, comments in blocks:
        limits.check_shape(n_rows + n, shape[1])
        texts.trimmed += trimmed
        texts.comments += comments
        texts.odd[_zero_led(cells, shape[1])] = True  # codes, perhaps
        numbers = reader.read(_pointed(cells) if rules.decimal == "," else cells, texts.odd)
        texts.add(cells, n)
        if n_rows + n > len(matrix):
            matrix = np.concatenate([matrix[:n_rows], np.empty((n_rows + n, shape[1]))])
        if numbers.shape[1] == shape[1]:
            matrix[n_rows : n_rows + n] = numbers
        elif numbers.size:
            matrix[n_rows : n_rows + n, ~texts.odd] = numbers
        n_rows += n
        tell_rows(n_rows, shape[0])
    return matrix[:n_rows], texts


def _zero_led(cells: Cells, width: int) -> npt.NDArray[np.int64]:
    """Columns with a cell that begins with a zero and another digit, as codes do."""
    starts, letters = buffers(cells)
    begins = starts[:-1][np.diff(starts) > 1]
    at = np.flatnonzero(letters[begins] == ZERO)
    at = at[np.isin(letters[begins[at] + 1], DIGITS)] if len(at) else at
    if not len(at):
        return at
    return np.unique(np.flatnonzero(np.diff(starts) > 1)[at] % width)


def _pointed(cells: Cells) -> Cells:
    """Cells with points for decimal commas; those with points between digits are no numbers then.

    A point there marks thousands, or stands for a comma: whole columns tell.
    """
    _, letters = buffers(cells)
    if (letters == POINT).any():
        cells = pc.replace_substring_regex(cells, r"([0-9])\.([0-9])", r"\1·\2")
    return pc.replace_substring(cells, ",", ".")


def _keep_columns(matrix: FloatArray, columns: list[int]) -> FloatArray:
    """Some columns, moved together in place: a copy would need the memory twice."""
    n_rows, width = matrix.shape
    if len(columns) == width:
        return matrix
    flat, kept = matrix.reshape(-1), len(columns)
    step = max(1, BLOCK_CELLS // max(width, 1))
    for start in range(0, n_rows, step):
        part = matrix[start : start + step, columns]
        flat[start * kept : start * kept + part.size] = part.ravel()
    return flat[: n_rows * kept].reshape(n_rows, kept)


@dataclass
class Texts:
    """The written cells of columns that hold more than numbers, block by block."""

    width: int
    odd: BoolArray = field(init=False)
    found: dict[int, int] = field(default_factory=dict)  # column: the block that told
    pieces: list[Piece] = field(default_factory=list)
    early: list[Piece] = field(default_factory=list)
    trimmed: int = 0
    comments: int = 0

    def __post_init__(self) -> None:
        self.odd = np.zeros(self.width, dtype=bool)

    def add(self, cells: Cells, n_rows: int) -> None:
        """Keep a block's cells of the columns marked in `odd`, and of these from now on."""
        block = len(self.pieces)
        columns = np.flatnonzero(self.odd)
        if len(columns) > len(self.found):
            for j in columns.tolist():
                self.found.setdefault(j, block)
            place = {j: i for i, j in enumerate(columns.tolist())}
        else:
            place = self.pieces[-1].place if self.pieces else {}
        self.pieces.append(Piece.of(cells, n_rows, columns, place))

    def complete(self, blocks: Iterable[Block]) -> None:
        """Fetch what columns hold in the blocks before the one that told they are no numbers."""
        last = max(self.found.values(), default=0)
        late = np.array([j for j, block in self.found.items() if block], dtype=np.int64)
        place = {j: i for i, j in enumerate(late.tolist())}
        for block in islice(blocks, last):
            self.early.append(Piece.of(block.cells, block.n_rows, late, place))
        self.found = dict(sorted(self.found.items()))

    def columns(self) -> Iterator[tuple[int, Cells]]:
        """Each of these columns, and all its cells."""
        for j, told in self.found.items():
            pieces = (*self.early[:told], *self.pieces[told:])
            yield j, pa.concat_arrays([piece.column(j) for piece in pieces])


class Piece(NamedTuple):
    """Some columns of a block, one after the other, and where each stands."""

    cells: Cells
    n_rows: int
    place: dict[int, int]

    @classmethod
    def of(
        cls, cells: Cells, n_rows: int, columns: npt.NDArray[np.int64], place: dict[int, int]
    ) -> Piece:
        """Take these columns from the cells of a block."""
        width = len(cells) // n_rows
        rows = np.arange(0, len(cells), width, dtype=np.int32)
        taken = pa.array(np.add.outer(columns.astype(np.int32), rows).ravel())
        return cls(pc.take(cells, taken, boundscheck=False), n_rows, place)

    def column(self, j: int) -> Cells:
        """The cells of one column."""
        return self.cells.slice(self.place[j] * self.n_rows, self.n_rows)
