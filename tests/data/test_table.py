"""A table as read: columns by name, and names that are all different."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.table import NAME_CHARACTERS, Table, tidy_names
from hipad.exceptions import DataError

NUMBERS = np.array([[1.0, 0.0], [np.nan, 2.5]], dtype=np.float32)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_columns_by_name_as_numbers_and_as_text(make):
    table = Table(make(NUMBERS), ("a", "b"), {"t": np.array(["x", ""])}, "made here")
    assert (table.n_rows, table.names) == (2, ("a", "b", "t"))
    assert table.column("b").dtype == np.float64
    np.testing.assert_array_equal(table.column("a"), [1.0, np.nan])
    np.testing.assert_array_equal(table.column("b"), [0.0, 2.5])
    assert table.column("t").tolist() == table.as_text("t").tolist() == ["x", ""]
    assert table.as_text("a").tolist() == ["1", ""]
    assert table.as_text("b").tolist() == ["0", "2.5"]
    assert table.is_sparse is (make is sp.csr_array)


def test_what_is_not_there_is_told():
    table = Table(NUMBERS, ("a", "b"), {}, "made here")
    with pytest.raises(DataError, match="expected a column called 'c', found none: 'a' and 'b'"):
        table.column("c")
    with pytest.raises(DataError, match="got a header only"):
        Table(NUMBERS[:0], ("a", "b"), {}, "made here")


NAMES = st.lists(
    st.one_of(st.none(), st.sampled_from(["a", "a.2", "a.3", " a ", "", "column_2", "b\nc", 1]))
)


@given(NAMES)
def test_tidy_names_are_all_different_and_on_one_line(raw):
    names, remarks = tidy_names(raw)
    assert len(names) == len(raw)
    assert len(set(names)) == len(names)
    assert all(name and name == " ".join(name.split()) for name in names)
    plain = [" ".join(str(name).split()) for name in raw if name is not None]
    clean = len(plain) == len(raw) and all(plain) and len(set(plain)) == len(plain)
    assert bool(remarks) is not clean
    if clean:
        assert names == plain


@given(NAMES)
def test_tidy_names_stay_as_they_are(raw):
    names, _ = tidy_names(raw)
    assert tidy_names(names) == (names, [])


def test_the_first_of_equal_names_keeps_it():
    names, remarks = tidy_names(["a", "a.2", "a", None, "a"])
    assert names[:2] == ["a", "a.2"]
    assert names[3] == "column_4"
    assert [remark.split(" (")[0] for remark in remarks] == [
        "1 column without a name: column_4 ...",
        "1 column name not unique",
    ]


def test_long_names_are_cut_and_still_different():
    names, remarks = tidy_names(["x" * 5_000 + "1", "x" * 5_000 + "2"])
    assert len(names[0]) == NAME_CHARACTERS
    assert names[0] != names[1]
    assert "2 column names cut to 1,000 characters" in remarks[0]
