from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import read_table
from hipad.data.file_format import LIMITS, Limits
from hipad.data.parquet import ColumnReader
from hipad.exceptions import DataError
from tests.data.archives import parquet
from tests.limits import read_limited

# --------------------------------------------------------------------------------------------------
# Parquet.


def repeated(text: str, rows: int) -> pa.Table:
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array([text]))
    return pa.table({"note": column, "a": np.zeros(rows)})


@pytest.mark.parametrize(
    "table", [repeated("x" * 60_000, 40_000), repeated("x" * 900, 2_000_000)], ids=["long", "many"]
)
def test_a_long_text_in_many_rows_does_not_fill_the_memory(tmp_path, table):
    path = tmp_path / "bomb.parquet"
    path.write_bytes(parquet(table, compression="zstd"))
    assert path.stat().st_size < 300_000
    assert read_limited(path, gigabytes=1, seconds=10) == f"table {table.num_rows} 1"


def test_what_is_left_out_is_told():
    table = pa.table({"a": [1], "long": ["x" * 1_001], "list": [[1]], "bytes": [b"x"]})
    remarks = " ".join(read_table(parquet(table)).remarks)
    assert "1 column with texts of more than 1,000 characters left out: 'long'" in remarks
    assert "2 columns of lists or bytes left out: 'list' and 'bytes'" in remarks


def test_whole_numbers_that_floating_point_would_mix_up_become_text():
    ids = [2**53 + 1, 2**53 + 2, None]
    big = pa.array([Decimal(10**30), Decimal(10**30 + 1), None], pa.decimal128(38, 0))
    table = read_table(parquet(pa.table({"id": ids, "big": big, "a": [2**53 - 1, 2, None]})))
    assert table.text["id"].tolist() == ["9007199254740993", "9007199254740994", ""]
    assert table.text["big"].tolist() == [str(10**30), str(10**30 + 1), ""]
    np.testing.assert_array_equal(table.numbers, [[2**53 - 1], [2], [np.nan]])
    assert "2 columns of whole numbers above 2^53 kept as text" in table.remarks[0]


def test_dates_near_and_far_and_in_every_zone_are_texts():
    day = pa.array([dt.date(2020, 1, 2), None])
    columns = {
        "day": day,
        "far": pa.array([2**31 - 1, 0], pa.date32()),
        "utc": pa.array([0, None], pa.timestamp("us", "UTC")),
        "zone": pa.array([0, None], pa.timestamp("us", "No/Where")),
        "fine": pa.array([1, 10**9], pa.timestamp("ns")),
    }
    text = read_table(parquet(pa.table(columns))).text
    assert text["day"].tolist() == ["2020-01-02", ""]
    assert text["utc"].tolist() == ["1970-01-01 00:00:00Z", ""]
    assert text["zone"].tolist() == ["1970-01-01 00:00:00", ""]
    assert text["fine"].tolist() == ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:01"]
    assert text["far"][1] == "1970-01-01"


def test_letters_that_are_not_utf8_are_marked_and_told():
    raw = pa.array([b"a\xff", b"b"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    table = read_table(parquet(pa.table({"s": column, "a": [1, 2]})))
    assert table.text["s"].tolist() == ["a\ufffd", "b"]
    assert "not in UTF-8" in table.remarks[0]


def test_columns_of_one_name_are_numbered():
    columns = [pa.array([1, 2]), pa.array(["x", "y"]), pa.array([3, 4])]
    table = read_table(parquet(pa.Table.from_arrays(columns, names=["a", "a", "a"])))
    np.testing.assert_array_equal(table.numbers, [[1, 3], [2, 4]])
    assert table.text["a.2"].tolist() == ["x", "y"]


def test_texts_of_several_row_groups_keep_their_rows():
    values = ["a", "b", "c", "a", None, "d"]
    table = read_table(parquet(pa.table({"s": values, "a": range(6)}), row_group_size=2))
    assert table.text["s"].tolist() == ["a", "b", "c", "a", "", "d"]


def test_categories_of_numbers_are_numbers_and_small_types_are_read():
    columns = {
        "level": pa.array([5, 6, 5]).dictionary_encode(),
        "half": pa.array(np.array([0.5, 1, 2], np.float16)),
        "price": [Decimal("1.25"), None, Decimal("2.50")],
        "truth": [True, None, False],
    }
    numbers = read_table(parquet(pa.table(columns))).numbers
    np.testing.assert_array_equal(
        numbers, [[5, 0.5, 1.25, 1], [6, 1, np.nan, np.nan], [5, 2, 2.5, 0]]
    )


@pytest.mark.parametrize(
    "table",
    [
        pa.table({}),
        pa.table({"a": pa.array([], pa.int64())}),
        pa.table({"a": [[1], [2]]}),
        pa.Table.from_arrays([pa.array([1]), pa.array([[1]])], names=["a", "a"]),
    ],
)
def test_a_file_without_a_table_is_refused(table):
    with pytest.raises(DataError, match="expected"):
        read_table(parquet(table))


# --------------------------------------------------------------------------------------------------
# Arrow columns of every kind as numbers and texts, against Arrow's own values.


def read(values, kind=None, limits=LIMITS):
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values], kind)
    reader = ColumnReader(len(column), limits)
    return reader.read("c", column), reader.remarks()


@pytest.mark.parametrize(
    "kind", [pa.float32(), pa.float64(), pa.int8(), pa.uint64(), pa.decimal128(10, 2)]
)
def test_numbers_of_every_kind(kind):
    values = [Decimal(2), None, Decimal(7)] if pa.types.is_decimal(kind) else [2, None, 7]
    found, remarks = read(values, kind)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [2.0, np.nan, 7.0])
    assert remarks == []


def test_truth_values_are_numbers():
    np.testing.assert_array_equal(read([True, None, False])[0], [1.0, np.nan, 0.0])


def test_whole_numbers_that_floating_point_would_make_one_stay_different():
    large = [2**53, 2**53 + 1, None]
    found, remarks = read(large, pa.int64())
    assert found.tolist() == ["9007199254740992", "9007199254740993", ""]
    assert len(remarks) == 1
    assert "'c'" in remarks[0]


@given(st.lists(st.lists(st.one_of(st.none(), st.sampled_from(["x", "é", "", " y "])))))
def test_texts_in_any_pieces(chunks):
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
    wanted = [(text or "").strip() for chunk in chunks for text in chunk]
    for kind in kinds:
        column = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks], kind)
        assert read(column)[0].tolist() == wanted


def test_a_dictionary_of_numbers_is_numbers():
    column = pa.chunked_array([pa.array([1.5, None, 1.5]).dictionary_encode()])
    np.testing.assert_array_equal(read(column)[0], [1.5, np.nan, 1.5])


def test_a_column_of_nothing_is_gaps():
    assert read([None, None], pa.null())[0].tolist() == ["", ""]


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (dt.date(2020, 1, 2), pa.date32(), "2020-01-02"),
        (dt.datetime(2020, 1, 2, 3, 4, 5), pa.timestamp("us"), "2020-01-02 03:04:05"),
        (dt.datetime(2020, 1, 2, 3, 4, 5, 500_000), pa.timestamp("ms"), "2020-01-02 03:04:05.500"),
        (dt.time(3, 4), pa.time64("us"), "03:04:00"),
    ],
)
def test_times_are_written_without_needless_digits(value, kind, wanted):
    assert read([value, None], kind)[0].tolist() == [wanted, ""]


def test_letters_that_are_not_utf8_are_marked_and_told_arrow():
    raw = pa.array([b"ok", b"\xff\xfea", None], pa.binary())
    column = pa.chunked_array([pa.Array.from_buffers(pa.string(), 3, raw.buffers())])
    found, remarks = read(column)
    assert found.tolist() == ["ok", "\ufffd\ufffda", ""]
    assert "not in UTF-8" in remarks[0]


def test_texts_too_long_are_left_out_and_told():
    found, remarks = read(["x" * 50, "y"], limits=Limits(text_characters=40))
    assert found is None
    assert len(remarks) == 1
