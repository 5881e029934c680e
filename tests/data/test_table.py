from __future__ import annotations

import csv
import io
import math
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hipad.data import csv_safe, duplicates, summarise, to_csv
from hipad.data import table as moments
from hipad.data import table as summary
from hipad.data.table import (
    NAME_CHARACTERS,
    Table,
    canonical_csc,
    column_blocks,
    column_statistics,
    tidy_names,
    write_text,
)
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# A table as read: columns by name, and names that are all different.


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


# --------------------------------------------------------------------------------------------------
# Moments.


VALUES = st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e3, np.nan, np.inf])
SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 5))
FORMS = [np.array, sp.csr_array]


@given(arrays(np.float64, SHAPES, elements=VALUES), st.data())
def test_a_row_of_weight_two_counts_as_two_rows(X, data):
    times = data.draw(arrays(np.int64, X.shape[0], elements=st.integers(1, 3)))
    for form in FORMS:
        weighted = column_statistics(form(X), times.astype(np.float64))
        repeated = column_statistics(form(np.repeat(X, times, axis=0)))
        np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(weighted.sd, repeated.sd, rtol=1e-9, atol=1e-9)


@given(arrays(np.float64, SHAPES, elements=VALUES))
def test_dense_and_sparse_agree(X):
    dense, sparse = column_statistics(X), column_statistics(sp.csr_array(X))
    for name in ("mean", "sd", "low", "high", "missing"):
        one, other = getattr(dense, name), getattr(sparse, name)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=name)
    empty = ~np.isfinite(X).any(axis=0)
    for name in ("mean", "sd", "low", "high"):
        assert np.isnan(getattr(dense, name)).tolist() == empty.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_a_gap_takes_nothing_from_the_precision_of_a_mean(form):
    X = np.array([[1.0], [2.0], [6.0], [np.nan], [np.inf]])
    stats = column_statistics(form(X))
    assert (stats.mean[0], stats.missing[0]) == (3.0, 2)


@pytest.mark.parametrize("form", FORMS)
def test_the_data_are_not_changed(form):
    X = form(np.array([[1.0, np.nan], [3.0, 4.0]]))
    before = X.copy()
    column_statistics(X)
    same = (before != X).nnz <= 1 if sp.issparse(X) else np.array_equal(X, before, equal_nan=True)
    assert same


def test_blocks_cover_every_column_once():
    for shape in ((5, 0), (5, 1), (10**6, 600), (3, 10**6)):
        covered = [j for block in column_blocks(*shape) for j in range(block.start, block.stop)]
        assert covered == list(range(shape[1]))


def test_repeated_entries_are_added_up():
    X = sp.coo_array(([1, 2, 4], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    matrix = canonical_csc(X)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix.toarray(), [[3, 0], [0, 4]])


# --------------------------------------------------------------------------------------------------
# Summary.


VALUES_SUMMARY = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5, 1e3, np.nan])
MATRICES = arrays(
    np.float64, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=VALUES_SUMMARY
)


@given(MATRICES)
def test_statistics_agree_with_numpy_dense_and_sparse(X):
    for stats in (column_statistics(X), column_statistics(sp.csr_array(X))):
        for j, values in enumerate(X.T):
            there = values[~np.isnan(values)]
            assert stats.missing[j] == np.isnan(values).sum()
            assert stats.constant[j] == (np.unique(there).size < 2)
            if there.size:
                assert stats.mean[j] == pytest.approx(there.mean())
                assert stats.sd[j] == pytest.approx(there.std(), abs=1e-9)
                assert (stats.low[j], stats.high[j]) == (there.min(), there.max())


@given(MATRICES)
def test_medians_agree_with_numpy_dense_and_sparse(X):
    expected = [np.median(v[~np.isnan(v)]) if (~np.isnan(v)).any() else 0.0 for v in X.T]
    np.testing.assert_allclose(summary.medians(X), expected)
    np.testing.assert_allclose(summary.medians(sp.csr_array(X)), expected)


def test_blocks_give_the_same_as_one_piece(monkeypatch):
    X = np.random.default_rng(0).standard_normal((6, 23))
    whole = summarise(X, [f"x{j}" for j in range(23)])
    monkeypatch.setattr(moments, "BLOCK_ENTRIES", 12)
    monkeypatch.setattr(moments, "MIN_BLOCK_COLUMNS", 1)
    assert whole.equals(summarise(X, [f"x{j}" for j in range(23)]))
    assert list(whole.columns) == ["feature", "mean", "sd", "missing", "min", "max"]


@given(MATRICES)
def test_duplicates_are_exactly_the_columns_equal_to_an_earlier_one(X):
    X = np.nan_to_num(X)
    expected = [j for j in range(X.shape[1]) if any((X[:, j] == X[:, i]).all() for i in range(j))]
    assert duplicates(X).tolist() == expected
    assert duplicates(sp.csr_array(X)).tolist() == expected


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_values_near_the_largest_number_have_statistics(form):
    X = np.array([[1e308, 1.7e308], [-1e308, 1.5e308], [1e308, 1.7e308], [-1e308, 1.5e308]])
    stats = column_statistics(form(X))
    np.testing.assert_allclose(stats.mean, [0, 1.6e308], atol=1e293)
    np.testing.assert_allclose(stats.sd, [1e308, 1e307])
    assert not stats.constant.any()
    np.testing.assert_allclose(summary.medians(form(X)), [0, 1.6e308], atol=1e293)


def test_minus_zero_is_zero():
    assert duplicates(np.array([[0.0, -0.0], [1.0, 1.0]])).tolist() == [1]


# --------------------------------------------------------------------------------------------------
# Export.


SIGNS = "=+-@%|＝＋－＠﹦﹢﹣﹫\u2212"
BEFORE = " \t\r\n\v\f\x1f\u00a0\u00ad\u200b\u200e\u202e\u2028\u2060\u3000\ufeff\x00\u0301"


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "-", "\n=1", "\u00a0=1",
        "＝1+1", "＋1", "－x", "＠x", "\u200b=1", "\ufeff@x", "\u3000＝1", "%x", "|calc", " -1",
        "-1\n", "-1_0", "+inf", "-nan", "－1", "\x1f=1", "\u202e=1",
    ],
)  # fmt: skip
def test_texts_that_a_spreadsheet_would_run_are_guarded(cell):
    assert csv_safe(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["plain", "", "-1.5", "+2e3", "-.5", -1.5, 3, None, "a=b", "é"])
def test_numbers_and_plain_texts_are_left_alone(cell):
    assert csv_safe(cell) == cell


cells = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.builds("{}{}{}".format, st.text(BEFORE, max_size=3), st.sampled_from(SIGNS), st.text()),
        st.floats(allow_nan=False).map(str),
    ).filter(lambda text: "\0" not in text),
    max_size=5,
)


@given(cells)
def test_no_cell_of_an_export_starts_like_a_formula_unless_it_is_a_number(cells):
    text = to_csv({"=name": cells, "n": list(range(len(cells)))})
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["'=name", "n"]
    assert len(rows) == len(cells) + 1
    for (written, _), cell in zip(rows[1:], cells, strict=True):
        assert written in (cell, f"'{cell}")
        seen = written.lstrip().lstrip(BEFORE).lstrip()
        if seen.startswith(tuple(SIGNS)) or written.startswith(("\t", "\r", "\n")):
            assert math.isfinite(float(written))


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        to_csv({"a": [1, 2], "b": [1]})


# --------------------------------------------------------------------------------------------------
# Writing.


def test_a_text_arrives_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "größe\r\n")
    assert path.read_bytes() == "größe\r\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_usual_permissions_and_an_old_one_keeps_its_own(tmp_path):
    new, old, usual = tmp_path / "new", tmp_path / "old", tmp_path / "usual"
    usual.touch()
    old.touch()
    old.chmod(0o640)
    write_text(new, "x")
    write_text(old, "x")
    assert new.stat().st_mode == usual.stat().st_mode
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert not target.is_symlink()


@pytest.mark.parametrize("kind", ["itself", "link", "hard link"])
def test_what_is_being_read_is_never_overwritten(tmp_path, kind):
    model, out = tmp_path / "model", tmp_path / "out"
    model.write_text("precious")
    if kind == "link":
        out.symlink_to(model)
    elif kind == "hard link":
        os.link(model, out)
    else:
        out = tmp_path / "." / "model"
    with pytest.raises(DataError, match="being read"):
        write_text(out, "answers", not_over=[tmp_path / "absent", model])
    assert model.read_text() == "precious"


def test_a_directory_an_absent_one_and_a_circle_of_links_are_sentences(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path, tmp_path / "none" / "a", tmp_path / "loop", tmp_path / "a\0b"):
        with pytest.raises(DataError, match="cannot be written"):
            write_text(path, "x")
    assert {path.name for path in tmp_path.iterdir()} == {"loop"}


def test_text_that_is_none_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(DataError, match="expected text"):
        write_text(path, "\ud800")
    assert path.read_text() == "old"


def test_a_device_is_written_into_and_stays_a_device():
    write_text(Path(os.devnull), "gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_named_pipe_is_refused_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="pipe"):
        write_text(pipe, "x")
    assert pipe.is_fifo()


def test_stdout_is_a_stream_also_where_it_goes_to_a_file(tmp_path):
    program = (
        "from pathlib import Path; from hipad.data.table import write_text;"
        "print('before'); write_text(Path('/dev/stdout'), 'text\\n'); print('after')"
    )
    with (tmp_path / "out").open("w") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n"
