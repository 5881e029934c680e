"""The dialect of a text table: separator, decimal sign, header, where rows begin and end."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from typing import Any, Final, NamedTuple

import numpy as np

from hipad.data.file_format import SEPARATORS, Answer, FileFormat, Limits, Question
from hipad.data.orientation import BOTTOM, TOP, LabelRows, label_rows
from hipad.data.written_numbers import (
    IS_UNIT,
    OPEN_COMMA,
    OPEN_POINT,
    SURE_COMMA,
    SURE_POINT,
    DecimalSigns,
    to_number,
)
from hipad.exceptions import DataError
from hipad.utils import count, some

# --------------------------------------------------------------------------------------------------
# How a text table is written: its separator, its decimal sign, and where its rows begin and end.
#
# All of it is found from the first rows and the last lines, or stated. Above the names of the
# columns there may be titles, comments and a row of groups, below them a row of units; after the
# last row there may be sums and sources. Columns tell these apart: where most rows have numbers or
# dates, a header has words.


SAMPLE_ROWS: Final = 60
SAMPLE_CHARACTERS: Final = 1_000_000
SAMPLE_CELLS: Final = 5_000
LOOKED_AT: Final = 200  # cells of a row that tell what it is
LAST_ROWS: Final = 12
FIELD_CHARACTERS: Final = 10_000_000
ROW_NAMES: Final = "row"
NO_HEADER: Final = "no header row: the columns are called x0, x1, ..."
COMMENT: Final = "#"
SEPARATOR_LINE: Final = re.compile(r'\ufeff?"?sep=(.)"?[;,\t|]*', re.IGNORECASE)
SEPARATOR_ROW: Final = re.compile(r'\ufeff?"?sep=.?"?', re.IGNORECASE)
INDEX_NAME: Final = re.compile(
    r"unnamed: ?0(\.\d+)?", re.IGNORECASE
)  # pandas, read and saved again
HAS_DATA: Final = re.compile(
    r"[<>≤≥=~€$£]*\s*[-+\u2212\u2013]?[\d.,:/\s'\u2019-]*\d[\d.,:/\s'\u2019TZ-]*"
    r"([eE][-+]?\d+)?\s*[%€$£]?"
)
UNIT: Final = re.compile(IS_UNIT)
TOTAL: Final = re.compile(
    r"(grand )?(sub)?totals?|sums?|summen?|gesamt(summe)?|insgesamt|zwischensumme|means?|average|"
    r"avg\.?|mittel(wert)?|mw|durchschnitt|median(wert)?|s\.?d\.?|std\.?( ?dev(iation)?\.?)?|"
    r"stabw\.?|standardabweichung|count|anzahl|min(imum)?|max(imum)?|somme|moyenne|"
    r"[eé]cart[- ]type|suma( total)?|promedio|media|totale( generale)?|somma|overall|n|"
    r"total(es)? (general|g[eé]n[eé]ral|geral|all)|gesamt(ergebnis|zahl)|ergebnis|endsumme|"
    r"mediana|m[eé]diane|totaal|gemiddelde|mediaan|totalt|genomsnitt|gjennomsnitt|i alt|yhteensä|"
    r"keskiarvo|razem|[sś]rednia|celkem|pr[ůu]měr|összesen|átlag|toplam|ortalama|"
    r"итого|всего|среднее|合計|平均|总计|合计|平均值|합계|평균|mean ?(±|\+/-) ?s\.?d\.?",
    re.IGNORECASE,
)

# The csv module's own limit is lower; beyond this one, a quote was never closed.
csv.field_size_limit(FIELD_CHARACTERS)


class Row(NamedTuple):
    """A row with the line that it begins on, counted from one, and how many lines it takes."""

    line: int
    n_lines: int
    cells: list[str]

    @property
    def filled(self) -> int:
        return sum(bool(cell.strip()) for cell in self.cells)

    @property
    def shown(self) -> str:
        """Its cells as one text, for a message."""
        return " ".join(cell.strip() for cell in self.cells[:20] if cell.strip())[:80]


@dataclass
class Frame:
    """Where a table lies among the rows of a file, and how its columns are called."""

    names: list[str]
    header_row: int  # the line of the names; 0: there is none
    body_line: int  # lines before the first row of data
    body: list[Row]  # the first of these rows
    width: int  # of most rows
    reasons: dict[str, str] = field(default_factory=dict)
    titles: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    named: int = 0  # cells that the header itself has
    second: tuple[Row, ...] = ()  # words below the header: another one, or classes of columns


def first_lines(lines: Iterable[str], limits: Limits) -> list[str]:
    """Return the first of some lines: three that are filled, or more if they are short."""
    sample: list[str] = []
    size = filled = 0
    for line in lines:
        if filled > SAMPLE_ROWS or (filled >= 3 and size > SAMPLE_CHARACTERS):
            break
        if len(sample) > 10 * SAMPLE_ROWS and filled:
            break
        limits.check_shape(1, 1 + max(line.count(separator) for separator in SEPARATORS))
        sample.append(line)
        size += len(line)
        filled += bool(line.strip(' \t\r\f\v,;|"'))
    return sample


def find_separator(lines: Sequence[str], stated: FileFormat) -> tuple[str, str]:
    """Return what separates the cells, and why."""
    if stated.separator is not None:
        return stated.separator, ""
    first = next((line for line in lines if line.strip()), "")
    if (declared := SEPARATOR_LINE.fullmatch(first.strip("\r\n"))) and declared[1] in SEPARATORS:
        return declared[1], "told by the first line"
    filled = [line for line in lines if line.strip(' \t\r\f\v,;|"')]
    scores = {separator: _agreement(filled, separator) for separator in SEPARATORS}
    return max(scores, key=lambda separator: scores[separator]), "it gives most rows alike"


def _agreement(lines: list[str], separator: str) -> tuple[bool, float, float, int]:
    """Return how well a separator explains the lines: most agree on its columns, and most are
    numbers.

    The numbers tell semicolons from decimal commas, which would give more columns. Blanks come
    last: they separate the words of a text too.
    """
    widths: Counter[int] = Counter()
    cells: list[str] = []
    n = 0
    for row in csv_rows(lines, separator):
        n += 1
        if row:
            widths[len(row)] += 1
        cells += row[: 1 + SAMPLE_CELLS // len(lines)]
    wide = {width: times for width, times in widths.items() if width > 1}
    if not wide:
        return False, 0.0, 0.0, 1
    most = max(wide, key=lambda width: (wide[width], width))
    agree = wide[most] / n
    sound = separator != " " and agree >= 0.5
    return sound, agree, _share_of_numbers(cells, separator), most


def _share_of_numbers(cells: list[str], separator: str) -> float:
    """Return how many of some cells are numbers, with decimal commas where these do not
    separate.
    """
    plain = cells if separator == "," else (cell.replace(",", ".") for cell in cells)
    return sum(to_number(cell) is not None for cell in plain) / max(len(cells), 1)


def sample_rows(lines: Sequence[str], separator: str) -> list[Row]:
    """Return the filled rows of some lines."""
    rows: list[Row] = []
    reader = csv_reader((f"{line}\n" for line in lines), separator)
    last = 0
    for cells in checked(reader):
        line, last = last + 1, reader.line_num
        if any(cell.strip() for cell in cells):
            rows.append(Row(line, last - line + 1, cells))
    return rows


def has_data(cell: str) -> bool | None:
    """Return whether a cell holds a number, a date or a time; None where it is empty or says NA."""
    plain = cell.strip()
    number = to_number(plain)
    if number is not None:
        return None if number != number else True
    return len(plain) <= 40 and HAS_DATA.fullmatch(plain) is not None


def find_frame(rows: list[Row], stated: FileFormat) -> Frame:
    """Return where the header and the first row of data are, of the first rows of a file."""
    top = [row for row in rows if not SEPARATOR_ROW.fullmatch(row.shown)]
    if not top:
        raise DataError("expected a table, got an empty file")
    usual = [row for row in top if len(row.cells) > 1] or top
    widths = Counter(len(row.cells) for row in usual[len(usual) // 2 :])  # below any titles
    width = max(widths, key=lambda w: (widths[w], w))
    alike = [row for row in usual if len(row.cells) == width]
    numeric = _data_columns(alike[len(alike) // 2 :], width)
    fill = sorted(row.filled for row in alike)[len(alike) // 2]
    enough = max(2, (fill + 1) // 2) if width > 1 else 1
    if stated.header_row is not None:
        return _stated_frame(rows, top, stated.header_row, width)
    last = _last_words(top, numeric)
    if last is None:
        above = list(takewhile(lambda row: row.filled < enough or _is_comment(row, width), top))
        if numeric or len(above) == len(top):
            return _without_words(top, above, width)
        last = len(above)  # words everywhere: the first row that is long enough
        if not _is_header(top[last].cells, [row.cells for row in top[last + 1 :]]):
            return _without_words(top, above, width)
    return _with_header(top, last, numeric, enough, width)


def _last_words(top: list[Row], numeric: list[int]) -> int | None:
    """Return the last of the first rows that has words where others have numbers, before any of
    these.
    """
    found = None
    for i, row in enumerate(top):
        cells = [row.cells[j] for j in numeric if j < len(row.cells)]
        data_cells = [is_data for cell in cells if (is_data := has_data(cell)) is not None]
        if data_cells and all(data_cells):
            break
        if (
            data_cells
            and 2 * sum(data_cells) < len(data_cells)
            and not _comes_again(row, top[i + 1 :])
        ):
            found = i
    return found


def _comes_again(row: Row, below: list[Row]) -> bool:
    """Return whether a word of a row stands in its column again, as words of data do and names do
    not.
    """
    for j, cell in enumerate(row.cells[:LOOKED_AT]):
        if cell.strip() and has_data(cell) is False:
            rest = (other.cells for other in below if other.cells != row.cells)
            again = sum(j < len(cells) and cells[j] == cell for cells in rest)
            if again > len(below) // 20:
                return True
    return False


def _data_columns(rows: list[Row], width: int) -> list[int]:
    """Return the columns in which most cells of some rows are numbers or dates."""
    found = []
    for j in range(min(width, LOOKED_AT)):
        data_cells = [is_data for row in rows if (is_data := has_data(row.cells[j])) is not None]
        if data_cells and 2 * sum(data_cells) >= len(data_cells):
            found.append(j)
    return found


def _is_comment(row: Row, width: int) -> bool:
    return row.cells[0].lstrip().startswith(COMMENT) and len(row.cells) != width


def _without_words(top: list[Row], above: list[Row], width: int) -> Frame:
    """No row has words above numbers: the first one may be a header still, if its words are new."""
    rest = top[len(above) :]
    if not rest:
        raise DataError(
            "expected columns separated by commas, semicolons, tabs or bars, got one column only: "
            f"the first line is {top[0].shown[:60]!r}"
        )
    if _is_header(rest[0].cells, [row.cells for row in rest[1:]]):
        return _with_header(top, len(above), [], 1, width)
    first = rest[0]
    frame = Frame(
        [f"x{j}" for j in range(len(first.cells))], 0, first.line - 1, rest, width,
        {"header_row": "the first row holds no names"}, _shown(above), remarks=[NO_HEADER],
    )  # fmt: skip
    if _shown(above):
        frame.remarks.insert(0, _titles_remark(frame.titles))
    if not any(has_data(cell) for cell in first.cells):
        frame.questions.append(
            Question(
                "header",
                f"the first row ({first.shown!r}) was read as data, for its words come again below",
                (Answer("it holds the names of the columns", {"header_row": first.line}),),
            )
        )
    return frame


def _is_header(first: list[str], body: list[list[str]]) -> bool:
    """Return whether a row holds a text that no other row has in the same column."""
    return any(
        to_number(cell.replace(",", ".")) is None
        and not any(j < len(row) and row[j] == cell for row in body)
        for j, cell in enumerate(first[:SAMPLE_CELLS])
    )


def _with_header(top: list[Row], last: int, numeric: list[int], enough: int, width: int) -> Frame:
    """Return the rows of words that end with this one: groups and names, or names and units."""
    above, body = top[: last + 1], top[last + 1 :]
    at, groups, units = last, None, None
    if at and _are_units(above[at], numeric):
        units = above[at]
        at = next((i for i in range(at - 1, -1, -1) if above[i].filled >= enough), 0)
    while at and _is_full(above[at - 1], above[at], numeric):
        at -= 1
    header = above[at]
    run = [row for row in above if row.line > header.line and row is not units]
    if run and _is_group(header, run[0]):
        groups, header, run = header, run[0], run[1:]
    elif at and _names_groups(above[at - 1], header):
        groups = above[at - 1]
    below = run
    if units is None and below and _are_units(below[0], numeric):
        units = below[0]  # above other rows of words
    used = [row for row in (groups, header, units) if row is not None]
    titles = [row for row in above if row.line < used[0].line]
    rest = [row for row in below if row not in used and not _is_comment(row, width)]
    end = max(used, key=lambda row: row.line)
    found = Frame(
        list(header.cells),
        header.line,
        end.line + end.n_lines - 1,
        rest + body,
        width,
        {"header_row": "words above columns of numbers" if numeric else "the first full row"},
        _shown(titles),
        tuple(cell.strip() for cell in units.cells) if units is not None else (),
        named=len(header.cells),
        second=tuple(rest),
    )
    if found.names and found.names[0].startswith(COMMENT):
        found.names[0] = found.names[0].lstrip(COMMENT + " ")
    if found.titles:
        found.remarks.append(_titles_remark(found.titles))
    if units is not None:
        found.remarks.append(f"line {units.line:,} holds units, not a row: {units.shown!r}")
    if groups is not None:
        found.names = _joined(groups.cells, header.cells)
        found.questions.append(
            Question(
                "groups",
                f"lines {groups.line:,} and {header.line:,} together were read as the names of the "
                f"columns, such as {next((n for n in found.names if ' ' in n), found.names[0])!r}",
                (Answer(f"line {header.line:,} alone holds them", {"header_row": header.line}),),
            )
        )
    return found


def _stated_frame(rows: list[Row], top: list[Row], line: int, width: int) -> Frame:
    if line == 0:
        first = next((row for row in top if len(row.cells) == width), top[0])
        names = [f"x{j}" for j in range(len(first.cells))]
        body = [row for row in top if row.line >= first.line]
        above = [row for row in top if row.line < first.line]
        return Frame(
            names, 0, first.line - 1, body, width, titles=_shown(above), remarks=[NO_HEADER]
        )
    header = next((row for row in rows if row.line == line), None)
    if header is None:
        known = [row.line for row in rows]
        raise DataError(
            f"expected a filled line of the first {known[-1]:,} as the header row, got line "
            f"{line:,}: name another one, or 0 where there is none"
        )
    body = [row for row in top if row.line > line]
    units = body[:1] if body and _are_units(body[0], _data_columns(body[1:], width)) else []
    end = units[0] if units else header
    return Frame(
        list(header.cells),
        line,
        end.line + end.n_lines - 1,
        body[len(units) :],
        width,
        titles=_shown([row for row in top if row.line < line]),
        units=tuple(cell.strip() for cell in units[0].cells) if units else (),
        remarks=[f"line {end.line:,} holds units, not a row: {end.shown!r}"] if units else [],
        named=len(header.cells),
    )


def _shown(rows: list[Row]) -> tuple[str, ...]:
    return tuple(row.shown for row in rows)


def _titles_remark(titles: tuple[str, ...]) -> str:
    return f"{count(len(titles), 'line')} above the table left out: {some(list(titles))}"


def _is_full(row: Row, below: Row, numeric: list[int]) -> bool:
    """Return whether a row just above another is as full of words as that one."""
    if row.line + row.n_lines != below.line or row.cells[0].lstrip().startswith(COMMENT):
        return False
    if any(has_data(row.cells[j]) for j in numeric if j < len(row.cells)):
        return False
    short = len(row.cells) == len(below.cells) - 1 and len(below.cells) > 4  # as R writes it
    return row.filled >= below.filled - (short or not row.cells[0].strip())


def _are_units(row: Row, numeric: list[int]) -> bool:
    """Return whether the cells of a row above columns of numbers are units, or empty."""
    cells = [row.cells[j].strip() for j in numeric if j < len(row.cells)]
    filled = [cell for cell in cells if cell and cell not in ("-", "--", "1")]
    units = sum(bool(UNIT.fullmatch(cell)) or _bracketed(cell) for cell in filled)
    return bool(filled) and 2 * units > len(filled)


def _bracketed(cell: str) -> bool:
    return len(cell) > 2 and (cell[0], cell[-1]) in (("(", ")"), ("[", "]"))


def _is_group(first: Row, second: Row) -> bool:
    """Return whether a row names groups of the columns that the next one names."""
    names = [cell.strip() for cell in second.cells if cell.strip()]
    groups = [cell.strip() for cell in first.cells if cell.strip()]
    return len(set(groups)) < len(groups) and len(set(names)) == len(names)


def _names_groups(row: Row, header: Row) -> bool:
    """Return whether a row above the header has words here and there, as names of groups do."""
    places = [j for j, cell in enumerate(row.cells) if cell.strip()]
    is_near = row.line + row.n_lines == header.line
    return is_near and len(places) >= 2 and places != list(range(len(places)))


def _joined(groups: list[str], names: list[str]) -> list[str]:
    """Return names with those of their groups, each of which goes on until the next one."""
    result, group = [], ""
    for j, name in enumerate(names):
        own = groups[j].strip() if j < len(groups) else ""
        group = own or group
        name = name.strip()
        result.append(name if not group or name == group else f"{group} {name}".strip())
    return result


def find_names(frame: Frame) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and a remark if the header has more or fewer than
    the rows.
    """
    if not frame.header_row:
        return frame.names, []
    first, body = frame.names, [row.cells for row in frame.body]
    if names_are_one_short(first, body):
        check_row_names([row[0].strip() for row in body], first)
        return [ROW_NAMES, *first], []
    widest = max((len(row) for row in body), default=len(first))
    named = max((j for j, name in enumerate(first, 1) if name.strip()), default=0)
    if max(widest, named) < len(first):
        surplus = count(len(first) - max(widest, named), "empty cell")
        return first[: max(widest, named)], [f"{surplus} at the end of the header dropped"]
    return first, []


def names_are_one_short(first: list[str], body: list[list[str]]) -> bool:
    """Return whether the header lacks one name: R leaves out that of the column with the rows'
    names.

    Where the last cell of every row is empty, a separator ends the rows and no name is lacking.
    """
    one_more = {len(row) for row in body} == {len(first) + 1}
    return one_more and any(row[-1].strip() for row in body)


def check_row_names(names: list[str], header: list[str]) -> None:
    """Refuse rows that are one longer than the header where their first cells come again."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"expected {count(len(header), 'cell')} in every row, as in the header, got one more, "
            f"and the first cells are no names of rows, for {repeated[0][:60]!r} comes again: "
            "write the name that the header lacks, or take the additional cells out"
        )


def is_index(header: list[str], rows: list[Row], frame: Frame) -> bool:
    """Return whether the first column has no name and names each row, as R and pandas write it."""
    name = header[0].strip() if header else ""
    if (name and not INDEX_NAME.fullmatch(name)) or not frame.header_row:
        return False
    cells = [row.cells[0].strip() for row in rows]
    return bool(cells) and len({*cells} - {""}) == len(cells)


def second_header(frame: Frame) -> Question:
    """Return the question about rows of words below the header, which are left out."""
    first, last = frame.second[0], frame.second[-1]
    lines = f"line {first.line:,} holds"
    if first is not last:
        lines = f"lines {first.line:,} to {last.line:,} hold"
    return Question(
        "second header",
        f"{lines} words above columns of numbers ({first.shown!r}): taken for a second header and "
        f"left out, the names are those of line {frame.header_row:,}",
        (Answer(f"line {first.line:,} holds the names", {"header_row": first.line}),),
    )


def footers_remark(footers: list[Row]) -> list[str]:
    """Say which lines at the end were left out."""
    if not footers:
        return []
    shown = some([row.shown for row in footers])
    return [f"{count(len(footers), 'line')} at the end left out, no rows: {shown}"]


def find_footers(
    last: list[Row], frame: Frame, stated: FileFormat
) -> tuple[list[Row], list[Question]]:
    """Return rows at the end of a file that are none of the table, of its last ones; a sum is
    asked.
    """
    if stated.footer_rows is not None:
        return last[len(last) - stated.footer_rows :] if stated.footer_rows else [], []
    width, at = frame.width, len(last)
    while at and _is_footer(last[at - 1], width, frame):
        at -= 1
    notes = last[at:]
    sums: list[Row] = []
    while at and len(last) - at < LAST_ROWS - 1 and _is_total(last[at - 1], frame):
        at -= 1
        sums.insert(0, last[at])
    if not sums:
        return notes, []
    left = [*sums, *notes]
    return left, [
        Question(
            "footer",
            f"left out at the end, as it seems to sum up the others: {count(len(sums), 'row')} "
            f"({some([next(filter(None, map(str.strip, row.cells))) for row in sums])})",
            (Answer("keep as rows", {"footer_rows": len(notes)}),),
        )
    ]


def _is_footer(row: Row, width: int, frame: Frame) -> bool:
    """Return whether only the first cell of a row holds a text, and other rows hold more."""
    if width < 2 or row.filled != 1 or not row.cells[0].strip() or has_data(row.cells[0]):
        return False
    usual = sorted(each.filled for each in frame.body)
    return len(row.cells) == 1 or (width >= 3 and bool(usual) and usual[len(usual) // 2] >= 3)


def _is_total(row: Row, frame: Frame) -> bool:
    """Return whether the first word of a row is one such as Total, which its column does not have
    again.

    A row without its first cell is one too if its numbers are the sums of those above.
    """
    at = next((j for j, cell in enumerate(row.cells) if cell.strip()), 0)
    word = row.cells[at].strip()
    if TOTAL.fullmatch(word.rstrip(":")) and (at == 0 or len(word) > 1):
        column = (each.cells[at].strip() for each in frame.body if at < len(each.cells))
        return sum(cell.lower() == word.lower() for cell in column) <= 1
    return at > 0 and _sums_up(row, [each for each in frame.body if each.line < row.line])


def _sums_up(row: Row, above: list[Row]) -> bool:
    """Return whether every number of a row is the sum of those above, of which there are some."""
    if len(above) < 2 or any(not each.cells[0].strip() for each in above):
        return False
    sums = []
    for j, cell in enumerate(row.cells[:LOOKED_AT]):
        total = to_number(cell.replace(",", "."))
        if total is None or total != total:
            continue
        cells = [each.cells[j] for each in above if j < len(each.cells)]
        values = [to_number(each.replace(",", ".")) for each in cells]
        sums.append(
            all(value is not None for value in values)
            and abs(sum(v for v in values if v is not None and v == v) - total) < 1e-6
        )
    return bool(sums) and all(sums)


def csv_reader(lines: Iterable[str], separator: str) -> Any:
    """Return python's reader of rows; blanks before a cell do not count."""
    if separator == " ":
        lines = (line.strip() for line in lines)
    return csv.reader(lines, delimiter=separator, skipinitialspace=True)


def csv_rows(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Return rows of cells as Python's csv module reads them; blanks before a cell do not count."""
    return checked(csv_reader(lines, separator))


def checked(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield rows of the csv module; a quote that is never closed is a DataError."""
    try:
        yield from rows
    except csv.Error as error:
        raise DataError(
            f"expected cells of at most {FIELD_CHARACTERS:,} characters, got more: look for a "
            "quote that is never closed"
        ) from error


def sample_evidence(rows: list[Row]) -> DecimalSigns:
    """Return what the cells of the first rows tell of decimal signs."""
    cells = list(islice(chain.from_iterable(row.cells for row in rows), SAMPLE_CELLS))
    plain = [cell.strip().replace("\u2212", "-") for cell in cells if len(cell) < 60]
    patterns = (SURE_POINT, SURE_COMMA, OPEN_POINT, OPEN_COMMA)
    tests = [re.compile(pattern) for pattern in patterns]
    return DecimalSigns(*(sum(bool(test.match(cell)) for cell in plain) for test in tests))


def watched_columns(rows: list[Row], evidence: DecimalSigns, separator: str) -> list[int]:
    """Return columns of plain numbers to look at as texts: nothing tells what their 1.234 is."""
    if not evidence.is_open:
        return []
    thousands = re.compile(OPEN_COMMA if separator == "," else f"{OPEN_POINT}|{OPEN_COMMA}")
    found = {
        j
        for row in rows[:SAMPLE_ROWS]
        for j, cell in enumerate(row.cells[:SAMPLE_CELLS])
        if thousands.match(cell.strip())
    }
    return sorted(found)[:LOOKED_AT]


# --------------------------------------------------------------------------------------------------
# Lines of a text file, a few megabytes at a time.
#
# A file of a gigabyte may have as many lines; they are counted before they become objects.


CHUNK_BYTES: Final = 2**20
FIRST_BYTES: Final = 2**16  # a small first piece: what it tells makes the rest cheaper
NEWLINE: Final = 10
LINES_PER_ROW: Final = 4  # empty lines are no rows, but there is an end to them too


def count_letters(data: bytes, letter: int) -> int:
    """Return how often a letter of one byte stands in some text; much faster than `bytes.count`."""
    return sum(
        int(np.count_nonzero(np.frombuffer(data, np.uint8, size, start) == letter))
        for start, size in _parts(len(data))
    )


def _parts(length: int) -> Iterator[tuple[int, int]]:
    """Start and size of the parts that a long text is looked at in."""
    for start in range(0, length, CHUNK_BYTES):
        yield start, min(CHUNK_BYTES, length - start)


class Lines:
    """The lines of UTF-8 text, which may end as Unix, Windows or an old Mac ends them."""

    def __init__(self, data: bytes, limits: Limits, before: int = 0) -> None:
        self.before = before  # lines of the file above these
        self.data = data if b"\n" in data else data.replace(b"\r", b"\n")
        self.limits = limits
        self.most_rows = count_letters(self.data, NEWLINE) + 1
        if self.most_rows > LINES_PER_ROW * limits.rows:
            raise DataError(
                f"expected at most {limits.rows:,} rows, got {self.most_rows:,} lines: leave out "
                "rows, or lines that are empty"
            )
        if self.most_rows > limits.rows:
            self.most_rows = self._filled()
            limits.check_shape(self.most_rows, 1)

    def check_width(self, width: int) -> None:
        """Refuse lines that would make too large a table if each is a row of this many cells."""
        if self.most_rows * width > self.limits.cells:
            self.most_rows = self._filled()
        self.limits.check_shape(self.most_rows, width)

    def _filled(self) -> int:
        """Return how many lines are not empty."""
        filled, within = 0, False
        for start, size in _parts(len(self.data)):
            letter = np.frombuffer(self.data, np.uint8, size, start) != NEWLINE
            filled += int(np.count_nonzero(letter[1:] & ~letter[:-1]))
            filled += int(letter[0] and not within)
            within = bool(letter[-1])
        return filled

    def chunks(self) -> Iterator[bytes]:
        """Yield all lines, many in one piece, each ended as Unix does."""
        start, size = 0, FIRST_BYTES
        while start < len(self.data):
            end = len(self.data)
            if start + size < end:
                whole = self.data.rfind(b"\n", start, start + size) + 1
                end = whole or self.data.find(b"\n", start + size) + 1 or end
            self._check_length(end - start)
            chunk = self.data[start:end]
            if b"\r" in chunk:
                chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield chunk
            start, size = end, CHUNK_BYTES

    def _check_length(self, size: int) -> None:
        if size > max(self.limits.line_bytes, CHUNK_BYTES):
            raise DataError(
                f"expected lines of at most {self.limits.line_bytes:,} bytes, got one of "
                f"{size:,}: a table has one line for each row"
            )

    def __iter__(self) -> Iterator[str]:
        for chunk in self.chunks():
            yield from chunk.removesuffix(b"\n").decode().split("\n")


# --------------------------------------------------------------------------------------------------
# Lines of a text table that hold words where its other lines hold numbers.
#
# In tables with one row per gene the classes of the patients often stand in a row of their own,
# above the values or below. These lines are read apart, so that they do not spoil columns of
# numbers.


LABEL_LINE_SEPARATORS: Final = "\t,;|"
LONGEST: Final = 2**20  # bytes of a line that is looked at


class LabelLines(NamedTuple):
    """The text without some lines, and these."""

    rest: bytes
    found: LabelRows


def cut_label_lines(data: bytes) -> LabelLines:
    """Leave out lines at both ends that hold words; nothing where lines are no rows."""
    nothing = LabelLines(data, LabelRows([]))
    header, *spans = _ends(data)
    first = data[slice(*header)].decode("utf-8", "replace")
    separator = max(LABEL_LINE_SEPARATORS, key=first.count)
    rows = [_cells(data[a:b], separator) for a, b in (header, *spans)]
    width = len(rows[0])
    if names_are_one_short(rows[0], [row for row in rows[1:] if row]):
        rows[0] = [ROW_NAMES, *rows[0]]
    elif not any(cell.strip() for row in rows for cell in row[width:]):
        rows = [row[:width] for row in rows]
    if len(rows[0]) < 3 or any(len(row) not in (0, len(rows[0])) for row in rows):
        return nothing
    filled = [i for i, row in enumerate(rows) if row and i]
    chosen = [filled[i] for i in label_rows([rows[i] for i in filled])]
    if not chosen:
        return nothing
    rest, last = [], 0
    for a, b in (spans[i - 1] for i in chosen):
        rest.append(data[last:a])
        last = b
    return LabelLines(b"".join([*rest, data[last:]]), LabelRows(rows[0], [rows[i] for i in chosen]))


def _ends(data: bytes) -> list[tuple[int, int]]:
    """Return where the header and some lines at both ends of a text begin and end.

    Blank lines before the header are passed over; a text with a line too long has no such rows.
    """
    spans: list[tuple[int, int]] = []
    at = data.rfind(b"\n", 0, len(data) - len(data.lstrip())) + 1
    while at < len(data) and len(spans) <= TOP:
        end = data.find(b"\n", at, at + LONGEST) + 1 or len(data)
        if end - at > LONGEST:
            return [(0, 0)]
        spans.append((at, end))
        at = end
    last: list[tuple[int, int]] = []
    end = len(data)
    while end > at and len(last) < BOTTOM:
        start = data.rfind(b"\n", max(at, end - LONGEST), end - 1) + 1 or at
        last.append((start, end))
        end = start
    return [*spans, *reversed(last)] or [(0, 0)]


def _cells(line: bytes, separator: str) -> list[str]:
    try:
        found = list(
            csv.reader([line.decode("utf-8", "replace").strip("\r\n")], delimiter=separator)
        )
    except csv.Error:
        return []
    return found[0] if found else []
