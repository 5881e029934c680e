from __future__ import annotations

import numpy as np
import pytest

from hipad.data import Limits, read_table
from hipad.exceptions import DataError


def dense(text: str):
    table = read_table(text.encode())
    assert table.format == "LIBSVM"
    return table, table.numbers.toarray()


def test_query_numbers_are_left_out_and_told():
    table, X = dense("2 qid:1 1:3 2:0.5\n1 qid:1 2:1 # doc\n# a comment\n1 qid:2 1:2\n")
    np.testing.assert_array_equal(X, [[3, 0.5], [0, 1], [2, 0]])
    assert table.text["label"].tolist() == ["2", "1", "1"]
    assert "qid" in table.remarks[0]


def test_unsorted_indices_missing_values_and_lines_without_features_are_read():
    _, X = dense("1 3:3 1:1\n-1\n+1 2:nan\n\n-1 2:inf\n")
    np.testing.assert_array_equal(X, [[1, 0, 3], [0, 0, 0], [0, np.nan, 0], [0, np.inf, 0]])


def test_an_index_of_zero_makes_all_indices_start_there():
    table, X = dense("1 0:5 2:1\n-1 1:2\n")
    assert table.number_names == ("x0", "x1", "x2")
    np.testing.assert_array_equal(X, [[5, 0, 1], [0, 2, 0]])


def test_labels_keep_their_precision_and_signs():
    assert dense("73211009 1:1\n73211010 1:2\n")[0].text["label"].tolist() == [
        "73211009", "73211010",
    ]  # fmt: skip
    assert dense("+ 1:1\n- 1:2\n")[0].text["label"].tolist() == ["+", "-"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1 1:2\n-1 -3:4\n", "-3 on line 2"),
        ("1 1:2\n\n-1 3:4 3:5\n", "3 twice on line 3"),
        ("1,2 1:2\n1 3:4\n", "one number as the label"),
        ("1 1:2\n-1 3:4 x\n", "'x' on line 2"),
        ("1 1:2\n-1 3:4:5\n", "'3:4:5' on line 2"),
        ("1 1:2\n-1 1.5:4\n", "'1.5:4' on line 2"),
        ("1 qid:2\n-1 qid:3\n", "got labels"),
        ("1 1:2\n-1 99:4\n", "at most 50 columns"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(text, fault):
    with pytest.raises(DataError, match=fault):
        read_table(text.encode(), limits=Limits(columns=50))
