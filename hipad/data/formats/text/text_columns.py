"""Columns of written cells that are not plain numbers throughout: numbers all the same, or text.

A column that is numeric but for a few odd cells (`offen`) stays numeric, its odd cells count as
missing, and a remark says so. A value beyond what could be measured (`<5`, `>100`) is read as that
limit: it is low or high, and a gap would be filled with a usual value. Work is done on the
different texts only, which are often few. What stays open is a `Question`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray
from hipad.data.file_format import LONGEST_WORD, Answer, FileFormat, Question, ThreeDigits
from hipad.data.formats.text.number_style import Evidence, WrittenNumbers, written_numbers
from hipad.data.formats.text_room import TextRoom, column_remarks
from hipad.data.limits import Limits
from hipad.data.texts import (
    FEW_LEVELS,
    USUAL_GAPS,
    Cells,
    GapWords,
    OpenWord,
    Text,
    as_written,
    level_array,
    signs,
    text_gaps,
    tidy_levels,
)
from hipad.data.whole_numbers import IS_WHOLE, KEPT_AS_TEXT, reach_beyond_exact
from hipad.wording import count, listed, percent, some

ODD_SHARE: Final = 0.1
NEAR_SHARE: Final = 0.5  # of odd cells: with fewer, a column of text may be one of numbers
BEYOND_SHARE: Final = 0.5  # more cells such as `<5` than that are classes, not measures
FEW_WORDS: Final = 5
COLUMNS_AT_ONCE: Final = 100
SAMPLE_ROWS: Final = 1_000
DISTINCT_SHARE: Final = 0.9  # of a sample: most cells of the column differ, as IDs do
THREE_DIGITS: Final = "three_digits"
MOST_QUESTIONS: Final = 50

Codes = npt.NDArray[np.int32]


@dataclass
class ColumnRules:
    """How the cells of a table are to be understood, and what came of it."""

    names: list[str] = field(default_factory=list)
    decimal: str = "."
    stated: FileFormat = field(default_factory=FileFormat)
    words: GapWords = USUAL_GAPS
    separator: str = ""
    evidence: Evidence = field(default_factory=Evidence)  # of plain columns, from the first rows
    gaps: Counter[str] = field(default_factory=Counter)  # words taken as gaps
    questions: list[Question] = field(default_factory=list)
    opened: dict[str, str] = field(default_factory=dict)  # columns with 1,234, and such a cell
    total: Evidence = field(default_factory=Evidence)  # of all columns that were looked at
    three_digits: ThreeDigits | None = None  # what the sign of 1,234 was taken for, where it came

    def name(self, j: int) -> str:
        return self.names[j] if j < len(self.names) else f"x{j}"

    def ask(self, key: str, text: str, *answers: Answer) -> None:
        """Ask the user, unless there are very many questions already."""
        if len(self.questions) < MOST_QUESTIONS:
            self.questions.append(Question(key, text, answers))

    def decimal_of(self, own: Evidence, total: Evidence) -> str:
        """The decimal sign of a column, by its own numbers, else by those of the table."""
        if self.stated.decimal:
            return self.stated.decimal
        if own.decimal or total.decimal:
            return own.decimal or total.decimal
        if not own.is_open:
            return self.decimal
        sign = "," if own.open_comma >= own.open_point else "."
        if self.means_thousands(sign):
            return "." if sign == "," else ","
        return sign

    def reason(self) -> str:
        """Why the decimal sign is what it is."""
        point, comma = self.total.point, self.total.comma
        if not point and not comma:
            return "nothing tells another" if not self.opened else "not certain"
        here, other = (comma, point) if self.decimal == "," else (point, comma)
        return "as the numbers show" if not other else f"{here:,} numbers against {other:,}"

    def means_thousands(self, sign: str) -> bool:
        """Whether the sign of 1,234 marks thousands where nothing in the table tells."""
        if self.stated.three_digits is not None:
            return self.stated.three_digits == "thousands"
        return sign == "," == self.separator  # a quoted cell where commas separate


@dataclass(frozen=True)
class WrittenColumn:
    """A column: its different texts, which of them are gaps, and which one each row has.

    It is one of numbers if `numbers` is there; `remark` says what it leaves out.
    """

    levels: Cells
    gaps: BoolArray
    codes: Codes | None  # None: there is one text per row
    longest: int  # characters of the longest text
    numbers: npt.NDArray[np.float64] | None = None
    remark: str = ""
    is_large: bool = False  # whole numbers that floating point would make the same

    def text(self) -> Text:
        """All rows, each as wide as the longest text."""
        levels = level_array(self.levels, self.gaps)
        return levels if self.codes is None else levels.take(self.codes)

    def written(self) -> Text | None:
        """All rows as they were written, where words were taken as gaps and levels are few."""
        levels = as_written(self.levels, self.gaps, self.longest)
        return levels if levels is None or self.codes is None else levels.take(self.codes)


def read_columns(
    columns: Iterable[tuple[int, Cells]], rules: ColumnRules
) -> Iterator[tuple[int, WrittenColumn]]:
    """Read columns in which a cell was found that is no number, many at a time.

    Those that do not tell what 1,234 is come last, when all others have told.
    """
    waiting: list[tuple[int, Cells]] = []
    total = rules.evidence
    for j, levels, codes, cells in _levels(columns, rules):
        own = levels.numbers.evidence(levels.times(codes))
        total = total + own
        if own.is_open and not rules.stated.decimal:
            waiting.append((j, cells))
        else:
            yield j, _column(j, levels, codes, rules, own, total)
    rules.total = total
    for j, levels, codes, _ in _levels(waiting, rules):
        own = levels.numbers.evidence(levels.times(codes))
        yield j, _column(j, levels, codes, rules, own, total)
    _ask_three_digits(rules)


def written_gaps(
    columns: Iterable[tuple[int, Cells]], rules: ColumnRules
) -> Iterator[tuple[int, Text]]:
    """Columns of numbers as they were written, where words in them were taken as gaps.

    Words that would be levels among texts, such as `none`, are gaps here.
    """
    for j, levels, codes, _ in _levels(columns, rules):
        longest = int(levels.lengths.max(initial=0))
        cells = WrittenColumn(levels.texts, levels.gaps, codes, longest).written()
        if cells is not None:
            yield j, cells


def _levels(
    columns: Iterable[tuple[int, Cells]], rules: ColumnRules
) -> Iterator[tuple[int, Levels, Codes | None, Cells]]:
    rest = iter(columns)
    while some_columns := list(islice(rest, COLUMNS_AT_ONCE)):
        encoded = [_encoded(cells) for _, cells in some_columns]
        levels = Levels.of(pa.concat_arrays([texts for texts, _ in encoded]), rules.words)
        end = 0
        for (j, cells), (texts, codes) in zip(some_columns, encoded, strict=True):
            here = slice(end, end := end + len(texts))
            yield j, levels.part(here), codes, cells


def _encoded(cells: Cells) -> tuple[Cells, Codes | None]:
    """The different texts and which one each row has; all texts if looking for equals is vain."""
    if len(cells) > SAMPLE_ROWS:
        sample = cells[:SAMPLE_ROWS]
        if len(pc.unique(sample)) > DISTINCT_SHARE * SAMPLE_ROWS:
            return cells, None
    encoded = cells.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)


class Levels(NamedTuple):
    """Different texts, and what each of them is."""

    texts: Cells
    gaps: BoolArray
    plus: BoolArray
    minus: BoolArray
    numbers: WrittenNumbers
    lengths: npt.NDArray[np.int32]

    @classmethod
    def of(cls, written: Cells, words: GapWords) -> Levels:
        """Look at texts as they are written."""
        texts, gaps = tidy_levels(written, words)
        lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
        plus, minus = signs(texts)
        return cls(texts, gaps, plus, minus, written_numbers(texts), lengths)

    def part(self, here: slice) -> Levels:
        """Some of them."""
        return Levels(
            self.texts[here],
            self.gaps[here],
            self.plus[here],
            self.minus[here],
            self.numbers.part(here),
            self.lengths[here],
        )

    def times(self, codes: Codes | None) -> npt.NDArray[np.int64]:
        """How often each text comes."""
        n = len(self.gaps)
        times = np.ones(n) if codes is None else np.bincount(codes, minlength=n)
        return times.astype(np.int64)

    def shown(self, which: BoolArray) -> list[str]:
        """The different texts of some places."""
        found: list[str] = pc.unique(self.texts.filter(pa.array(which))).to_pylist()
        return found


def _column(
    j: int,
    levels: Levels,
    codes: Codes | None,
    rules: ColumnRules,
    own: Evidence,
    total: Evidence,
) -> WrittenColumn:
    """Text, or numbers if all but a few cells are, with a remark on the others."""
    name, stated, written = rules.name(j), rules.stated, levels.numbers
    gaps = (
        levels.gaps & ~levels.minus
        if levels.plus.any() and not rules.words.is_stated
        else levels.gaps
    )
    if more := stated.column_gaps.get(name):
        gaps = gaps | _in(levels.texts, more)
    times = levels.times(codes)
    decimal = rules.decimal_of(own, total)
    numbers = np.where(gaps, np.nan, written.by_point if decimal == "." else written.by_comma)
    # The word nan is a number to Arrow, and a gap to all others.
    numeric = ~gaps & (~np.isnan(numbers) | _in(levels.texts, ("nan",)))
    odd = ~(numeric | gaps)
    limited = written.limited & numeric
    filled = int(times[~gaps].sum())
    n_odd, n_limited = int(times[odd].sum()), int(times[limited].sum())
    text = WrittenColumn(levels.texts, gaps, codes, int(levels.lengths.max(initial=0)))
    forced = name in stated.as_numbers
    is_text = n_odd > ODD_SHARE * filled or n_limited > BEYOND_SHARE * filled
    if name in stated.as_text or (is_text and not forced) or not numeric.any():
        if n_odd <= NEAR_SHARE * filled and is_text and n_limited <= BEYOND_SHARE * filled:
            _ask_nearly(name, levels.shown(odd), n_odd, filled, rules)
        return _text_column(name, text, levels, times, rules)
    if not forced and (why := _units(levels, numeric, times)):
        rules.ask(f"units:{name}", f"column {name!r} is read as text: {why}",
                  Answer("read the numbers alone", {"as_numbers": (name,)}))  # fmt: skip
        return _text_column(name, text, levels, times, rules)
    if not forced and _has_codes(levels, numeric, written):
        shown = next(w for w in levels.shown(numeric) if w[0] == "0" and len(w) > 1)
        rules.ask(
            f"codes:{name}",
            f"column {name!r} is read as text: {shown!r} begins with a zero, as codes do",
            Answer("they are numbers", {"as_numbers": (name,)}),
        )
        return _text_column(name, text, levels, times, rules)
    if _is_large(levels, numeric, numbers):
        return replace(text, is_large=True)
    _count_gaps(levels, gaps, times, rules)
    remark = _remark(levels, odd, limited, times, own, total, decimal)
    _ask_percent(name, levels, numeric, times, rules)
    if own.open_point or own.open_comma:
        sign = "," if own.open_comma else "."
        rules.three_digits = "decimal" if sign == decimal else "thousands"
        open_ = written.open_point | written.open_comma
        if not own.decimal and not total.decimal and not stated.decimal:
            rules.opened[name] = levels.shown(open_)[0]
    values = numbers if codes is None else numbers[codes]
    return replace(text, gaps=gaps, numbers=values, remark=remark)


def _in(texts: Cells, words: Iterable[str]) -> BoolArray:
    low = pa.array([word.strip().lower() for word in words], pa.string())
    found = pc.is_in(pc.utf8_lower(texts), low).to_numpy(zero_copy_only=False)
    return np.array(found, dtype=bool)


def _count_gaps(
    levels: Levels, gaps: BoolArray, times: npt.NDArray[np.int64], rules: ColumnRules
) -> None:
    """Add the words that were taken as gaps to those of the table."""
    if gaps.any():
        words = levels.texts.filter(pa.array(gaps)).dictionary_encode()
        sums = np.bincount(words.indices.to_numpy(), weights=times[gaps])
        for word, n in zip(words.dictionary.to_pylist(), sums.tolist(), strict=True):
            rules.gaps[word] += int(n)


def _text_column(
    name: str,
    text: WrittenColumn,
    levels: Levels,
    times: npt.NDArray[np.int64],
    rules: ColumnRules,
) -> WrittenColumn:
    """A column of texts; what may be a level or a gap, and levels of nearly one name, are asked."""
    gaps, opened = text_gaps(levels.texts, levels.gaps, times, rules.words)
    if more := rules.stated.column_gaps.get(name):
        gaps = gaps | _in(levels.texts, more)
        opened = [o for o in opened if o.word.lower() not in {w.strip().lower() for w in more}]
    _count_gaps(levels, gaps, times, rules)
    for each in opened:
        _ask_word(name, each, rules)
    if 2 <= np.count_nonzero(~gaps) <= FEW_LEVELS:
        _ask_alike(name, levels.shown(~gaps), rules)
    remark = "; ".join(map(str, opened))
    return replace(text, gaps=gaps, remark=remark)


def _ask_word(name: str, each: OpenWord, rules: ColumnRules) -> None:
    cells = f"{count(each.times, 'cell')} {each.word!r} in the text column {name!r}"
    if each.is_level:
        rules.ask(
            f"level:{name}:{each.word}",
            f"{cells} kept as a level of its own: is it a gap?",
            Answer("it is a gap", {"column_gaps": {name: (each.word,)}}),
        )
        return
    others = tuple(sorted(rules.words.words - {"", each.word.lower()}))
    rules.ask(
        f"gap:{name}:{each.word}",
        f"{cells} taken as missing: is it a level?",
        Answer("it is a level", {"gap_words": others}),
    )


def _ask_alike(name: str, words: list[str], rules: ColumnRules) -> None:
    """Levels that differ in the case of letters or in blanks only."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(" ".join(word.casefold().split()), []).append(word)
    for alike in groups.values():
        if len(alike) > 1:
            told = listed([repr(word) for word in alike])
            rules.ask(
                f"alike:{name}:{alike[0]}",
                f"column {name!r}: {told} are different levels, though they differ in capitals or "
                "blanks only: write them alike in the file if they are the same",
            )


def _ask_nearly(name: str, words: list[str], n_odd: int, filled: int, rules: ColumnRules) -> None:
    """A column of numbers but for so many other cells that it was read as text."""
    answers = [Answer("they are gaps, the column is one of numbers", {"as_numbers": (name,)})]
    if len(words) <= FEW_WORDS and all(len(word) <= LONGEST_WORD for word in words):
        change = {"column_gaps": {name: tuple(words)}}
        answers = [Answer(f"{some(words)}: a gap, the column is one of numbers", change)]
    rules.ask(
        f"nearly:{name}",
        f"column {name!r} is read as text, though {percent(1 - n_odd / filled, 0)} of its cells "
        f"are numbers, for {count(n_odd, 'cell')} are not ({some(words)})",
        *answers,
    )


def _ask_percent(
    name: str,
    levels: Levels,
    numeric: BoolArray,
    times: npt.NDArray[np.int64],
    rules: ColumnRules,
) -> None:
    """Cells with a percent sign beside cells without one: the others may be shares of one."""
    signed = numeric & (levels.numbers.unit == "%")
    n_signed, n = int(times[signed].sum()), int(times[numeric].sum())
    if 0 < n_signed < n:
        shown = levels.shown(signed)[0]
        rules.ask(
            f"percent:{name}",
            f"column {name!r}: {n_signed:,} of {n:,} numbers have a percent sign; {shown!r} was "
            f"read as {shown.rstrip('% ')}, and numbers without the sign as they are",
            Answer("read the column as text", {"as_text": (name,)}),
        )


def _ask_three_digits(rules: ColumnRules) -> None:
    """Cells such as 1,234 in a table where nothing tells what the sign is."""
    if not rules.opened or rules.stated.three_digits is not None:
        return
    cell = next(iter(rules.opened.values()))
    sign = "," if "," in cell else "."
    thousands = rules.means_thousands(sign)
    plain, cut = cell.replace(sign, ""), cell.replace(sign, ".")
    where = f"column{'s' * (len(rules.opened) > 1)} {some(list(rules.opened))}"
    read, other = (plain, cut) if thousands else (cut, plain)
    meaning = "a decimal sign" if thousands else "a thousands mark"
    rules.ask(
        THREE_DIGITS,
        f"{cell!r} in {where} was read as {read}: nothing in the table tells whether it is {other}",
        Answer(
            f"it is {other}: the sign is {meaning}",
            {THREE_DIGITS: "decimal" if thousands else "thousands"},
        ),
    )


def _remark(
    levels: Levels,
    odd: BoolArray,
    limited: BoolArray,
    times: npt.NDArray[np.int64],
    own: Evidence,
    total: Evidence,
    decimal: str,
) -> str:
    """What became of cells that are no plain numbers."""
    numbers = levels.numbers
    parts = []
    if n := int(times[limited].sum()):
        parts.append(
            f"{count(n, 'cell')} beyond the limit of detection ({some(levels.shown(limited))}), "
            "read as the limit itself"
        )
    if n := int(times[odd].sum()):
        parts.append(
            f"{count(n, 'cell')} not a number ({some(levels.shown(odd))}), taken as missing"
        )
    if (with_unit := (numbers.unit != "") & ~odd).any():
        shown, sign = levels.shown(with_unit)[0], str(numbers.unit[with_unit][0])
        what = "percent signs" if sign == "%" else f"units ({sign})"
        value = numbers.by_point if decimal == "." else numbers.by_comma
        parts.append(f"{what} left out: {shown!r} is read as {value[with_unit][0]:g}")
    other = numbers.sure_comma if decimal == "." else numbers.sure_point
    if n := int(times[other & ~odd].sum()):
        name = "comma" if decimal == "." else "point"
        parts.append(
            f"{count(n, 'number')} with a decimal {name} among others "
            f"({some(levels.shown(other))}), read as written"
        )
    mark = numbers.open_comma if decimal == "." else numbers.open_point
    mark = (mark | numbers.marked) & ~odd
    if mark.any() and (own.decimal or total.decimal or numbers.marked.any()):
        value = numbers.by_point if decimal == "." else numbers.by_comma
        shown = levels.shown(mark)[0]
        parts.append(
            f"marks between thousands left out: {shown!r} is read as {value[mark][0]:.15g}"
        )
    return "; ".join(parts)


def _units(levels: Levels, numeric: BoolArray, times: npt.NDArray[np.int64]) -> str:
    """Why numbers with units cannot be read as numbers; "" where they can."""
    units = levels.numbers.unit[numeric]
    found = Counter(dict.fromkeys(units.tolist(), 0))
    for unit, n in zip(units.tolist(), times[numeric].tolist(), strict=True):
        found[unit] += n
    named = [unit for unit in found if unit]
    if len(named) > 1:
        return f"its numbers have different units ({some(sorted(named))})"
    return ""


def _has_codes(levels: Levels, numeric: BoolArray, written: WrittenNumbers) -> bool:
    """Whether all numbers are written as whole ones, some of them with a zero before."""
    texts = levels.texts.filter(pa.array(numeric & (written.unit == "")))
    led = pc.match_substring_regex(texts, "^0[0-9]+$")
    return bool(pc.any(led).as_py()) and bool(
        pc.all(pc.match_substring_regex(texts, "^[0-9]+$")).as_py()
    )


def _is_large(levels: Levels, numeric: BoolArray, numbers: npt.NDArray[np.float64]) -> bool:
    """Whether all numbers are written as whole ones, some of them too large for floating point."""
    if not reach_beyond_exact(numbers):
        return False
    written = levels.texts.filter(pa.array(numeric))
    return bool(pc.all(pc.match_substring_regex(written, IS_WHOLE)).as_py())


def fixed_width(
    columns: dict[str, WrittenColumn], n_rows: int, limits: Limits
) -> tuple[dict[str, Text], list[str]]:
    """Text columns for a table, and remarks on what became of some of them.

    Narrow columns come first, so that a wide one takes no room that many others could use.
    """
    room = TextRoom(n_rows, limits)
    kept = {
        name: columns[name].text()
        for name in sorted(columns, key=lambda name: columns[name].longest)
        if room.takes(name, columns[name].longest)
    }
    large = [name for name in columns if columns[name].is_large and name in kept]
    remarks = column_remarks({KEPT_AS_TEXT: large}) + room.remarks()
    return {name: kept[name] for name in columns if name in kept}, remarks
