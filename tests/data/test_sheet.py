"""The cells of a sheet, from XML written here by hand."""

import io

import pytest

from hipad.data.excel import PIECE_BYTES, SheetReader, check_xml
from hipad.data.limits import LIMITS, Limits
from hipad.exceptions import DataError
from tests.data.archives import zipped

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


def test_merged_cells_are_told():
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
