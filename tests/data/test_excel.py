from __future__ import annotations

import datetime as dt
import io

import numpy as np
import pytest

from hipad.data import Limits, read_table
from hipad.data.excel import PIECE_BYTES, SheetReader, check_xml
from hipad.data.file_format import LIMITS
from hipad.exceptions import DataError
from tests.data.archives import members, xlsx, zipped
from tests.limits import read_limited

# --------------------------------------------------------------------------------------------------
# Workbook.


SHEET = "xl/worksheets/sheet1.xml"
BOOK = xlsx([["a", "b"], [1, 2], [3, 4]])


def with_sheet(old: str, new: str, book: bytes = BOOK) -> bytes:
    parts = members(book)
    assert old.encode() in parts[SHEET]
    return zipped({**parts, SHEET: parts[SHEET].replace(old.encode(), new.encode())})


FAR = {
    "row": ('<row r="3">', '<row r="10000000000">', "at most 5,000,000 rows"),
    "row of nothing": ("</sheetData>", '<row r="99999999999"/></sheetData>', "at most 5,000,000"),
    "size": ("A1:B3", "A1:XFD99999999999", "table 2 2"),
    "column": ('r="B3"', 'r="ZZZZZZZZ3"', "cannot be read"),
    "number of a row": ('<row r="3">', f'<row r="{"9" * 5000}">', "cannot be read"),
}


@pytest.mark.parametrize("kind", FAR)
def test_far_rows_and_columns_end_at_once(kind, tmp_path):
    old, new, told = FAR[kind]
    path = tmp_path / "far.xlsx"
    path.write_bytes(with_sheet(old, new))
    assert told in read_limited(path, gigabytes=1, seconds=10)


def test_rows_that_are_not_there_are_no_rows():
    table = read_table(with_sheet('<row r="3">', '<row r="1000000">'))
    np.testing.assert_array_equal(table.numbers, [[1, 2], [3, 4]])


def test_cells_are_counted_while_reading():
    wide = with_sheet('r="B3"', 'r="XFD3"')
    with pytest.raises(DataError, match="at most 1,000 cells"):
        read_table(wide, limits=Limits(cells=1_000))


def test_formulas_without_values_are_told():
    table = read_table(xlsx([["a", "b"], [1, 2], [3, "=A2+1"], [5, "=A3+1"]]))
    np.testing.assert_array_equal(table.numbers, [[1, 2], [3, np.nan], [5, np.nan]])
    assert "2 formulas saved without a value, taken as missing: column 'b'" in table.remarks[0]


@pytest.mark.parametrize("width", [2, 3])
def test_a_column_of_formulas_without_values_is_refused(width):
    rows = [["a", "b", "c"][:width], *([k, "=A1+1", k][:width] for k in range(3))]
    with pytest.raises(DataError, match="only formulas saved without them in 'b'"):
        read_table(xlsx(rows))


def test_formulas_with_values_are_values():
    book = xlsx([["a", "b"], [1, "=A2"], [3, "=A3"]])
    parts = members(book)
    filled = parts[SHEET].replace(b"<v></v>", b"<v>7</v>").replace(b"<v />", b"<v>7</v>")
    table = read_table(zipped({**parts, SHEET: filled}))
    np.testing.assert_array_equal(table.numbers, [[1, 7], [3, 7]])
    assert table.remarks == ()


def test_errors_are_gaps_and_told():
    table = read_table(xlsx([["a", "b"], [1, "#DIV/0!"], [3, 4], ["#REF!", 5]]))
    np.testing.assert_array_equal(table.numbers, [[1, np.nan], [3, 4], [np.nan, 5]])
    assert "2 cells with an error (such as #DIV/0!)" in table.remarks[0]


def test_merged_cells_are_told():
    merged = '</sheetData><mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
    table = read_table(with_sheet("</sheetData>", merged))
    assert "1 merged range" in table.remarks[0]


def test_dates_are_texts_of_one_form():
    table = read_table(xlsx([["d", "a"], [dt.date(2020, 1, 2), 1], [dt.datetime(2021, 3, 4), 2]]))
    assert table.text["d"].tolist() == ["2020-01-02T00:00:00", "2021-03-04T00:00:00"]


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
XML = {
    "entities": f'<?xml version="1.0"?>{LAUGHS}]><worksheet>&i;</worksheet>'.encode(),
    "entities in UTF-16": f"{LAUGHS}]><worksheet>&i;</worksheet>".encode("utf-16"),
    "hidden letters": b'<?xml version="1.0" encoding="cp037"?>'
    + f"{LAUGHS}]><worksheet>&i;</worksheet>".encode("cp037"),
    "outside": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet>&a;</worksheet>',
}


@pytest.mark.parametrize("kind", XML)
@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "xl/styles.xml"])
def test_entities_are_refused_before_the_xml_is_read(kind, part, tmp_path):
    path = tmp_path / "laughs.xlsx"
    path.write_bytes(zipped({**members(BOOK), part: XML[kind]}))
    with pytest.raises(DataError, match="what no workbook needs"):
        read_table(path)


def test_a_row_of_endless_elements_is_refused(tmp_path):
    path = tmp_path / "row.xlsx"
    path.write_bytes(
        with_sheet("</sheetData>", "<row>" + "<c/>" * 30_000_000 + "</row></sheetData>")
    )
    assert "expected a smaller workbook" in read_limited(path, gigabytes=1, seconds=20)


# --------------------------------------------------------------------------------------------------
# The cells of a sheet, from XML written here by hand.


SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def reader(rows, after="", limits=LIMITS, shared=()):
    xml = f'<worksheet xmlns="{SPACE}"><sheetData>{rows}</sheetData>{after}</worksheet>'
    return SheetReader(io.BytesIO(xml.encode()), list(shared), limits=limits)


def test_rows_are_cut_at_their_last_filled_cell():
    sheet = reader(
        '<row r="2"><c r="B2"><v>1.5</v></c><c r="C2"/></row>'
        '<row r="3"/>'
        '<row r="5"><c r="A5" t="s"><v>0</v></c><c r="D5" t="b"><v>1</v></c></row>',
        shared=["word"],
    )
    assert list(sheet.rows()) == [(2, ["", "1.5"]), (5, ["word", "", "", "True"])]
    assert sheet.remarks(["a", "b"]) == []


def test_errors_and_formulas_without_a_value_are_gaps_that_are_counted():
    sheet = reader(
        '<row r="1"><c r="A1" t="e"><v>#DIV/0!</v></c><c r="B1"><f>1+1</f></c>'
        '<c r="C1"><f>1+1</f><v>2</v></c></row>'
        '<row r="2"><c r="A2" t="e"><v>#N/A</v></c><c r="B2" t="str"><f>""</f></c>'
        '<c r="C2"><v>3</v></c></row>'
    )
    assert list(sheet.rows()) == [(1, ["", "", "2"]), (2, ["", "", "3"])]
    assert sheet.remarks(["first"]) == [
        "1 formula saved without a value, taken as missing: column 'column_2'",
        "2 cells with an error (such as #DIV/0!), taken as missing: column 'first'",
    ]


def test_merged_cells_are_told_sheet():
    sheet = reader(
        '<row r="1"><c r="A1"><v>1</v></c></row>',
        after='<mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>',
    )
    assert list(sheet.rows()) == [(1, ["1"])]
    assert sheet.remarks(["a"]) == ["1 merged range: only the first cell has the value"]


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(rows=8), "at most 8 rows, got 9"),
        (Limits(columns=3), "at most 3 columns, got 4"),
        (Limits(cells=4), "at most 4 cells, got 5"),
    ],
)
def test_limits_hold_row_by_row(limits, told):
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="9"><c r="D9"><v>1</v></c></row>'
    assert len(list(reader(rows).rows())) == 2
    with pytest.raises(DataError, match=told):
        list(reader(rows, limits=limits).rows())


def book(content, name="xl/a.xml"):
    return zipped({name: content})


DECLARED = b'<?xml version="1.0" encoding="%s"?><a/>'


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE a [<!ENTITY e "x">]><a/>',
        b"<a>" + b" " * (PIECE_BYTES - 8) + b"<!DOCTYPE a>",  # cut in two between pieces
        DECLARED % b"utf-7",
        "<a/>".encode("utf-16"),
    ],
    ids=["entities", "later", "hidden", "wide"],
)
@pytest.mark.parametrize("name", ["xl/a.xml", "xl/picture.png"])
def test_xml_that_no_workbook_needs_is_refused(content, name):
    with pytest.raises(DataError, match="holds what no workbook needs"):
        check_xml(book(content, name), LIMITS)


@pytest.mark.parametrize("encoding", [b"UTF-8", b"us-ascii"])
def test_plain_xml_and_pictures_are_taken(encoding):
    check_xml(book(DECLARED % encoding), LIMITS)
    check_xml(book(b"\x89PNG\0\0 <!DOCTYPE", "picture.png"), LIMITS)


def test_more_elements_than_memory_holds_are_refused():
    many = book(b"<a>" + b"<b></b>" * 1_000 + b"</a>")
    check_xml(many, Limits(memory_bytes=1_001 * 200))
    with pytest.raises(DataError, match="expected a smaller workbook, got 1,001 cells"):
        check_xml(many, Limits(memory_bytes=1_000 * 200))
