from __future__ import annotations

import pytest

from hipad.data.delimited import first_line, read_tabbed
from hipad.data.limits import LIMITS
from hipad.exceptions import DataError


def test_rows_follow_a_header_and_blank_lines_do_not_count():
    table = read_tabbed(b'\n"id"\ta\r\n"x, y"\t1.5\r\n\r\nz\t<2\r\n', LIMITS, format="F")
    assert table.text["id"].tolist() == ["x, y", "z"]
    assert table.numbers.ravel().tolist() == [1.5, 2.0]
    assert table.format == "F"


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"a\tb\n1\n"])
def test_what_has_no_tabs_is_refused(data):
    with pytest.raises(DataError, match="expected"):
        read_tabbed(data, LIMITS, format="F")


def test_the_first_line_and_where_the_next_begins():
    assert first_line(b"ab\r\ncd") == ("ab", 4)
    assert first_line(b"ab\r\ncd", 4) == ("cd", 7)
