from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import read_table
from hipad.data.file_format import LIMITS, Limits
from hipad.data.matrices import sparse_matrix
from hipad.exceptions import DataError
from tests.data.archives import members, npz, save_npz, zipped
from tests.limits import read_limited

# --------------------------------------------------------------------------------------------------
# Npz.


X = np.array([[1.5, 0.0, -3.0], [0.0, 2.0, 0.0]])


def csr(**changed) -> dict[str, np.ndarray]:
    S = sp.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)}
    return parts | {name: np.asarray(value) for name, value in changed.items()}


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_what_scipy_saves_is_read_as_it_was_meant(kind, make):
    table = read_table(save_npz(make(X).asformat(kind)))
    np.testing.assert_array_equal(table.numbers.toarray(), X)
    assert table.remarks == ()


@pytest.mark.parametrize("kind", ["bsr", "dia"])
def test_other_ways_to_save_are_refused(kind):
    with pytest.raises(DataError, match="expected a CSR, CSC or COO"):
        read_table(save_npz(sp.csr_array(X).asformat(kind)))


BROKEN = {
    "starts late": {"indptr": [1, 2, 3]},
    "falls back": {"indptr": [0, 3, 2]},
    "ends early": {"indptr": [0, 1, 2]},
    "points far and back": {"indptr": [0, 50_000_000, 0], "indices": [], "data": []},
    "too short": {"indptr": [0, 3]},
    "index too large": {"indices": [0, 3, 1]},
    "index negative": {"indices": [0, -1, 1]},
    "index beyond signed": {"indices": np.array([0, 2**64 - 1, 1], dtype=np.uint64)},
    "index not whole": {"indices": [0.0, 2.5, 1.0]},
    "pointers not whole": {"indptr": [0.0, 2.0, 3.0]},
    "shape not whole": {"shape": [2.0, 3.0]},
    "shape of three": {"shape": [2, 3, 1]},
    "shape negative": {"shape": [-2, 3]},
    "text as data": {"data": ["a", "b", "c"]},
    "complex data": {"data": [1j, 2j, 3j]},
    "data too short": {"data": [1.0]},
    "data in a square": {"data": [[1.0, 2.0], [3.0, 4.0]]},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_parts_that_make_no_matrix_are_refused_before_compiled_code_sees_them(kind, tmp_path):
    path = tmp_path / "m.npz"
    path.write_bytes(npz(**csr(**BROKEN[kind])))
    with pytest.raises(DataError, match="do not make a CSR"):
        read_table(path)


def test_many_empty_rows_are_refused_or_read_at_once(tmp_path):
    for rows, told in ((20_000_000, "at most 5,000,000 rows"), (2_000_000, "table 2000000 3")):
        parts = csr(
            shape=[rows, 3], indptr=np.zeros(rows + 1, np.int32), indices=np.arange(0), data=[]
        )
        path = tmp_path / f"{rows}.npz"
        path.write_bytes(npz(**parts))
        assert told in read_limited(path, gigabytes=1, seconds=10)


def with_claim(data: bytes, claim: int) -> bytes:
    """The same archive, whose headers claim another size once unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (info,) = archive.infolist()
    return data.replace(info.file_size.to_bytes(4, "little"), claim.to_bytes(4, "little"))


def test_a_member_larger_than_it_claims_is_not_unpacked_beyond_the_claim(tmp_path):
    path = tmp_path / "bomb.npz"
    path.write_bytes(with_claim(npz(X=np.zeros((1_000_000, 4))), 5_000))
    assert "less than it claims" in read_limited(path, gigabytes=1, seconds=10)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_packing_that_cannot_be_bounded_is_refused(method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("X.npy", members(npz(X=X))["X.npy"])
    with pytest.raises(DataError, match="packed in another way"):
        read_table(file.getvalue())


LABELS = {
    "letters": (np.array(["é", "日本"]), ["é", "日本"]),
    "bytes": (np.array(["é".encode(), b"b"]), ["é", "b"]),
    "other order of bytes": (np.array(["a", "b"], dtype=">U3"), ["a", "b"]),
    "dates": (np.array(["2020-01-01", "2021-05-05"], "M8[D]"), ["2020-01-01", "2021-05-05"]),
    "truth": (np.array([True, False]), ["True", "False"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_many_types_are_read(kind):
    y, expected = LABELS[kind]
    assert read_table(npz(X=X, y=y)).text["y"].tolist() == expected


@pytest.mark.parametrize(
    "y",
    [
        np.array([(1, "a"), (2, "b")], dtype=[("größe", int), ("日", "U1")]),
        np.array([1j, 2j]),
        np.array([b"\xff\xfe", b"a"]),
        np.array([1, 2], "m8[s]"),
        np.array(["x" * 2_000, "y"]),
        np.array([0xD800, 0x110000], np.uint32).view("U1"),
    ],
)
def test_labels_that_are_none_are_refused(y):
    with pytest.raises(DataError, match=r"expected|cannot be read"):
        read_table(npz(X=X, y=y))


def test_whole_numbers_that_are_rounded_are_told():
    assert "above 2^53" in read_table(npz(X=np.array([[2**53 + 1, 1]]))).remarks[0]
    assert read_table(npz(X=np.array([[2**53, 1]]))).remarks == ()


def test_a_name_that_comes_twice_is_refused():
    file, content = io.BytesIO(), members(npz(X=X))["X.npy"]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("X.npy", content)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("X.npy", content)
    with pytest.raises(DataError, match="share a name"):
        read_table(file.getvalue())


def test_an_archive_of_endless_members_is_refused():
    with pytest.raises(DataError, match="at most 10,000 members"):
        read_table(zipped({f"{k}.npy": b"" for k in range(10_001)}))


# --------------------------------------------------------------------------------------------------
# Parts of sparse matrices: all three kinds against SciPy, and indices that would lead astray.


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


# --------------------------------------------------------------------------------------------------
# Libsvm.


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
