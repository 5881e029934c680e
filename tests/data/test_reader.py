from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import tracemalloc
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from hipad.data import Limits, read_table
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# Reading.


X = np.array([[1.5, 2.0, -3.0], [0.25, 1e-3, 4.0], [7.0, 8.0, 9.5]])
Y = ["ill", "well", "ill"]
CSV = "a,b,c,outcome\n1.5,2,-3,ill\n0.25,1e-3,4,well\n7,8,9.5,ill\n"


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def xlsx(rows, more_sheets=()) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    for title in more_sheets:
        book.create_sheet(title)
    book.save(file)
    return file.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def libsvm(X, y) -> bytes:
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=False)
    return file.getvalue()


FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(outcome=Y)
SAME_TABLE = {
    "csv": CSV.encode(),
    "csv.gz": gzip.compress(CSV.encode(), mtime=0),
    "semicolons": CSV.replace(",", ";").encode(),
    "tabs": CSV.replace(",", "\t").encode(),
    "bars": CSV.replace(",", "|").encode(),
    "blanks": CSV.replace(",", "  ").encode(),
    "decimal commas": CSV.replace(",", ";").replace(".", ",").encode(),
    "windows lines": CSV.replace("\n", "\r\n").encode(),
    "old mac lines": CSV.replace("\n", "\r").encode(),
    "utf-8 with mark": CSV.encode("utf-8-sig"),
    "utf-16": CSV.encode("utf-16"),
    "quotes": CSV.replace("ill", '"ill"').replace("a,b", '"a","b"').encode(),
    "blank lines": CSV.replace("\n", "\n\n  \n").encode(),
    "blanks around": CSV.replace(",", " , ").encode(),
    "xlsx": xlsx(
        [["a", "b", "c", "outcome"], *([*x, y] for x, y in zip(X.tolist(), Y, strict=True))]
    ),
    "parquet": parquet(FRAME),
    "parquet with categories": parquet(FRAME.astype({"outcome": "category"})),
}


@pytest.mark.parametrize("kind", SAME_TABLE)
def test_every_way_to_write_a_table_gives_the_same_table(kind):
    table = read_table(SAME_TABLE[kind], "name.says.nothing")
    assert table.number_names == ("a", "b", "c")
    np.testing.assert_array_equal(table.numbers, X)
    assert table.text["outcome"].tolist() == Y
    assert table.sha256 == hashlib.sha256(SAME_TABLE[kind]).hexdigest()


def test_a_path_is_read_like_its_bytes(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(CSV)
    assert read_table(path).sha256 == read_table(CSV.encode()).sha256
    assert read_table(str(path)).number_names == ("a", "b", "c")


def test_npz_dense_keeps_its_precision_and_names():
    data = npz(X=X.astype(np.float32), y=np.array([1, -1, 1]), features=np.array(["a", "b", "c"]))
    table = read_table(data)
    assert table.numbers.dtype == np.float32
    assert table.number_names == ("a", "b", "c")
    assert table.label == "y"
    assert table.text["y"].tolist() == ["1", "-1", "1"]


def test_npz_sparse_stays_sparse_and_names_what_it_ignores():
    S = sp.csr_array(X * (X > 2))
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)}
    table = read_table(npz(**parts, y=np.array(Y), train_idx=np.arange(2)))
    assert table.is_sparse
    np.testing.assert_array_equal(table.numbers.toarray(), S.toarray())
    assert "train_idx" in table.remarks[0]


def test_libsvm_stays_sparse_and_keeps_the_files_numbering():
    table = read_table(libsvm(sp.csr_array(X * (X > 2)), np.array([1, -1, 1])))
    assert table.is_sparse
    assert table.number_names == ("x1", "x2", "x3")
    np.testing.assert_array_equal(table.numbers.toarray(), X * (X > 2))
    assert table.text[table.label].tolist() == ["1", "-1", "1"]


def test_gaps_of_many_spellings_are_missing():
    text = "a,b,c\n1,NA,x\n,2,n/a\nnull,?,y\n4,#N/A,\n"
    table = read_table(text.encode())
    np.testing.assert_array_equal(
        table.numbers, [[1, np.nan], [np.nan, 2], [np.nan] * 2, [4, np.nan]]
    )
    assert table.text["c"].tolist() == ["x", "", "y", ""]


def test_a_few_odd_cells_count_as_missing_and_are_told():
    cells = [str(j) for j in range(20)] + ["n.d."]
    table = read_table(("crp,age\n" + "\n".join(f"{c},1" for c in cells)).encode())
    assert table.number_names == ("crp", "age")
    assert np.isnan(table.numbers[20, 0])
    assert table.numbers[19, 0] == 19
    assert "1 cell not a number ('n.d.')" in table.remarks[0]


def test_text_found_late_keeps_the_texts_of_earlier_rows():
    table = read_table(b"a,b\n1,1\n2,1\nx,1\ny,1\n+3,1\n")
    assert table.text["a"].tolist() == ["1", "2", "x", "y", "+3"]
    assert table.number_names == ("b",)


def test_numbers_of_every_form_are_read():
    table = read_table(b"a,b\n+1.5,.5\n1e3,-2E-2\n 7 ,5.\ninf,-Infinity\n")
    expected = [[1.5, 0.5], [1000, -0.02], [7, 5], [np.inf, -np.inf]]
    np.testing.assert_array_equal(table.numbers, expected)


def test_quoted_separators_and_line_breaks_are_part_of_the_cell():
    table = read_table(b'a,note\n1,"x, y"\n2,"two\nlines"\n3,"say ""hi"""\n')
    assert table.text["note"].tolist() == ["x, y", "two\nlines", 'say "hi"']
    np.testing.assert_array_equal(table.numbers, [[1], [2], [3]])


def test_without_a_header_columns_are_numbered():
    table = read_table(b"1,2,ill\n3,4,well\n5,6,ill\n7,8,well\n")
    assert table.number_names == ("x0", "x1")
    assert table.n_rows == 4
    assert "no header" in table.remarks[0]


def test_numbers_as_column_names_are_a_header_beside_a_text():
    table = read_table(b"id,1100,1102\n1,0.5,0.6\n2,0.7,0.8\n")
    assert table.number_names == ("id", "1100", "1102")
    assert table.n_rows == 2


def test_row_names_as_r_writes_them():
    table = read_table(b"a b\nr1 1 2\nr2 3 4\nr3 5 6\n")
    assert table.number_names == ("a", "b")
    assert table.text["row"].tolist() == ["r1", "r2", "r3"]


def test_repeated_and_missing_names_are_made_unique_and_told():
    table = read_table(b"a,a,,a.2,a\n1,2,3,4,5\n")
    assert len(set(table.number_names)) == 5
    assert table.number_names[0] == "a"
    assert table.number_names[2:4] == ("column_3", "a.2")
    assert "not unique" in " ".join(table.remarks)


def test_names_with_markup_formulas_and_quotes_are_kept_as_they_are():
    table = read_table(b'<b>x</b>,=1+1,"say ""hi""",`t`\n1,2,3,4\n')
    assert table.number_names == ("<b>x</b>", "=1+1", 'say "hi"', "`t`")


def test_latin_letters_are_read_and_told():
    table = read_table("größe,alter\n1,2\n".encode("latin-1"))
    assert table.number_names == ("größe", "alter")
    assert "not UTF-8 (line 1)" in table.remarks[0]


def test_only_the_first_sheet_is_read_and_told():
    table = read_table(xlsx([["a", "b"], [1, None], [2.5, "x"]], more_sheets=["notes"]))
    np.testing.assert_array_equal(table.numbers, [[1], [2.5]])
    assert "first of 2 sheets" in table.remarks[0]


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"\0" * 5_000_000)
    return file.getvalue()


def lying_npz() -> bytes:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"shape": (10**9, 10**3), "fortran_order": False, "descr": "<f8"}
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("X.npy", header.getvalue() + b"\0" * 100)
    return file.getvalue()


SMALL = Limits(file_bytes=100_000, unpacked_bytes=1_000_000, columns=1_000, cells=10_000)
REFUSED = {
    "empty": (b"", "empty file"),
    "blank": (b"\n \n\n", "empty file"),
    "packed nothing": (gzip.compress(b"", mtime=0), "empty file"),
    "header only": (b"a,b,c\n", "header only"),
    "one column": (b"hello\nworld\n", "one column only"),
    "short row": (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "got 2 in row 3"),
    "long row": (b"a,b,c\n1,2,3\n4,5,6\n6,7,8,9\n", "got 4 in row 4"),
    "short row beside quotes": (b'a,b,c\n1,"x,y",3\n4,5\n', "got 2 in row 3"),
    "too many columns": (b",".join(b"%d" % j for j in range(1_001)), "at most 1,000 columns"),
    "too many cells": (b"a,b\n" + b"1,2\n" * 5_001, "at most 10,000 cells"),
    "too large": (b"a,b\n" + b"1,2\n" * 50_000, "at most 0 MB"),
    "gzip bomb": (
        gzip.compress(b"1,2\n" * 1_000_000, mtime=0),
        "at most 1,000,000 bytes once unpacked",
    ),
    "zip bomb": (bomb(), "at most 1,000,000 bytes once unpacked"),
    "torn gzip": (gzip.compress(CSV.encode() * 50, mtime=0)[:-20], "damaged"),
    "torn zip": (npz(X=X)[:100], "damaged"),
    "torn parquet": (parquet(FRAME)[:60], "Parquet"),
    "pickled objects": (npz(X=np.array([[{}], [1]], dtype=object)), "Python objects"),
    "lying archive": (lying_npz(), "less than it claims"),
    "archive without X": (npz(Z=X), "expected an array X"),
    "X is a vector": (npz(X=X[0]), "matrix of numbers"),
    "X is text": (npz(X=np.array([["a"]])), "matrix of numbers"),
    "y too short": (npz(X=X, y=np.arange(2)), "one label per row"),
    "features too few": (npz(X=X, features=np.array(["a"])), "one feature name per column"),
    "broken csr": (
        npz(data=np.ones(2), indices=np.array([0, 9]), indptr=np.array([0, 2]), shape=(1, 3)),
        "CSR",
    ),
    "zip of something": (bomb().replace(b"xl/workbook.xml", b"some/thing/else"), "unpacked|ZIP"),
    "old excel": (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "save it as .xlsx"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "another kind"),
    "bad libsvm": (b"1 1:2 2:3\n-1 1:x\n", "LIBSVM"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_bad_files_give_one_sentence_that_names_file_and_fault(kind):
    data, fault = REFUSED[kind]
    with pytest.raises(DataError, match=fault) as caught:
        read_table(data, "mine.csv", limits=SMALL)
    assert str(caught.value).startswith("mine.csv: ")
    assert "\n" not in str(caught.value)


def test_an_absent_file_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_table(tmp_path / "nowhere.csv")


def test_a_million_columns_are_read():
    header = ",".join(f"x{j}" for j in range(1_000_000))
    row = ",".join(["1"] * 1_000_000)
    assert read_table(f"{header}\n{row}\n{row}\n".encode()).numbers.shape == (2, 1_000_000)


@given(
    st.lists(
        st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(",;\t|"),
)
def test_numbers_survive_being_written_and_read(rows, separator):
    lines = [separator.join(["a", "b", "c"])]
    lines += [separator.join("" if v != v else repr(v) for v in row) for row in rows]
    rows = [row for row in rows if not np.isnan(row).all()]  # an empty row is no row
    assume(rows)
    table = read_table("\n".join(lines).encode())
    np.testing.assert_array_equal(table.numbers, rows)


@given(st.sampled_from(sorted(SAME_TABLE)), st.data())
def test_a_damaged_file_gives_a_table_or_a_data_error_and_nothing_else(kind, data):
    content = bytearray(SAME_TABLE[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    for candidate in (bytes(content), bytes(content[:cut])):
        with contextlib.suppress(DataError):
            read_table(candidate)


@given(st.text(max_size=60))
def test_any_text_gives_a_table_or_a_data_error(text):
    with contextlib.suppress(DataError):
        read_table(text.encode("utf-8", errors="replace"))


def test_a_path_with_a_nul_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"cannot be opened: expected the path of a file"):
        read_table(str(tmp_path / "a\0.csv"))


def ole(*parts: str) -> bytes:
    """What begins as a file of old Office does, with parts of these names."""
    names = b"".join(part.encode("utf-16-le") + b"\0\0" for part in parts)
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + names + b"\0" * 500


OTHERS = {
    "a workbook with a password": (ole("EncryptionInfo", "EncryptedPackage"), "with a password"),
    "an old workbook": (ole("Workbook"), r"old Excel workbook \(.xls\)"),
    "an old document": (ole("WordDocument"), "Word document"),
    "spss": (b"$FL2@(#) SPSS DATA FILE" + b"\0" * 100, "SPSS"),
    "stata": (b"<stata_dta><header>", "Stata"),
    "a page called .xls": (b"<html><table><tr><td>1</td></tr></table></html>", "web page"),
    "json": (b'[{"a": 1, "b": 2}]', "JSON"),
    "json lines": (b'{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n', "JSON"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_read_table_says_what_a_file_is_that_it_cannot_read(kind):
    data, words = OTHERS[kind]
    with pytest.raises(DataError, match=words):
        read_table(data, "mine.xlsx")


def test_read_table_opendocument_is_told():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", "<a/>")
    with pytest.raises(DataError, match="OpenDocument"):
        read_table(file.getvalue())


# --------------------------------------------------------------------------------------------------
# Files of a few hundred bytes that claim to be large: memory is bounded by what they hold.


MOST = 64 * 2**20  # bytes that reading a small file may take
MARKET = b"%%MatrixMarket matrix coordinate real general\n"
SHEET = (
    b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
    b'main"><sheetData>%s</sheetData></worksheet>'
)


def packed_parquet(columns: dict[str, pa.Array]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, compression="zstd", row_group_size=5_000_000)
    return file.getvalue()


def packed_xlsx(rows: bytes) -> bytes:
    book, file, made = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    book.save(file)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            is_sheet = name == "xl/worksheets/sheet1.xml"
            out.writestr(name, SHEET % rows if is_sheet else source.read(name))
    return made.getvalue()


def far_cells(n: int) -> bytes:
    return b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(1, n))


FILES = {
    "libsvm, a far index": b"1 1:1\n-1 1999999:1\n",
    "matrix market, wide": MARKET + b"2 2000000 1\n1 1 1\n",
    "matrix market, long": MARKET + b"5000000 2 1\n1 1 1\n",
    "csr, wide": npz(
        data=np.ones(1), indices=[5], indptr=[0, 1, 1], shape=np.array([2, 2_000_000])
    ),
    "coo, wide": npz(data=np.ones(1), row=[0], col=[1_999_999], shape=np.array([2, 2_000_000])),
    "coo, long": npz(data=np.ones(1), row=[0], col=[1], shape=np.array([5_000_000, 2])),
    "parquet, one value": packed_parquet({f"a{i}": pa.nulls(5_000_000, pa.bool_()) for i in "xyz"}),
    "workbook, far cells": packed_xlsx(far_cells(2_000)),
    "gct, sizes only": b"#1.2\n2000000\t2\nName\tDescription\ta\tb\n",
    "commas": b"," * 721,
    "lines": b"a,b\n1,2" + b"\n" * 700,
    "an open quote": b'a,b\n"' + b'",' * 300,
    "brackets": b"[" * 700,
    "sep": b"sep=" * 180,
    "units": b"1 mg/l/l/l/l/l/l,2\n" * 35,
}


def peak_of(data: bytes) -> int:
    """The most memory that reading takes, beyond what there was."""
    tracemalloc.start()
    try:
        with contextlib.suppress(DataError):
            read_table(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", FILES)
def test_read_table_memory_of_a_small_file(kind):
    read_table(b"a,b\n1,2\n")  # what is loaded once does not count
    assert peak_of(FILES[kind]) < MOST


def test_read_table_sparse_columns_keep_their_names():
    table = read_table(b"1 1:1 7:2\n-1 1999999:3\n")
    assert table.number_names == ("x1", "x7", "x1999999")
    assert table.numbers.toarray().tolist() == [[1, 2, 0], [0, 0, 3]]
    assert "1,999,996 columns without a value left out" in table.remarks


PIECES = st.sampled_from(
    [b"1", b"-1", b" ", b":", b",", b";", b"\t", b"\n", b'"', b"sep=", b"#", b"%", b"999999",
     b"2000000", b"5000000", b"1e308", b"\xff\xfe", b"\xef\xbb\xbf", b"a", b"mg/l", MARKET,
     b"#1.2\n", b"!Series_", b"1:1", b"<", b"1.234,5", b"\0", b"\r", b"k.A."]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map(b"".join))
@settings(max_examples=60, deadline=None)
def test_read_table_memory_of_any_small_file(data):
    assert peak_of(data) < MOST
