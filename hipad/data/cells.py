"""Written cells to columns: numbers where the cells are numbers, text elsewhere, within limits."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.data.dialect import ROW_NAMES
from hipad.data.file_format import (
    LONGEST_WORD,
    Answer,
    FileFormat,
    Limits,
    Question,
    Reading,
    ThreeDigits,
    report_rows,
)
from hipad.data.table import Table, tidy_names
from hipad.data.written_numbers import (
    BOOKED,
    FEW_LEVELS,
    IS_WHOLE,
    KEPT_AS_TEXT,
    POWER,
    USUAL_GAPS,
    Cells,
    DecimalSigns,
    GapWords,
    NumberReader,
    OpenWord,
    Text,
    WrittenNumbers,
    as_written,
    buffers,
    level_array,
    matches,
    reach_beyond_exact,
    signs,
    text_gaps,
    tidy_levels,
    written_numbers,
)
from hipad.exceptions import DataError
from hipad.utils import BoolArray, FloatArray, count, listed, percent, some

# --------------------------------------------------------------------------------------------------
# Room in memory for text columns, and remarks on the columns that do not fit.
#
# NumPy holds every text of a column in as many bytes as the longest one takes.


CHARACTER_BYTES: Final = np.dtype("U1").itemsize
TEXT_SHARE: Final = 4  # text columns may take this part of the memory that reading may take


class TextBudget:
    """The memory left for text columns, and the columns that were left out for want of it."""

    def __init__(self, n_rows: int, limits: Limits) -> None:
        self.n_rows = n_rows
        self.most_characters = limits.text_characters
        self.left = limits.memory_bytes // TEXT_SHARE
        self.left_out: dict[str, list[str]] = defaultdict(list)

    def takes(self, name: str, longest: int) -> bool:
        """Return whether a column whose longest text has so many characters is let in."""
        size = self.n_rows * longest * CHARACTER_BYTES
        if longest > self.most_characters:
            self.left_out[f"with texts of more than {self.most_characters:,} characters"].append(
                name
            )
        elif size > self.left:
            self.left_out["with texts too long for so many rows"].append(name)
        else:
            self.left -= size
            return True
        return False

    def remarks(self) -> list[str]:
        """Return which columns were left out, and why."""
        return column_remarks({f"{why} left out": names for why, names in self.left_out.items()})


def column_remarks(named: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one sentence for each thing to tell of some columns.

    >>> column_remarks({"of dates left out": ["born", "seen"]})
    ["2 columns of dates left out: 'born' and 'seen'"]
    """
    return [
        f"{count(len(names), 'column')} {what}: {some(names)}"
        for what, names in named.items()
        if names
    ]


# --------------------------------------------------------------------------------------------------
# Columns of written cells that are not plain numbers throughout: numbers all the same, or text.
#
# A column that is numeric but for a few odd cells (`offen`) stays numeric, its odd cells count as
# missing, and a remark says so. A value beyond what could be measured (`<5`, `>100`) is read as
# that limit: it is low or high, and a gap would be filled with a usual value. Work is done on the
# different texts only, which are often few. What stays open is a `Question`.


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
    evidence: DecimalSigns = field(default_factory=DecimalSigns)  # plain columns, first rows
    gaps: Counter[str] = field(default_factory=Counter)  # words taken as gaps
    questions: list[Question] = field(default_factory=list)
    opened: dict[str, str] = field(default_factory=dict)  # columns with 1,234, and such a cell
    total: DecimalSigns = field(default_factory=DecimalSigns)  # of all columns that were looked at
    three_digits: ThreeDigits | None = None  # what the sign of 1,234 was taken for, where it came

    def name(self, j: int) -> str:
        return self.names[j] if j < len(self.names) else f"x{j}"

    def ask(self, key: str, text: str, *answers: Answer) -> None:
        """Ask the user, unless there are very many questions already."""
        if len(self.questions) < MOST_QUESTIONS:
            self.questions.append(Question(key, text, answers))

    def decimal_of(self, own: DecimalSigns, total: DecimalSigns) -> str:
        """Return the decimal sign of a column, by its own numbers, else by those of the table."""
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
        """Return why the decimal sign is what it is."""
        point, comma = self.total.point, self.total.comma
        if not point and not comma:
            return "nothing tells another" if not self.opened else "not certain"
        here, other = (comma, point) if self.decimal == "," else (point, comma)
        return "as the numbers show" if not other else f"{here:,} numbers against {other:,}"

    def means_thousands(self, sign: str) -> bool:
        """Return whether the sign of 1,234 marks thousands where nothing in the table tells."""
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
        """Return all rows, each as wide as the longest text."""
        levels = level_array(self.levels, self.gaps)
        return levels if self.codes is None else levels.take(self.codes)

    def written(self) -> Text | None:
        """Return all rows as they were written, where words were taken as gaps and levels
        are few.
        """
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
    """Yield columns of numbers as they were written, where words in them were taken as gaps.

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
    """Return the different texts and which one each row has; all texts if looking for equals is
    vain.
    """
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
        """Return some of them."""
        return Levels(
            self.texts[here],
            self.gaps[here],
            self.plus[here],
            self.minus[here],
            self.numbers.part(here),
            self.lengths[here],
        )

    def times(self, codes: Codes | None) -> npt.NDArray[np.int64]:
        """Return how often each text comes."""
        n = len(self.gaps)
        times = np.ones(n) if codes is None else np.bincount(codes, minlength=n)
        return times.astype(np.int64)

    def shown(self, which: BoolArray) -> list[str]:
        """Return the different texts of some places."""
        found: list[str] = pc.unique(self.texts.filter(pa.array(which))).to_pylist()
        return found


def _column(
    j: int,
    levels: Levels,
    codes: Codes | None,
    rules: ColumnRules,
    own: DecimalSigns,
    total: DecimalSigns,
) -> WrittenColumn:
    """Return text, or numbers if all but a few cells are, with a remark on the others."""
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
    """Return a column of texts; what may be a level or a gap, and levels of nearly one name, are
    asked.
    """
    gaps, opened = text_gaps(levels.texts, levels.gaps, times, rules.words)
    if more := rules.stated.column_gaps.get(name):
        gaps = gaps | _in(levels.texts, more)
        opened = [o for o in opened if o.word.lower() not in {w.strip().lower() for w in more}]
    _count_gaps(levels, gaps, times, rules)
    for each in opened:
        _ask_word(name, each, rules)
    if 2 <= np.count_nonzero(~gaps) <= FEW_LEVELS:
        _ask_alike(name, levels.shown(~gaps), rules)
    _ask_several(name, levels, gaps, times, rules)
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


SEVERAL: Final = r"^[0-9]+(?:[.,][0-9]+)? ?(?:±|\+/-|\+-|/|;|\||\() ?[-+]?[0-9]"
DATED: Final = r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
MONTHS: Final = (
    r"(?i:jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*\.?"
)
BY_SPREADSHEET: Final = rf"^(?:[0-9]{{1,2}}[-. ] ?{MONTHS}|{MONTHS}[- ][0-9]{{1,2}})$"
RANGE: Final = r"^[0-9]{1,3} ?[-–] ?[0-9]{1,3}$"
LEAST_SEVERAL: Final = 3  # different cells, of which most hold two numbers
SAME_MEANING: Final = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("yes y ja j oui o si sí tak да true t 1 wahr vrai", "no n nein non nie нет false f 0 nee"),
        ("m male man men boy männlich mann homme hombre", "f w female woman women girl weiblich "
         "frau femme mujer"),
        ("pos positive positiv +", "neg negative negativ -"),
    )
)  # fmt: skip


def _ask_several(
    name: str,
    levels: Levels,
    gaps: BoolArray,
    times: npt.NDArray[np.int64],
    rules: ColumnRules,
) -> None:
    """Cells of two numbers, such as 5.1 ± 0.2; and ranges that a spreadsheet took for dates."""
    if name in rules.stated.as_text:
        return
    filled = int(times[~gaps].sum())
    several = ~gaps & matches(levels.texts, SEVERAL) & ~matches(levels.texts, DATED)
    if several.sum() >= LEAST_SEVERAL and times[several].sum() > NEAR_SHARE * filled:
        rules.ask(
            f"several:{name}",
            f"column {name!r} is read as text, as its cells hold more than one number each "
            f"({some(levels.shown(several))}): write them in columns of their own in the file",
        )
    dated = ~gaps & matches(levels.texts, BY_SPREADSHEET)
    if dated.any() and matches(levels.texts, RANGE).any():
        rules.ask(
            f"dated:{name}",
            f"column {name!r}: {some(levels.shown(dated))} beside ranges, as a spreadsheet makes "
            "dates of 5-9 and the like: correct these cells in the file",
        )


def _ask_alike(name: str, words: list[str], rules: ColumnRules) -> None:
    """Levels that differ in the case of letters or in blanks only, or are words for the same."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(" ".join(word.casefold().split()), []).append(word)
    for sides in SAME_MEANING:
        if len(groups) > 2 and set(groups) <= sides[0] | sides[1]:
            found = [some([word for word in groups if word in side]) for side in sides]
            rules.ask(
                f"alike:{name}",
                f"column {name!r}: {found[0]} seem to mean the same, and so do {found[1]}, but are "
                "different levels: write them alike in the file",
            )
    for alike in groups.values():
        if len(alike) > 1:
            text = listed([repr(word) for word in alike])
            rules.ask(
                f"alike:{name}:{alike[0]}",
                f"column {name!r}: {text} are different levels, though they differ in capitals or "
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
    own: DecimalSigns,
    total: DecimalSigns,
    decimal: str,
) -> str:
    """Return what became of cells that are no plain numbers."""
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
    booked = ~odd & ~np.isnan(numbers.by_point) & matches(levels.texts, BOOKED)
    if booked.any():
        value = numbers.by_point if decimal == "." else numbers.by_comma
        shown = levels.shown(booked)[0]
        parts.append(
            f"{count(int(times[booked].sum()), 'number')} below zero by brackets or a minus sign "
            f"at the end: {shown!r} is read as {value[booked][0]:.15g}"
        )
    return "; ".join(parts)


def _units(levels: Levels, numeric: BoolArray, times: npt.NDArray[np.int64]) -> str:
    """Return why numbers with units cannot be read as numbers; "" where they can."""
    units = levels.numbers.unit[numeric]
    found = Counter(dict.fromkeys(units.tolist(), 0))
    for unit, n in zip(units.tolist(), times[numeric].tolist(), strict=True):
        found[unit] += n
    named = [unit for unit in found if unit]
    if len(named) > 1:
        return f"its numbers have different units ({some(sorted(named))})"
    if named and "" in found and re.match(POWER, named[0]):
        return f"some of its numbers are multiplied by a power ({named[0]}), others are not"
    return ""


def _has_codes(levels: Levels, numeric: BoolArray, written: WrittenNumbers) -> bool:
    """Return whether all numbers are written as whole ones, some of them with a zero before."""
    texts = levels.texts.filter(pa.array(numeric & (written.unit == "")))
    led = pc.match_substring_regex(texts, "^0[0-9]+$")
    return bool(pc.any(led).as_py()) and bool(
        pc.all(pc.match_substring_regex(texts, "^[0-9]+$")).as_py()
    )


def _is_large(levels: Levels, numeric: BoolArray, numbers: npt.NDArray[np.float64]) -> bool:
    """Return whether all numbers are written as whole ones, some of them too large for floating
    point.
    """
    if not reach_beyond_exact(numbers):
        return False
    written = levels.texts.filter(pa.array(numeric))
    return bool(pc.all(pc.match_substring_regex(written, IS_WHOLE)).as_py())


def fixed_width(
    columns: dict[str, WrittenColumn], n_rows: int, limits: Limits
) -> tuple[dict[str, Text], list[str]]:
    """Return text columns for a table, and remarks on what became of some of them.

    Narrow columns come first, so that a wide one takes no room that many others could use.
    """
    budget = TextBudget(n_rows, limits)
    kept = {
        name: columns[name].text()
        for name in sorted(columns, key=lambda name: columns[name].longest)
        if budget.takes(name, columns[name].longest)
    }
    large = [name for name in columns if columns[name].is_large and name in kept]
    remarks = column_remarks({KEPT_AS_TEXT: large}) + budget.remarks()
    return {name: kept[name] for name in columns if name in kept}, remarks


# --------------------------------------------------------------------------------------------------
# Rows of written cells turned into numbers and text, whatever they hold.
#
# Every cell is read as a number; where that fails, the column's texts are collected instead. Cells
# come in blocks: some rows, one after the other, in one Arrow array, whose string functions read 25
# million cells in a few seconds. What a table means does not depend on how it is cut into blocks.


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
    evidence: DecimalSigns = field(default_factory=DecimalSigns)  # of the first rows
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
    _ask_merged(names, numbers[:, 0] if kept and kept[0] == 0 else None, columns, rules)
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


def _ask_merged(
    names: list[str], first: FloatArray | None, text: dict[str, Text], rules: ColumnRules
) -> None:
    """Names of rows that stand once above empty cells, as in a sheet with merged cells."""
    if not names:
        return
    name = names[0]
    cells = text.get(name)
    filled: BoolArray
    values: npt.NDArray[Any]
    if cells is not None:
        filled, values = np.asarray(cells != ""), cells
    elif first is not None and bool((np.isnan(first) | (first == np.rint(first))).all()):
        filled, values = ~np.isnan(first), first
    else:
        return
    n, n_filled = len(filled), int(filled.sum())
    once = n_filled > 1 and len(np.unique(values[filled])) == n_filled
    if n and filled[0] and once and n - n_filled >= n_filled / 2:
        rules.ask(
            f"merged:{name}",
            f"column {name!r}: {n - n_filled:,} of {n:,} cells are empty below one that is filled, "
            "as merged cells are: where they stand for the same patient, write it in each row of "
            "the file, or the rows do not belong together",
        )


def _names(header: Sequence[object], style: CellStyle) -> tuple[list[str], list[str]]:
    """Return names of the columns; the one that only names the rows is called so."""
    raw = list(header)
    if 0 <= style.index < len(raw) and not str(raw[style.index] or "").strip():
        raw[style.index] = ROW_NAMES if ROW_NAMES not in raw else "row names"
    return tidy_names(raw)


def _empty_columns(
    header: Sequence[object], names: list[str], matrix: FloatArray, text: dict[str, WrittenColumn]
) -> set[int]:
    """Return columns without a name in which no cell is filled, unless all are such."""
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
    """Return columns of numbers as they were written, where words stand beside one number or none.

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
    """Return of these columns those with gaps and at most one number beside them."""
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
    """Return all cells as numbers (NaN where there is none), but for columns that hold something
    else.
    """
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
        report_rows(n_rows, shape[0])
    return matrix[:n_rows], texts


def _zero_led(cells: Cells, width: int) -> npt.NDArray[np.int64]:
    """Return columns with a cell that begins with a zero and another digit, as codes do."""
    starts, letters = buffers(cells)
    begins = starts[:-1][np.diff(starts) > 1]
    at = np.flatnonzero(letters[begins] == ZERO)
    at = at[np.isin(letters[begins[at] + 1], DIGITS)] if len(at) else at
    if not len(at):
        return at
    return np.unique(np.flatnonzero(np.diff(starts) > 1)[at] % width)


def _pointed(cells: Cells) -> Cells:
    """Return cells with points for decimal commas; those with points between digits are no numbers
    then.

    A point there marks thousands, or stands for a comma: whole columns tell.
    """
    _, letters = buffers(cells)
    if (letters == POINT).any():
        cells = pc.replace_substring_regex(cells, r"([0-9])\.([0-9])", r"\1·\2")
    return pc.replace_substring(cells, ",", ".")


def _keep_columns(matrix: FloatArray, columns: list[int]) -> FloatArray:
    """Return some columns, moved together in place: a copy would need the memory twice."""
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
        """Yield each of these columns, and all its cells."""
        for j, remarked in self.found.items():
            pieces = (*self.early[:remarked], *self.pieces[remarked:])
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
        """Return the cells of one column."""
        return self.cells.slice(self.place[j] * self.n_rows, self.n_rows)
