from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import Limits, read_table
from hipad.data.expression import market_matrix
from hipad.data.limits import LIMITS
from hipad.exceptions import DataError
from tests.data.gene_files import COUNTS, mtx


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_what_was_written_is_read(n, p, seed):
    X = np.random.default_rng(seed).integers(-2, 3, (n, p)).astype(float)
    np.testing.assert_array_equal(market_matrix(mtx(X), LIMITS).toarray(), X)


def test_dense_symmetric_and_pattern_files_are_read():
    dense = io.BytesIO()
    scipy.io.mmwrite(dense, COUNTS[:3, :2])
    np.testing.assert_array_equal(read_table(dense.getvalue()).numbers.toarray(), COUNTS[:3, :2])
    half = b"%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n2 2 2\n1 1\n2 1\n"
    np.testing.assert_array_equal(read_table(half).numbers.toarray(), [[1, 1], [1, 0]])


def test_a_matrix_alone_stays_sparse_and_can_be_turned():
    table = read_table(mtx())
    assert table.is_sparse
    assert (table.numbers.shape, table.number_names[0]) == ((30, 12), "x1")
    assert read_table(mtx(), turn=True).numbers.shape == (12, 30)


HEAD = b"%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (HEAD.replace(b"real", b"complex") + b"1 1 1\n1 1 2 3\n", "in the first line"),
        (HEAD, "sizes of the matrix"),
        (HEAD + b"3 3 9\n1 1 1\n", "the file is cut"),
        (HEAD + b"3 3 2\n1 1 1\n9 9 1\n", "damaged"),
        (HEAD + b"3 3 2\n1 1 1\n0 1 1\n", "damaged"),
        (HEAD + b"3 3 1\n1 1 x\n", "damaged"),
        (HEAD + b"9999999999 1 1\n1 1 1\n", "at most 5,000,000 rows"),
        (HEAD + b"1 0 0\n", "without columns"),
    ],
)
def test_damaged_files_give_a_sentence(content, words):
    with pytest.raises(DataError, match=words):
        read_table(content)


def test_a_dense_file_that_claims_too_much_is_refused_first():
    head = b"%%MatrixMarket matrix array real general\n9999 9999\n1\n"
    with pytest.raises(DataError, match="cells"):
        read_table(head, limits=Limits(cells=10**6))
    with pytest.raises(DataError, match="the file is cut"):
        read_table(head)
