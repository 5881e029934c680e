"""Parts of sparse matrices: all three kinds against SciPy, and indices that would lead astray."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.limits import LIMITS, Limits
from hipad.data.matrices import sparse_matrix
from hipad.exceptions import DataError

X = np.array([[1.5, 0.0, -3.0], [0.0, 2.0, 0.0]])


def parts(matrix, **changed):
    """The arrays that SciPy saves of a matrix."""
    kind = matrix.format
    names = ("row", "col") if kind == "coo" else ("indices", "indptr")
    found = {name: getattr(matrix, name) for name in names}
    found |= {"data": matrix.data, "shape": np.array(matrix.shape), "format": np.array(kind)}
    return found | {name: np.asarray(value) for name, value in changed.items()}


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@given(seed=st.integers(0, 2**31), n=st.integers(0, 5), m=st.integers(0, 5))
def test_each_kind_is_the_matrix_it_was(kind, seed, n, m):
    matrix = sp.random_array((n, m), density=0.4, rng=np.random.default_rng(seed))
    found = sparse_matrix(parts(matrix.asformat(kind)), [], LIMITS)
    assert found.format == "csr"
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())


@pytest.mark.parametrize("kind", ["csr", "coo"])
def test_without_a_word_the_parts_tell_the_kind(kind):
    given_parts = parts(sp.coo_array(X).asformat(kind))
    del given_parts["format"]
    np.testing.assert_array_equal(sparse_matrix(given_parts, [], LIMITS).toarray(), X)


def test_values_of_equal_place_are_added():
    twice = parts(sp.coo_array(X), data=[1.0, 2.0, 4.0], row=[0, 0, 1], col=[1, 1, 0])
    assert sparse_matrix(twice, [], LIMITS).toarray().tolist() == [[0, 3, 0], [4, 0, 0]]


@pytest.mark.parametrize("kind", [bool, np.int8, np.float32])
def test_values_of_any_number_become_floats(kind):
    found = sparse_matrix(parts(sp.csr_array(X != 0).astype(kind)), [], LIMITS)
    assert found.dtype == np.float64
    assert found.toarray().tolist() == (X != 0).astype(float).tolist()


WRONG = {
    "far": {"indices": [0, 3, 1]},
    "below zero": {"indices": [0, -1, 1]},
    "fractions": {"indices": [0.0, 2.0, 1.0]},
    "too few": {"indices": [0, 2]},
    "starts late": {"indptr": [1, 2, 3]},
    "ends early": {"indptr": [0, 2, 2]},
    "falls": {"indptr": [0, 4, 3]},
    "short": {"indptr": [0, 3]},
    "one number": {"shape": [2]},
    "negative shape": {"shape": [2, -3]},
    "broken shape": {"shape": [2.5, 3.0]},
    "words": {"data": ["a", "b", "c"]},
    "square": {"data": [[1.0], [2.0], [3.0]]},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_parts_that_do_not_fit_are_refused(wrong):
    with pytest.raises(DataError, match="do not make a CSR, CSC or COO matrix"):
        sparse_matrix(parts(sp.csr_array(X), **WRONG[wrong]), [], LIMITS)


@pytest.mark.parametrize(("name", "places"), [("row", [0, 2, 1]), ("col", [0, 3, 1])])
def test_coordinates_outside_are_refused(name, places):
    with pytest.raises(DataError, match=f"expected {name} from 0 to"):
        sparse_matrix(parts(sp.coo_array(X), **{name: places}), [], LIMITS)


def test_other_kinds_and_other_arrays_are_told():
    with pytest.raises(DataError, match="expected a CSR, CSC or COO matrix, got 'dia'"):
        sparse_matrix(parts(sp.csr_array(X), format="dia"), [], LIMITS)
    with pytest.raises(DataError, match="got 'data' and 'notes'"):
        sparse_matrix({"data": X}, ["notes"], LIMITS)
    with pytest.raises(DataError, match="got an empty archive"):
        sparse_matrix({}, [], LIMITS)


def test_limits_count_what_is_stored():
    sparse_matrix(parts(sp.csr_array(X)), [], Limits(cells=3))
    with pytest.raises(DataError, match="at most 2 cells, got 3"):
        sparse_matrix(parts(sp.csr_array(X)), [], Limits(cells=2))
