"""Arrow columns of every kind as numbers and texts, against Arrow's own values."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.limits import LIMITS, Limits
from hipad.data.parquet import ColumnReader


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


def test_letters_that_are_not_utf8_are_marked_and_told():
    raw = pa.array([b"ok", b"\xff\xfea", None], pa.binary())
    column = pa.chunked_array([pa.Array.from_buffers(pa.string(), 3, raw.buffers())])
    found, remarks = read(column)
    assert found.tolist() == ["ok", "\ufffd\ufffda", ""]
    assert "not in UTF-8" in remarks[0]


def test_texts_too_long_are_left_out_and_told():
    found, remarks = read(["x" * 50, "y"], limits=Limits(text_characters=40))
    assert found is None
    assert len(remarks) == 1
